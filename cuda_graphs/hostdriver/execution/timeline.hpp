// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs a graph node under observation. The timeline records the node's time and thread (test_hooks.h), and the checks
// observe its memory accesses (check/). When both are off, a node costs one additional load.
#ifndef CUDA_GRAPHS_HOSTDRIVER_EXECUTION_TIMELINE_HPP
#define CUDA_GRAPHS_HOSTDRIVER_EXECUTION_TIMELINE_HPP

#include <atomic>

#include "graph_program.hpp"
#include "hostdriver/sanitizer/order.hpp"

namespace cgh {

inline std::atomic<bool> nodes_are_recorded{false};

// A run of a section: the task that contains it, and the run's number. Both are 0 when the checks are off.
struct SectionRun {
    Task* around = nullptr;
    std::uint64_t number = 0;
};
SectionRun begin_section();

CUresult run_recorded(const Section& section, const ExecNode& node, LaunchState& launch, const SectionRun& run);

inline CUresult run_node_of(const Section& section, const ExecNode& node, LaunchState& launch, const SectionRun& run) {
    const bool recorded = nodes_are_recorded.load(std::memory_order_relaxed);
    return __builtin_expect(recorded, false) ? run_recorded(section, node, launch, run) : node.run(node, launch);
}

}  // namespace cgh

#endif
