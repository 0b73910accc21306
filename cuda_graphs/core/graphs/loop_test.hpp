// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The test of a loop: a kernel in its body that sets the condition for the next iteration, after all other nodes of the
// body. It is added together with the loop, and the body is filled later. The edges to it are added when the graph is
// instantiated, copied, listed or drawn.
#ifndef CUDA_GRAPHS_CORE_GRAPHS_LOOP_TEST_HPP
#define CUDA_GRAPHS_CORE_GRAPHS_LOOP_TEST_HPP

#include "definition.hpp"

namespace cg {

// Adds the edges that let the test of a body come after all other nodes, apart from nodes that come after the test.
// Does nothing for a graph without a test, and during a capture into the graph. The caller holds the GIL.
CUresult order_test(GraphBox& body);

// Does the same for all graphs of the hierarchy.
CUresult order_all_tests(GraphBox& graph);

}  // namespace cg

#endif
