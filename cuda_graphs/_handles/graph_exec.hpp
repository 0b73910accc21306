// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Executable graphs. An executable depends on no definition: what its nodes use it keeps itself (exec_owners.hpp). It
// can be changed between launches: named parameters (exec_parameters.hpp), one node at a time, or as a whole. CUDA
// leaves it to the caller that no two threads are at one executable; here its mutex sees to that.
#ifndef CUDA_GRAPHS_HANDLES_GRAPH_EXEC_HPP
#define CUDA_GRAPHS_HANDLES_GRAPH_EXEC_HPP

#include <cuda.h>

#include <memory>
#include <mutex>
#include <vector>

#include "box.hpp"
#include "exec_memsets.hpp"
#include "exec_owners.hpp"
#include "exec_parameters.hpp"
#include "graph.hpp"
#include "graph_shape.hpp"
#include "node_spec.hpp"
#include "stream.hpp"

namespace cg {

struct GraphExecBox {
    CUgraphExec raw = nullptr;
    std::mutex mutex;  // round every call of the driver, taken without the GIL. Guards what follows too
    ExecOwners owners;
    std::weak_ptr<const CUgraphNode> definition;  // whose nodes name those of the executable
    ShapeHandle shape;                            // that it had when it was instantiated. With the GIL
    bool is_renamed = false;                      // its nodes went by another shape in the last update. With the GIL
    std::unique_ptr<ExecParameters> parameters;   // null without any
    ExecMemsets memsets;
    NodeHandle kept;  // that definition, once a memset was off: a whole update has to find it again
    Counted<Kind::kGraphExec> counted;

    bool finish() noexcept;  // waits for nothing: a launch in flight takes the owners along
    ExecTarget target() noexcept { return {raw, memsets}; }
};

using GraphExecHandle = HandleTo<GraphExecBox>;

// Instantiates the definition that `definition` is the entry of. `status` and `params->result_out` say why when there
// is no handle. An upload that `params` asks for goes to `upload_stream`.
GraphExecHandle instantiate(const NodeHandle& definition, CUDA_GRAPH_INSTANTIATE_PARAMS* params,
                            const StreamHandle& upload_stream, CUresult* status);

// Without the GIL. Into a capture no executable is launched: the driver refuses it too. A launch first sets parameters;
// with a `problem` nothing was set and nothing launched.
CUresult launch(const GraphExecHandle& exec, const StreamHandle& stream, ParameterChanges& changes,
                ParameterProblem* problem);
CUresult upload(const GraphExecHandle& exec, const StreamHandle& stream);

// Sets parameters: all, or none and a `problem`. Without the GIL.
bool set_parameters(const GraphExecHandle& exec, ParameterChanges& changes, ParameterProblem* problem);

// The present values, in the order of the indices. Without the GIL.
void list_parameters(const GraphExecHandle& exec, std::vector<PresentParameter>& values);

// Whether the nodes of the definition that was instantiated still name those of the executable: not after an update
// from that definition in another shape. With the GIL.
bool names_nodes(const GraphExecHandle& exec) noexcept;

// Sets the node that `node`, of the definition that was instantiated, became. Launches in flight keep what they were
// launched with. Nothing changes on failure. Without the GIL.
CUresult set_exec_node(const GraphExecHandle& exec, NodeRecord& node, NodeSpec& spec);
// The same for a child graph node, which takes the parameters and owners of `child`. With the GIL.
CUresult set_exec_child(const GraphExecHandle& exec, NodeRecord& node, NodeSpec& spec, GraphBox& child);

// A node that is disabled does nothing, in its place in the order. Kernel, memset and memcpy nodes only. Without the
// GIL. CUDA_ERROR_NOT_SUPPORTED for a memset that is not known (exec_memsets.hpp).
CUresult set_exec_enabled(const GraphExecHandle& exec, const NodeRecord& node, bool enabled);
CUresult get_exec_enabled(const GraphExecHandle& exec, CUgraphNode node, bool* enabled);

// Takes over what all nodes of a definition of the same structure do, and its owners instead of those that it had,
// which go after the last launch that used them. Named parameters keep the values that were set. `info` says why not;
// then nothing has changed. A `problem` is of bringing values to the nodes afterwards. With the GIL.
CUresult update(const GraphExecHandle& exec, GraphBox& graph, CUgraphExecUpdateResultInfo* info,
                ParameterProblem* problem);

}  // namespace cg

#endif
