// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Waits that end in time, so that the caller can notice a signal and wait again. The host driver has functions for them
// (hostdriver/limited_waits.h). libcuda has none, so the caller polls a query: at first without a pause, later with
// pauses that are short compared to the time that it has waited.
#ifndef CUDA_GRAPHS_CORE_RESOURCES_WAIT_HPP
#define CUDA_GRAPHS_CORE_RESOURCES_WAIT_HPP

#include <cuda.h>

#include <cstdint>
#include <string>
#include <vector>

#include "context.hpp"
#include "event.hpp"
#include "stream.hpp"

namespace cg {

constexpr std::uint64_t kNoLimit = UINT64_MAX;

// The work that a wait is for: exactly one of the three handles is set.
struct Awaited {
    StreamHandle stream;
    EventHandle event;
    ContextHandle context;
    EventHandle end;  // recorded behind the work of `context` by the first limited wait; libcuda only

    // Waits for at most `nanoseconds`, or without a limit for kNoLimit. Returns CUDA_ERROR_NOT_READY if the work takes
    // longer. Called without the GIL. A libcuda before 12.5 cannot limit the wait for a context.
    CUresult wait(std::uint64_t nanoseconds);
};

// Returns the streams of this library that still have work that `awaited` may be for: its stream, the stream of its
// event, or the streams of its context. A captured stream is left out.
std::vector<StreamHandle> find_busy_streams(const Awaited& awaited);
// Returns what was launched last on a stream, as "kernel 'name'" or the text of a Graph, or "" if that is unknown.
std::string describe_last_launch(const StreamHandle& stream);

}  // namespace cg

#endif
