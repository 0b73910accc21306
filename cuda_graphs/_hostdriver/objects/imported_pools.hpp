// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The pools of other processes that this one has imported. As on an H200 a pool that is imported again is the same one.
#ifndef CUDA_GRAPHS_HOSTDRIVER_OBJECTS_IMPORTED_POOLS_HPP
#define CUDA_GRAPHS_HOSTDRIVER_OBJECTS_IMPORTED_POOLS_HPP

#include <cuda.h>

#include <cstdint>
#include <map>
#include <mutex>

namespace cgh {

class MemoryPool;

class ImportedPools {
  public:
    static ImportedPools& get();

    // By the file descriptor of one. CUDA_ERROR_UNKNOWN: it is of no pool.
    CUresult open(int descriptor, MemoryPool** out);
    // Ends the handle. CUDA_ERROR_INVALID_VALUE: memory of it is still imported, or another thread was faster.
    CUresult close(MemoryPool& pool);

  private:
    std::mutex mutex_;                              // guards the one below
    std::map<std::uint64_t, MemoryPool*> by_file_;  // by the token of the file
};

}  // namespace cgh

#endif
