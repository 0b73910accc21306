// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Which node of a definition is which of another one of the same shape. The driver pairs them so when it updates an
// executable: "exit nodes" in the order in which they were made, and from there dependencies in the order of the edges
// (cuda.h, cuGraphExecUpdate).
#ifndef CUDA_GRAPHS_HANDLES_GRAPH_PAIRS_HPP
#define CUDA_GRAPHS_HANDLES_GRAPH_PAIRS_HPP

#include <unordered_map>
#include <vector>

#include "graph.hpp"

namespace cg {

using Partners = std::unordered_map<CUgraphNode, CUgraphNode>;  // of nodes of the other graph

// For each node of `other` the one of `first`, graphs inside them left out. False with a noted error when the shapes
// differ. Without the GIL.
bool find_partners(CUgraph first, CUgraph other, Partners& partners);

// Notes that error; false.
bool shapes_differ();

struct NodePair {
    NodeRecord* first;
    NodeRecord* other;
};

// All nodes of `other`, and of the graphs inside it, that use parameters; each with its partner in `first`, which may
// be the same graph. False with a noted error when the shapes differ. With the GIL.
bool pair_parameter_nodes(GraphBox& first, GraphBox& other, std::vector<NodePair>& pairs);

}  // namespace cg

#endif
