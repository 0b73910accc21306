// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The memory of a pool that processes share: a file as large as the machine's memory. Only pages that were accessed
// take memory. The process that created the pool allocates pages of the file. The other processes map the file and find
// memory by its offset.
#ifndef CUDA_GRAPHS_HOSTDRIVER_OBJECTS_MEMORY_SHARED_HEAP_HPP
#define CUDA_GRAPHS_HOSTDRIVER_OBJECTS_MEMORY_SHARED_HEAP_HPP

#include <cuda.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

#include "hostdriver/objects/base/free_ranges.hpp"
#include "hostdriver/objects/memory/memory.hpp"
#include "hostdriver/objects/memory/shared_file.hpp"

namespace cgh {

class SharedHeap {
  public:
    static CUresult make(CUdevice device, Residence residence, std::unique_ptr<SharedHeap>* out);
    // Opens the heap of a pool of any process. Returns CUDA_ERROR_UNKNOWN if the file is not a pool's.
    static CUresult open(int descriptor, std::unique_ptr<SharedHeap>* out);
    SharedHeap(const SharedHeap&) = delete;
    SharedHeap& operator=(const SharedHeap&) = delete;
    ~SharedHeap();

    bool is_imported() const { return imported_; }
    CUdevice device() const { return device_; }
    Residence residence() const { return residence_; }
    const SharedFile& file() const { return file_; }
    // Writes an additional file descriptor, which the caller owns.
    CUresult export_descriptor(int* out);
    // Returns whether export_descriptor() was called. Pointers can be exported only after that, as on an H200.
    bool is_exported() const { return exported_.load(std::memory_order_acquire); }

    // Allocates memory of a heap that is not imported. Returns nullptr if no gap is large enough. give_back() needs the
    // same `bytes`.
    void* take(std::size_t bytes);
    void give_back(void* address, std::size_t bytes);

    // Returns the export data with which other processes find an allocation.
    CUmemPoolPtrExportData describe(const Allocation& allocation) const;
    // Writes base and size of the allocation that the export data describes. Returns CUDA_ERROR_INVALID_VALUE if the
    // data is not of this heap.
    CUresult locate(const CUmemPoolPtrExportData& data, Allocation* out) const;

  private:
    SharedHeap(SharedFile file, void* start, CUdevice device, Residence residence, bool imported);

    const SharedFile file_;
    void* const start_;
    const CUdevice device_;
    const Residence residence_;
    const bool imported_;
    std::atomic<bool> exported_{false};
    std::mutex mutex_;  // guards free_
    FreeRanges free_;   // free address ranges
};

}  // namespace cgh

#endif
