// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The table of node kinds, one row per kind. Every API function that adds, reads or changes a node fills a
// CUgraphNodeParams and uses the row, so the typed functions and cuGraphAddNode agree. A second table has the functions
// that run each kind (hostdriver/execution/graph_runner.hpp).
#ifndef CUDA_GRAPHS_HOSTDRIVER_OBJECTS_GRAPHS_NODE_KINDS_HPP
#define CUDA_GRAPHS_HOSTDRIVER_OBJECTS_GRAPHS_NODE_KINDS_HPP

#include <cuda.h>

#include <vector>

#include "hostdriver/objects/graphs/node.hpp"

namespace cgh {

class Context;

struct NodeKind {
    CUgraphNodeType type;
    const char* name;
    size_t bytes;          // size of its member of the union in CUgraphNodeParams
    bool allowed_in_body;  // allowed in the body of a conditional node
    bool device_launch;    // allowed in a graph for launch from the device
    bool can_be_disabled;  // cuGraphNodeSetEnabled

    // Checks `params` and writes them as a value. Null for kinds whose parameters are not a plain value. `before` has
    // the earlier parameters of a kernel node, whose attributes are kept, or is null.
    CUresult (*parse)(CUgraphNodeParams& params, const KernelParams* before, NodeParams* out);
    // Sets up a new node from `params` and writes the out parameters.
    CUresult (*create)(Node& node, CUgraphNodeParams& params);
    // Implements cuGraphNodeSetParams.
    CUresult (*set)(Node& node, CUgraphNodeParams& params);
    void (*get)(Node& node, CUgraphNodeParams& params);
    // Copies the parameters to a node of a clone; null for kinds that cannot be cloned.
    CUresult (*copy)(const Node& from, Node& to);
    // Returns the graphs inside the node.
    std::vector<Graph*> (*embedded)(const Node& node);
    // The error of cuGraphExecNodeSetParams for a kind without `parse`. CUDA_SUCCESS if the kind has separate code.
    CUresult exec_set_refused;
};

// Returns the row of a type, or null for a type that the host driver does not support.
const NodeKind* find_kind(int type);
// Returns the row of `params.type`, which may be any number.
const NodeKind* find_kind(const CUgraphNodeParams& params);
// Returns whether all bytes that the type does not use are zero.
bool has_zero_padding(const CUgraphNodeParams& params);

// Returns the attributes of a kernel node; unset attributes are zero.
const KernelAttributes& attributes_of(const KernelParams& params);
// Returns whether the attribute is "valid for graph nodes" (cuda.h, CUlaunchAttributeID).
bool is_node_attribute(CUlaunchAttributeID id);
// Sets an attribute. Returns CUDA_ERROR_INVALID_VALUE and changes nothing if the kernel could not be launched with it.
CUresult set_attribute(KernelParams& params, CUlaunchAttributeID id, const CUlaunchAttributeValue& value);
// Returns the attributes that the node of a captured launch keeps: the launch's node attributes, and a stream priority
// other than the default. Null if there are none.
std::shared_ptr<const KernelAttributes> node_attributes(const CUlaunchAttribute* attributes, unsigned count,
                                                        int stream_priority);
CUresult copy_attributes(const KernelParams& from, KernelParams& to);
CUlaunchAttributeValue get_attribute(const KernelParams& params, CUlaunchAttributeID id);

// Writes the context of an explicit argument. A null handle means the calling thread's current context.
CUresult find_context(CUcontext handle, Context** out);

}  // namespace cgh

#endif
