// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The kinds of nodes: one row a kind. Every function of the API that adds, reads or changes a node fills a
// CUgraphNodeParams and goes through the row, so that the typed functions and cuGraphAddNode cannot disagree.
// How a kind runs is the second table, in exec/exec_kinds.hpp.
#ifndef CUDA_GRAPHS_HOSTDRIVER_OBJECTS_NODE_KINDS_HPP
#define CUDA_GRAPHS_HOSTDRIVER_OBJECTS_NODE_KINDS_HPP

#include <cuda.h>

#include <vector>

#include "node.hpp"

namespace cgh {

class Context;

struct NodeKind {
    CUgraphNodeType type;
    const char* name;
    size_t bytes;          // of the union in CUgraphNodeParams
    bool allowed_in_body;  // of a conditional node
    bool device_launch;    // in a graph for launch from the device
    bool can_be_disabled;  // cuGraphNodeSetEnabled

    // Checks `params` and makes a value of them; null for kinds that are more than a value. `before` is what a kernel
    // node was until now (its attributes stay), or null.
    CUresult (*parse)(CUgraphNodeParams& params, const KernelParams* before, NodeParams* out);
    // What a new node does with `params`; writes its out parameters.
    CUresult (*create)(Node& node, CUgraphNodeParams& params);
    // cuGraphNodeSetParams.
    CUresult (*set)(Node& node, CUgraphNodeParams& params);
    void (*get)(Node& node, CUgraphNodeParams& params);
    // For clones; null for kinds that are never cloned.
    CUresult (*copy)(const Node& from, Node& to);
    // The graphs inside the node.
    std::vector<Graph*> (*embedded)(const Node& node);
    // What cuGraphExecNodeSetParams answers where there is no `parse`; CUDA_SUCCESS: it has its own way.
    CUresult exec_set_refused;
};

// The row of a type, or null for a type that the host driver does not offer.
const NodeKind* find_kind(int type);
// The row of the type that a caller filled in, which may be no value of the enumeration.
const NodeKind* find_kind(const CUgraphNodeParams& params);
// Whether all that the type does not use is zero.
bool has_clean_rest(const CUgraphNodeParams& params);

// What was set on a kernel node; all zero where nothing was.
const KernelAttributes& attributes_of(const KernelParams& params);
// "Valid for graph nodes" (cuda.h, CUlaunchAttributeID).
bool is_node_attribute(CUlaunchAttributeID id);
// CUDA_ERROR_INVALID_VALUE where the kernel could not be launched so; the node then stays as it was.
CUresult set_attribute(KernelParams& params, CUlaunchAttributeID id, const CUlaunchAttributeValue& value);
// What of a launch's attributes stays with its node; null where there is none. The stream's priority does, too.
std::shared_ptr<const KernelAttributes> node_attributes(const CUlaunchAttribute* attributes, unsigned count,
                                                        int stream_priority);
CUresult copy_attributes(const KernelParams& from, KernelParams& to);
CUlaunchAttributeValue get_attribute(const KernelParams& params, CUlaunchAttributeID id);

// An explicit context argument; null means the calling thread's current one.
CUresult find_context(CUcontext handle, Context** out);

}  // namespace cgh

#endif
