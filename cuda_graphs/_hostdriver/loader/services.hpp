// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// What running kernels may ask of the driver (image_loader.h, cgh_services), and the hook through which graphs answer
// cudaGraphSetConditional.
#ifndef CUDA_GRAPHS_HOSTDRIVER_LOADER_SERVICES_HPP
#define CUDA_GRAPHS_HOSTDRIVER_LOADER_SERVICES_HPP

#include <cuda.h>

#include <cstdint>

namespace cgh {

// Sets a conditional handle for the kernel that runs on the calling thread (thread_state.run_context is its graph
// run). False: no such handle, which faults the kernel
// with CUDA_ERROR_ILLEGAL_ADDRESS, as a GPU does.
using SetConditional = bool (*)(CUgraphConditionalHandle handle, std::uint32_t value);
void set_conditional_hook(SetConditional hook);

// Ends the kernel that runs on the calling thread with `code`.
[[noreturn]] void raise_fault(CUresult code);

}  // namespace cgh

#endif
