// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// When each node of a graph ran, and on which thread: noted while somebody asked for it (call_watch.h), for the price
// of one load a node otherwise.
#ifndef CUDA_GRAPHS_HOSTDRIVER_EXEC_TIMELINE_HPP
#define CUDA_GRAPHS_HOSTDRIVER_EXEC_TIMELINE_HPP

#include <atomic>

#include "graph_program.hpp"

namespace cgh {

inline std::atomic<bool> timeline_wanted{false};

// Runs a node and notes when it did.
CUresult run_and_note(const ExecNode& node, LaunchState& launch);

inline CUresult run_node_of(const ExecNode& node, LaunchState& launch) {
    const bool noted = timeline_wanted.load(std::memory_order_relaxed);
    return __builtin_expect(noted, false) ? run_and_note(node, launch) : node.run(node, launch);
}

}  // namespace cgh

#endif
