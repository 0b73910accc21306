// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The per-thread default stream forms of functions (cuda.h: _ptsz, _ptds), for which stream 0 is CU_STREAM_PER_THREAD.
// Each is the ordinary one, called while the thread says so.
#ifndef CUDA_GRAPHS_HOSTDRIVER_API_PER_THREAD_HPP
#define CUDA_GRAPHS_HOSTDRIVER_API_PER_THREAD_HPP

namespace cgh {

// That of an entry point; the entry point itself where stream 0 means nothing to it.
void* per_thread_form(void* function);

}  // namespace cgh

#endif
