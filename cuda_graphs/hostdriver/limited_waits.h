// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Waits that end in time. The functions of cuda.h that wait return when the work is done, and the calling thread may
// run that work. These functions wait for at most `nanoseconds` and then return CUDA_ERROR_NOT_READY. The work goes on,
// and the caller may wait again. The calling thread runs only operations that are known to be brief; the driver's
// workers run all others. Hooks and traces (test_hooks.h) see a call of the function of cuda.h.
//
// With fewer than two workers (CUDA_GRAPHS_HOST_THREADS) the calling thread runs any operation, and the limit is
// checked between operations.
#ifndef CUDA_GRAPHS_HOSTDRIVER_LIMITED_WAITS_H
#define CUDA_GRAPHS_HOSTDRIVER_LIMITED_WAITS_H

#include <cuda.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

CUresult cghStreamSynchronize(CUstream stream, uint64_t nanoseconds);
CUresult cghEventSynchronize(CUevent event, uint64_t nanoseconds);
CUresult cghCtxSynchronize(uint64_t nanoseconds);  // waits for the current context

#ifdef __cplusplus
}
#endif

#endif
