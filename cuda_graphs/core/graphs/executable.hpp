// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Executable graphs. An executable depends on no definition: it keeps the owners of its nodes itself
// (executable_owners.hpp). It can be changed between launches: named parameters (executable_parameters.hpp), kernels
// that each launch sets (launch_kernels), single nodes, or all nodes at once. CUDA requires that no two threads use one
// executable at the same time; its mutex ensures that.
#ifndef CUDA_GRAPHS_CORE_GRAPHS_EXECUTABLE_HPP
#define CUDA_GRAPHS_CORE_GRAPHS_EXECUTABLE_HPP

#include <cuda.h>

#include <memory>
#include <mutex>
#include <vector>

#include "core/handles/box.hpp"
#include "core/resources/stream.hpp"
#include "definition.hpp"
#include "definition_shape.hpp"
#include "early_edges.hpp"
#include "executable_memsets.hpp"
#include "executable_node.hpp"
#include "executable_owners.hpp"
#include "executable_parameters.hpp"
#include "node_spec.hpp"

namespace cg {

struct GraphExecBox {
    CUgraphExec raw = nullptr;
    std::mutex mutex;  // locked around every driver call, without the GIL; guards the members below too
    ExecOwners owners;
    std::weak_ptr<const CUgraphNode> definition;  // definition whose nodes name those of the executable
    ShapeHandle shape;                            // shape of the definition when it was instantiated; read with the GIL
    bool is_renamed = false;                      // the last update came from another shape of the definition; read
                                                  // with the GIL
    std::unique_ptr<ExecParameters> parameters;   // null without named parameters
    ExecMemsets memsets;
    std::vector<ExecNode> kernels;  // the nodes that launch_kernels sets
    NodeHandle kept;                // that definition, while `memsets` or `kernels` refer to its nodes
    Counted<Kind::kGraphExec> counted;

    bool finish() noexcept;  // does not wait: a launch in flight keeps the owners alive
    ExecTarget target() noexcept { return {raw, memsets}; }
};

using GraphExecHandle = HandleTo<GraphExecBox>;

// Instantiates the definition whose entry node is `definition`. On failure returns an empty handle; `status` and
// `params->result_out` give the cause. An upload that `params` requests goes to `upload_stream`. The edges in `early`,
// which may be null, are programmatic in the executable.
GraphExecHandle instantiate(const NodeHandle& definition, CUDA_GRAPH_INSTANTIATE_PARAMS* params,
                            const StreamHandle& upload_stream, CUresult* status, EarlyEdges* early = nullptr);

// Sets parameters and launches. With a `problem` no parameter was set and nothing was launched. Returns an error on a
// stream that is being captured, as the driver does. Called without the GIL.
CUresult launch(const GraphExecHandle& exec, const StreamHandle& stream, ParameterChanges& changes,
                ParameterProblem* problem);
CUresult upload(const GraphExecHandle& exec, const StreamHandle& stream);

// Adds a kernel node to those that launch_kernels sets. `node` belongs to the instantiated definition or to a body in
// it, and `params` are its present parameters. Called without the GIL.
CUresult add_kernel(const GraphExecHandle& exec, NodeRecord& node, const CUgraphNodeParams& params);
// Sets the added kernels whose grid or arguments differ from those of `arguments`, and launches. `arguments` has one
// entry for each added kernel, in order. A kernel that was changed in another way gets its parameters back. If the
// driver refuses a kernel, nothing is launched, and the next call sets this kernel again. Otherwise as `launch`.
CUresult launch_kernels(const GraphExecHandle& exec, const StreamHandle& stream, const KernelArguments* arguments);

// Sets parameters: all of them, or none with a `problem`. Called without the GIL.
bool set_parameters(const GraphExecHandle& exec, ParameterChanges& changes, ParameterProblem* problem);

// Lists the present values in the order of the indices. Called without the GIL.
void list_parameters(const GraphExecHandle& exec, std::vector<PresentParameter>& values);

// Returns true while the nodes of the instantiated definition still name those of the executable. An update from that
// definition in another shape ends this. The caller holds the GIL.
bool names_nodes(const GraphExecHandle& exec) noexcept;

// Returns true when the node is of the instantiated definition or of a graph in it. The caller holds the GIL.
bool is_node_of(const GraphExecHandle& exec, const NodeRecord& node) noexcept;

// Sets the executable's node that is named by `node` of the instantiated definition. Launches in flight keep the
// previous parameters. Nothing changes on failure; a `problem` arises when the rules of the node refuse the present
// values of parameters. Called without the GIL.
CUresult set_exec_node(const GraphExecHandle& exec, NodeRecord& node, NodeSpec& spec, ParameterProblem* problem);
// Returns a place or temporary of a spec whose use by the node is not in the plan of the executable's memory: the node
// does not use it, or has other code. Returns null if there is none. Called without the GIL.
ParameterRef find_unplanned(const GraphExecHandle& exec, const NodeRecord& node, const NodeSpec& spec);
// Does what set_exec_node does for a child graph node, which takes the parameters and owners of `child`. The caller
// holds the GIL.
CUresult set_exec_child(const GraphExecHandle& exec, NodeRecord& node, NodeSpec& spec, GraphBox& child);

// Enables or disables a kernel, memset or memcpy node. A disabled node does no work but keeps its place in the order.
// Returns CUDA_ERROR_NOT_SUPPORTED for a memset without a record (executable_memsets.hpp). Called without the GIL.
CUresult set_exec_enabled(const GraphExecHandle& exec, const NodeRecord& node, bool enabled);
CUresult get_exec_enabled(const GraphExecHandle& exec, CUgraphNode node, bool* enabled);

// Takes over the parameters of all nodes of a definition of the same structure, and its owners. The previous owners are
// released after the last launch that used them. Named parameters keep the values that were set. On failure nothing has
// changed and `info` gives the cause. A `problem` arises afterwards, when named values cannot be set in the nodes.
// `early` has the programmatic edges of the executable, and may be null. The caller holds the GIL.
CUresult update(const GraphExecHandle& exec, GraphBox& graph, CUgraphExecUpdateResultInfo* info,
                ParameterProblem* problem, EarlyEdges* early = nullptr);

}  // namespace cg

#endif
