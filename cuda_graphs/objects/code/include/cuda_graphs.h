// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Declares the function with which CUDA C++ kernels set conditions. cuda_graphs.Program finds this header without
// options. Other compilers find it in the folder that cuda_graphs.get_include() returns.
#pragma once

#if defined(__CUDACC__)
// NVRTC knows the types without a header, but declares the function in cuda_device_runtime_api.h only. That header
// takes longer to compile than most kernels. The declaration may be repeated, so both headers can be included.
#if !defined(__CUDACC_RTC__)
#include <cuda_runtime.h>
#endif

// Sets the value of a condition. The handle is that of a cuda_graphs.Condition argument.
extern "C" __device__ __cudart_builtin__ void CUDARTAPI cudaGraphSetConditional(cudaGraphConditionalHandle handle,
                                                                                unsigned int value);
#endif
