// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The rules for changing an executable graph: one node at a time, or all nodes from another definition.
#ifndef CUDA_GRAPHS_HOSTDRIVER_OBJECTS_GRAPHS_GRAPH_UPDATE_HPP
#define CUDA_GRAPHS_HOSTDRIVER_OBJECTS_GRAPHS_GRAPH_UPDATE_HPP

#include <cuda.h>

#include <memory>
#include <vector>

#include "hostdriver/execution/graph_program.hpp"

namespace cgh {

class Graph;

// An additional bit of `flags`: a single node is set, for which the rules are stricter than for a whole-graph update.
constexpr cuuint64_t kOneNode = cuuint64_t{1} << 63;

// Returns whether the parameters `after` may replace `before` in an executable node. `flags` are the instantiation
// flags.
CUgraphExecUpdateResult compare_params(const ExecParams& before, const ExecParams& after, cuuint64_t flags);

using Allocations = std::vector<std::shared_ptr<GraphAllocation>>;

// Returns whether a memset node writes memory that another graph both allocates and frees. `own` are the executable's
// own allocations. An H200 rejects such a memset in an executable but accepts such a copy.
bool fills_memory_of_others(const ExecParams& params, const Allocations& own);

// Matches the nodes of a graph with the executable nodes of a section and copies their parameters.
class GraphUpdate {
  public:
    // `own` are the executable's allocations before the update.
    GraphUpdate(cuuint64_t flags, const Allocations& own, CUgraphExecUpdateResultInfo* info)
        : flags_(flags), own_(own), info_(info) {}

    // Updates the graph with index `shape` of `section`. On failure returns false, writes the reason to `info` and
    // leaves `section` partly changed.
    bool apply(Section& section, uint32_t shape, const Graph& graph);

  private:
    bool pair_nodes(const GraphShape& shape, const Graph& graph, std::vector<Node*>* partners);
    bool apply_node(Section& section, ExecNode& target, Node& source);
    bool refuse(CUgraphExecUpdateResult result, Node* node = nullptr, Node* from = nullptr);

    cuuint64_t flags_;
    const Allocations& own_;
    CUgraphExecUpdateResultInfo* info_;
};

}  // namespace cgh

#endif
