// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The order in which a driver pairs the nodes of a definition with those of an executable during an update. The driver
// starts with the nodes without successors, in the order in which they became such, and follows dependencies in the
// order of the edges. In libcuda the last edge takes the place of a removed edge
// (docs/design/2026-11-libcuda-updates.md). An edge that is added and removed again would therefore swap two nodes, and
// no user could see why. Before an edited graph is instantiated, copied or used for an update, both orders are restored
// to the creation order of the nodes, and the tests of loops get their edges (loop_test.hpp).
#ifndef CUDA_GRAPHS_CORE_GRAPHS_NODE_ORDER_HPP
#define CUDA_GRAPHS_CORE_GRAPHS_NODE_ORDER_HPP

#include "definition.hpp"

namespace cg {

// Restores the order in this graph and all of its hierarchy. A graph with alloc or free nodes stays as it is, since a
// driver removes no edge from it. The caller holds the GIL.
CUresult restore_order(GraphBox& graph);

}  // namespace cg

#endif
