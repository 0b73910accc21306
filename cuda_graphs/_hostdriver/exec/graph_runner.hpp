// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs programs. A section whose nodes follow one another, or that is known to be small, runs as a loop in the calling
// thread. Otherwise each run copies the counters of unfinished dependencies; a node is ready when its counter reaches
// zero, and ready nodes are published as a job, so that every thread with nothing to do can take one.
#ifndef CUDA_GRAPHS_HOSTDRIVER_EXEC_GRAPH_RUNNER_HPP
#define CUDA_GRAPHS_HOSTDRIVER_EXEC_GRAPH_RUNNER_HPP

#include <cuda.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "../objects/event.hpp"
#include "../objects/ref.hpp"
#include "graph_program.hpp"

namespace cgh {

class Stream;

// What belongs to one launch.
struct LaunchState {
    Stream* stream;
    std::vector<Ref<Milestone>> records;  // made by this launch, one a record node
    std::vector<Ref<Milestone>> waits;    // what the wait nodes wait for; empty ones wait for nothing
    std::vector<std::size_t> batches;     // how many operations of the batch nodes are done
};

// A run of a section whose nodes wait for values in memory. Where nothing else is left to do it ends before its time,
// so that its thread can do other things.
class SectionInProgress {
  public:
    virtual ~SectionInProgress() = default;
    // CUDA_SUCCESS, the fault after which the rest was skipped, or kComesAgain.
    virtual CUresult go_on() = 0;
    // After kComesAgain: does one of the values hold now?
    virtual bool can_go_on() = 0;
};
std::unique_ptr<SectionInProgress> begin_section_in_progress(const Section& section, LaunchState& launch);

// Of a section without such nodes: runs every node. CUDA_SUCCESS, or the fault after which the rest was skipped.
CUresult run_section(const Section& section, LaunchState& launch);

// How a node of this kind runs.
RunNode run_function(CUgraphNodeType type);
CUresult run_nothing(const ExecNode& node, LaunchState& launch);

}  // namespace cgh

#endif
