// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// What may change in an executable graph: one node at a time, or all of them from another definition.
#ifndef CUDA_GRAPHS_HOSTDRIVER_OBJECTS_GRAPH_UPDATE_HPP
#define CUDA_GRAPHS_HOSTDRIVER_OBJECTS_GRAPH_UPDATE_HPP

#include <cuda.h>

#include "../exec/graph_program.hpp"

namespace cgh {

class Graph;

// In `flags`: one node is set, for which the rules are stricter than for an update of the whole graph.
constexpr cuuint64_t kOneNode = cuuint64_t{1} << 63;

// Whether a node that runs `before` may run `after`. `flags` are those of the instantiation.
CUgraphExecUpdateResult compare_params(const ExecParams& before, const ExecParams& after, cuuint64_t flags);

// Pairs the nodes of a graph with the executable nodes of a section, and moves their parameters over.
class GraphUpdate {
  public:
    GraphUpdate(cuuint64_t flags, CUgraphExecUpdateResultInfo* info) : flags_(flags), info_(info) {}

    // The graph with index `shape` of `section`. False: refused, `info` says why, and `section` is changed in part.
    bool apply(Section& section, uint32_t shape, const Graph& graph);

  private:
    bool pair_nodes(const GraphShape& shape, const Graph& graph, std::vector<Node*>* partners);
    bool apply_node(Section& section, ExecNode& target, Node& source);
    bool refuse(CUgraphExecUpdateResult result, Node* node = nullptr, Node* from = nullptr);

    cuuint64_t flags_;
    CUgraphExecUpdateResultInfo* info_;
};

}  // namespace cgh

#endif
