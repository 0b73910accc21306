// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// What may change in an executable graph: one node at a time, or all of them from another definition.
#ifndef CUDA_GRAPHS_HOSTDRIVER_OBJECTS_GRAPH_UPDATE_HPP
#define CUDA_GRAPHS_HOSTDRIVER_OBJECTS_GRAPH_UPDATE_HPP

#include <cuda.h>

#include <memory>
#include <vector>

#include "../exec/graph_program.hpp"

namespace cgh {

class Graph;

// In `flags`: one node is set, for which the rules are stricter than for an update of the whole graph.
constexpr cuuint64_t kOneNode = cuuint64_t{1} << 63;

// Whether a node that runs `before` may run `after`. `flags` are those of the instantiation.
CUgraphExecUpdateResult compare_params(const ExecParams& before, const ExecParams& after, cuuint64_t flags);

using Allocations = std::vector<std::shared_ptr<GraphAllocation>>;

// Whether a node fills what another graph allocates and frees: memory that only that graph's launches have. An H200
// refuses such a memset in an executable, which allocates `own`, and no such copy.
bool fills_memory_of_others(const ExecParams& params, const Allocations& own);

// Pairs the nodes of a graph with the executable nodes of a section, and moves their parameters over.
class GraphUpdate {
  public:
    // `own`: what the executable allocates before the update.
    GraphUpdate(cuuint64_t flags, const Allocations& own, CUgraphExecUpdateResultInfo* info)
        : flags_(flags), own_(own), info_(info) {}

    // The graph with index `shape` of `section`. False: refused, `info` says why, and `section` is changed in part.
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
