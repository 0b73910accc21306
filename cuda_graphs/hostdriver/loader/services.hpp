// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The driver functions that running kernels call (image_loader.h, cgh_services), and the hook through which graphs
// implement cudaGraphSetConditional.
#ifndef CUDA_GRAPHS_HOSTDRIVER_LOADER_SERVICES_HPP
#define CUDA_GRAPHS_HOSTDRIVER_LOADER_SERVICES_HPP

#include <cuda.h>

#include <cstdint>

namespace cgh {

// Sets a conditional handle on behalf of the kernel that runs on the calling thread (its graph run:
// thread_state.run_context). Returns false for an unknown handle; the kernel then faults with
// CUDA_ERROR_ILLEGAL_ADDRESS, as on a GPU.
using SetConditional = bool (*)(CUgraphConditionalHandle handle, std::uint32_t value);
void set_conditional_hook(SetConditional hook);

// Ends the kernel that runs on the calling thread with `code`.
[[noreturn]] void raise_fault(CUresult code);

}  // namespace cgh

#endif
