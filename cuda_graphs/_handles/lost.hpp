// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// What could not be ended. The end comes in a destructor, from which no exception leaves: so Python warns of it
// (cuda_graphs.CUDAWarning), and the program's filters say what becomes of that.
#ifndef CUDA_GRAPHS_HANDLES_LOST_HPP
#define CUDA_GRAPHS_HANDLES_LOST_HPP

#include <cuda.h>

namespace cg {

// Called with the GIL; set once.
using LossReport = void (*)(CUresult status, const char* call);
void report_losses_to(LossReport report) noexcept;

// Of a call that was to end something: reports a failure. With or without the GIL, and without locks, since Python may
// run.
void tell_if_lost(CUresult status, const char* call) noexcept;

// The same, where it can be tried again elsewhere (is_refused_here): then false and no report. Any other failure will
// not get better.
bool has_ended(CUresult status, const char* call) noexcept;

}  // namespace cg

#endif
