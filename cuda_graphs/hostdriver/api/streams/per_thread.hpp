// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The per-thread default stream forms of functions (cuda.h: _ptsz, _ptds), in which stream 0 is CU_STREAM_PER_THREAD.
// Each form sets a flag of the thread and calls the ordinary function.
#ifndef CUDA_GRAPHS_HOSTDRIVER_API_STREAMS_PER_THREAD_HPP
#define CUDA_GRAPHS_HOSTDRIVER_API_STREAMS_PER_THREAD_HPP

namespace cgh {

// Returns the per-thread form of an entry point, or the entry point itself if stream 0 has no meaning for it.
void* per_thread_form(void* function);

}  // namespace cgh

#endif
