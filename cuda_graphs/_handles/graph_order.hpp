// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// By what a driver pairs the nodes of a definition with those of an executable that it updates: nodes that nothing
// depends on in the order in which they became such, and from there dependencies in the order of the edges, where in
// libcuda one that is removed leaves its place to the last (docs/design/2026-11-libcuda-updates.md). Left alone, an
// edge that was added and removed again would have two nodes change places, which nobody could see. So before a graph
// is instantiated, copied or updated from, both orders are made that in which the nodes were made, if its edges were
// edited since the last time.
#ifndef CUDA_GRAPHS_HANDLES_GRAPH_ORDER_HPP
#define CUDA_GRAPHS_HANDLES_GRAPH_ORDER_HPP

#include "graph.hpp"

namespace cg {

// This graph and all of its hierarchy. In one with alloc or free nodes a driver removes no edge: it stays as it is.
// With the GIL.
CUresult settle_order(GraphBox& graph);

}  // namespace cg

#endif
