// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Pairs the nodes of two definitions of the same shape as the driver does when it updates an executable: "exit nodes"
// in creation order, and from there dependencies in the order of the edges (cuda.h, cuGraphExecUpdate).
#ifndef CUDA_GRAPHS_CORE_GRAPHS_NODE_PAIRING_HPP
#define CUDA_GRAPHS_CORE_GRAPHS_NODE_PAIRING_HPP

#include <unordered_map>
#include <vector>

#include "definition.hpp"

namespace cg {

using Partners = std::unordered_map<CUgraphNode, CUgraphNode>;  // key: node of the other graph

// Finds the partner in `first` of each node of `other`, not including inner graphs. Returns false with a noted error
// when the shapes differ. Called without the GIL.
bool find_partners(CUgraph first, CUgraph other, Partners& partners);

// Notes the error that the shapes differ; returns false.
bool shapes_differ();

struct NodePair {
    NodeRecord* first;
    NodeRecord* other;
};

// Lists all nodes of `other` and of its inner graphs that use parameters, each with its partner in `first`, which may
// be the same graph. Returns false with a noted error when the shapes differ. The caller holds the GIL.
bool pair_parameter_nodes(GraphBox& first, GraphBox& other, std::vector<NodePair>& pairs);

}  // namespace cg

#endif
