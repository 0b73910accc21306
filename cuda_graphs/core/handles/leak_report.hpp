// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Reports resources that could not be destroyed. A destructor cannot raise an exception, so Python issues a
// cuda_graphs.CUDAWarning, which the program's warning filters handle.
#ifndef CUDA_GRAPHS_CORE_HANDLES_LEAK_REPORT_HPP
#define CUDA_GRAPHS_CORE_HANDLES_LEAK_REPORT_HPP

#include <cuda.h>

namespace cg {

// Reports one failure. Called with the GIL; set once.
using LeakReport = void (*)(CUresult status, const char* call);
void report_leaks_to(LeakReport report) noexcept;

// Reports the resource that a call failed to destroy; does nothing after a success. May be called with or without the
// GIL, but without locks, since Python may run.
void report_leak(CUresult status, const char* call) noexcept;

// Does the same and returns true, except for a failure that may succeed elsewhere (is_refused_here): then returns false
// and reports nothing. Any other failure is permanent.
bool has_ended(CUresult status, const char* call) noexcept;

}  // namespace cg

#endif
