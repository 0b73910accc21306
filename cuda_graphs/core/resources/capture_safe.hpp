// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Driver calls of this library on its own behalf, made so that they neither join nor spoil a stream capture of the
// calling thread (see RelaxedCapture). All are called without the GIL.
#ifndef CUDA_GRAPHS_CORE_RESOURCES_CAPTURE_SAFE_HPP
#define CUDA_GRAPHS_CORE_RESOURCES_CAPTURE_SAFE_HPP

#include <cstddef>

#include "core/driver/table.hpp"

namespace cg {

// Returns true when the work before the event is complete, or when its failure means that the device will do no more of
// it. The next synchronisation raises the error of a failed event.
bool is_complete(CUevent event) noexcept;

// Returns CUDA_SUCCESS when the queue of a stream that this library owns is empty, and CUDA_ERROR_NOT_READY otherwise.
// While the stream is being captured, returns CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED without a query, since a query
// would spoil the capture.
CUresult query_stream(CUstream stream) noexcept;

// Fills memory with zeros and waits for the fill. Uses a temporary stream, since the default stream also carries the
// caller's work.
CUresult write_zeros(CUdeviceptr memory, std::size_t size) noexcept;

// Writes a word that running kernels may read, and waits for the copy. A copy needs no multiprocessor, unlike a fill:
// resident kernels may occupy all of them.
CUresult write_word(CUdeviceptr memory, std::uint32_t value) noexcept;

// Reads memory that running kernels may write, and waits for the copy.
CUresult read_memory(void* to, CUdeviceptr memory, std::size_t size) noexcept;

// Raises the limit of the stack of each GPU thread in the current context to `size` bytes. A higher limit stays.
CUresult reserve_stack(std::size_t size) noexcept;

}  // namespace cg

#endif
