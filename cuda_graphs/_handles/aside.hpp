// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Calls of our own that have nothing to do with what a thread captures, and would spoil it as they come
// (RelaxedCapture). Without the GIL.
#ifndef CUDA_GRAPHS_HANDLES_ASIDE_HPP
#define CUDA_GRAPHS_HANDLES_ASIDE_HPP

#include <cstddef>

#include "_driver/table.hpp"

namespace cg {

// Whether what came before the event is over: done, or nothing that the device will still do. Why not is told to
// whoever waits for it.
bool is_over(CUevent event) noexcept;

// Whether a stream of ours has done all that it had to do: success or CUDA_ERROR_NOT_READY; while it is being captured,
// CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, since the question would spoil that.
CUresult ask_end(CUstream stream) noexcept;

// Writes zeros, and waits until they are there: on a stream of its own, since the default stream belongs to everybody.
CUresult write_zeros(CUdeviceptr memory, std::size_t size) noexcept;

}  // namespace cg

#endif
