// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The pools of other processes that this process has imported. As on an H200, importing a pool again returns the same
// object.
#ifndef CUDA_GRAPHS_HOSTDRIVER_OBJECTS_MEMORY_IMPORTED_POOLS_HPP
#define CUDA_GRAPHS_HOSTDRIVER_OBJECTS_MEMORY_IMPORTED_POOLS_HPP

#include <cuda.h>

#include <cstdint>
#include <map>
#include <mutex>

namespace cgh {

class MemoryPool;

class ImportedPools {
  public:
    static ImportedPools& get();

    // Imports the pool of a file descriptor. Returns CUDA_ERROR_UNKNOWN if the file is not a pool's.
    CUresult open(int descriptor, MemoryPool** out);
    // Ends the handle. Returns CUDA_ERROR_INVALID_VALUE if memory of the pool is still imported or another thread ended
    // it first.
    CUresult close(MemoryPool& pool);

  private:
    std::mutex mutex_;                              // guards by_file_
    std::map<std::uint64_t, MemoryPool*> by_file_;  // pools by the token of their file
};

}  // namespace cgh

#endif
