// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Moves the contents of device memory pages to a file that other processes map. The addresses stay the same, and work
// may run on the pages during the move. The pages are read-only while their bytes are copied. A thread that writes a
// page then waits in the fault handler and repeats the write. So no write is lost, and the moving call waits for no
// work.
#ifndef CUDA_GRAPHS_HOSTDRIVER_EXECUTION_PAGE_MOVE_HPP
#define CUDA_GRAPHS_HOSTDRIVER_EXECUTION_PAGE_MOVE_HPP

#include <cuda.h>

#include <cstddef>
#include <cstdint>

namespace cgh {

class SharedFile;

// Moves whole pages. Returns CUDA_ERROR_OUT_OF_MEMORY if they were not moved. With CUDA_GRAPHS_HOST_FAULTS=0, which
// leaves signals alone, no thread may write the pages during the move.
CUresult move_pages(std::uintptr_t start, std::size_t bytes, const SharedFile& file, std::size_t offset);

// Returns true if a move that is over now may have caused a fault at this address. Callable in a signal handler.
bool is_move_fault(const void* address);

}  // namespace cgh

#endif
