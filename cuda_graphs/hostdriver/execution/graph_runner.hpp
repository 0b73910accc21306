// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs programs. A section whose nodes form a chain, or that is known to be small, runs as a loop in the calling
// thread. Any other run copies the counters of unfinished dependencies. A node is ready when its counter reaches zero.
// Ready nodes are published as a job, and any idle thread can take one.
#ifndef CUDA_GRAPHS_HOSTDRIVER_EXECUTION_GRAPH_RUNNER_HPP
#define CUDA_GRAPHS_HOSTDRIVER_EXECUTION_GRAPH_RUNNER_HPP

#include <cuda.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "graph_program.hpp"
#include "hostdriver/objects/base/ref.hpp"
#include "hostdriver/objects/streams/event.hpp"

namespace cgh {

class Stream;

// The state of one launch.
struct LaunchState {
    Stream* stream;
    std::vector<Ref<Milestone>> records;  // one per record node, made by this launch
    std::vector<Ref<Milestone>> waits;    // the milestone of each wait node; an empty reference completes at once
    std::vector<std::size_t> batches;     // completed operations of each batch node
    std::uint64_t recorded = 0;           // number of the launch in the timeline; 0 if nodes are not recorded
};

// A run of a section whose nodes wait for values in memory. It is suspended when no other node can run, so that its
// thread can do other work.
class SectionInProgress {
  public:
    virtual ~SectionInProgress() = default;
    // Runs until the section is complete or suspended. Returns CUDA_SUCCESS, the fault after which the remaining nodes
    // were skipped, or kSuspended.
    virtual CUresult continue_run() = 0;
    // Returns true after kSuspended if one of the awaited values holds now.
    virtual bool can_resume() = 0;
};
std::unique_ptr<SectionInProgress> begin_section_in_progress(const Section& section, LaunchState& launch);

// Runs every node of a section without such nodes. Returns CUDA_SUCCESS, or the fault after which the remaining nodes
// were skipped.
CUresult run_section(const Section& section, LaunchState& launch);

// Returns the function that runs nodes of this kind.
RunNode run_function(CUgraphNodeType type);
CUresult run_nothing(const ExecNode& node, LaunchState& launch);

}  // namespace cgh

#endif
