// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Edges of a definition that are programmatic in an executable, and full in the definition. A driver takes the edges of
// an executable from its definition. So the definition has programmatic edges while the driver makes or updates the
// executable, and gets its own edges back after that. All edges of a target are replaced together, so that their order
// stays (node_order.hpp).
#ifndef CUDA_GRAPHS_CORE_GRAPHS_EARLY_EDGES_HPP
#define CUDA_GRAPHS_CORE_GRAPHS_EARLY_EDGES_HPP

#include <cuda.h>

#include <cstddef>
#include <unordered_set>
#include <vector>

#include "definition.hpp"

namespace cg {

class EarlyEdges {
  public:
    // Adds an edge between two living nodes of one graph. The edges of a target are added one after another.
    void add(const NodeRecord& source, const NodeRecord& target);
    // Has restore_order() restore the order of edges, before the change and after it. The caller holds the GIL.
    void mark() noexcept;

    // Makes the edges programmatic: all of them, or none after a failure. Called without the GIL.
    CUresult begin();
    // Gives the definition its own edges back. Called without the GIL. After a failure the definition is damaged.
    CUresult end();

  private:
    struct Target {
        GraphBox* graph;
        CUgraphNode node;
        std::unordered_set<CUgraphNode> sources;
        Edges own, early;
    };
    std::vector<Target> targets_;
    std::size_t done_ = 0;  // number of targets with programmatic edges
};

}  // namespace cg

#endif
