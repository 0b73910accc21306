// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs a graph node under observation. The timeline records the node's time and thread (test_hooks.h), and the checks
// observe its memory accesses (check/). When both are off, a node costs one additional load.
//
// The timeline gives even numbers to launches and odd numbers to runs of bodies. The thread that begins one notes its
// number, and each section takes the number when it begins. So a thread that helps with a section records its nodes
// under the right number.
#ifndef CUDA_GRAPHS_HOSTDRIVER_EXECUTION_TIMELINE_HPP
#define CUDA_GRAPHS_HOSTDRIVER_EXECUTION_TIMELINE_HPP

#include <atomic>
#include <cstdint>

#include "graph_program.hpp"
#include "hostdriver/sanitizer/order.hpp"
#include "thread_state.hpp"

namespace cgh {

inline std::atomic<bool> nodes_are_recorded{false};

// A run of a section: the task that contains it, and the run's number. Both are 0 when the checks are off. `recorded`
// is the number of the launch or body run in the timeline.
struct SectionRun {
    Task* around = nullptr;
    std::uint64_t number = 0;
    std::uint64_t recorded = 0;
};
SectionRun begin_section();

// Returns the number of a new launch, 0 if nodes are not recorded.
std::uint64_t next_recorded_launch();

// Marks the work of this thread as part of a launch or body run, and of a node in it.
class RunScope {
  public:
    explicit RunScope(std::uint64_t run, CUgraphNode node = nullptr)
        : run_(thread_state.recorded_run), node_(thread_state.recorded_node) {
        thread_state.recorded_run = run;
        thread_state.recorded_node = node;
    }
    ~RunScope() {
        thread_state.recorded_run = run_;
        thread_state.recorded_node = node_;
    }
    RunScope(const RunScope&) = delete;
    RunScope& operator=(const RunScope&) = delete;

  private:
    const std::uint64_t run_;
    const CUgraphNode node_;
};

// Records one run of a body of the conditional node that this thread runs, from its construction to its destruction.
class BodyScope {
  public:
    BodyScope(std::uint32_t branch, std::uint64_t iteration, const LaunchState& launch) {
        if (__builtin_expect(nodes_are_recorded.load(std::memory_order_relaxed), false))
            begin(branch, iteration, launch);
    }
    ~BodyScope() {
        if (__builtin_expect(number_ != 0, false)) end();
    }
    BodyScope(const BodyScope&) = delete;
    BodyScope& operator=(const BodyScope&) = delete;

  private:
    void begin(std::uint32_t branch, std::uint64_t iteration, const LaunchState& launch);
    void end();

    const LaunchState* launch_ = nullptr;
    std::uint64_t number_ = 0, around_ = 0, iteration_ = 0;
    std::uint32_t branch_ = 0;
    std::int64_t start_ = 0;
};

CUresult run_recorded(const Section& section, const ExecNode& node, LaunchState& launch, const SectionRun& run);

inline CUresult run_node_of(const Section& section, const ExecNode& node, LaunchState& launch, const SectionRun& run) {
    const bool recorded = nodes_are_recorded.load(std::memory_order_relaxed);
    return __builtin_expect(recorded, false) ? run_recorded(section, node, launch, run) : node.run(node, launch);
}

}  // namespace cgh

#endif
