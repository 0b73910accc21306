// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The definitions of the executables that are launched while a profile is recorded. The profile finds the names of the
// nodes in them. While no profile is recorded, a launch costs one additional load.
#ifndef CUDA_GRAPHS_CORE_GRAPHS_LAUNCH_WATCH_HPP
#define CUDA_GRAPHS_CORE_GRAPHS_LAUNCH_WATCH_HPP

#include <cuda.h>

#include <atomic>
#include <cstdint>
#include <vector>

#include "definition.hpp"

namespace cg {

struct GraphExecBox;

// Writes a number that names an executable in the records of a profiler. Returns 0 on success.
using Identify = int (*)(CUgraphExec exec, std::uint32_t* number);

// An executable that was launched, by its number, and the definition that it was instantiated from. The handle keeps
// the definition; it is empty if the definition was gone at the launch.
struct WatchedLaunch {
    std::uint32_t number;
    NodeHandle definition;
};

inline std::atomic<bool> launches_are_watched{false};

// `identify` may be null; then all numbers are 0. It is called for each launch.
void begin_watching(Identify identify);
// Ends the watch. Returns each pair of a number and a definition once, in the order of their first launches. The
// caller holds the GIL.
std::vector<WatchedLaunch> end_watching();

// Called for each launch while launches_are_watched.
void note_watched_launch(const GraphExecBox& box);

}  // namespace cg

#endif
