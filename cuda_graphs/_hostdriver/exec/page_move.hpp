// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Moves what is in pages of device memory to a file that other processes map, at the same addresses, while work runs on
// them. As long as the bytes are copied the pages can only be read; who writes them waits in the fault handler and then
// writes again. So nothing is lost, and the call that moves waits for nothing.
#ifndef CUDA_GRAPHS_HOSTDRIVER_EXEC_PAGE_MOVE_HPP
#define CUDA_GRAPHS_HOSTDRIVER_EXEC_PAGE_MOVE_HPP

#include <cuda.h>

#include <cstddef>
#include <cstdint>

namespace cgh {

class SharedFile;

// Whole pages. CUDA_ERROR_OUT_OF_MEMORY: they are where they were. With CUDA_GRAPHS_HOST_FAULTS=0, which leaves signals
// alone, nothing may write them meanwhile.
CUresult move_pages(std::uintptr_t start, std::size_t bytes, const SharedFile& file, std::size_t offset);

// In a signal handler: whether a fault at this address may have been because of a move, which is over now.
bool was_of_a_move(const void* address);

}  // namespace cgh

#endif
