// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The memory of a pool that processes share: a file, as large as the machine's memory, of which only what is touched is
// there. The process that made the pool gives out pages of it; the others map the file, and find what they are told of
// by its offset.
#ifndef CUDA_GRAPHS_HOSTDRIVER_OBJECTS_SHARED_HEAP_HPP
#define CUDA_GRAPHS_HOSTDRIVER_OBJECTS_SHARED_HEAP_HPP

#include <cuda.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

#include "gaps.hpp"
#include "memory.hpp"
#include "shared_file.hpp"

namespace cgh {

class SharedHeap {
  public:
    static CUresult make(CUdevice device, Residence residence, std::unique_ptr<SharedHeap>* out);
    // That of another process, or of this one. CUDA_ERROR_UNKNOWN: the file is of no pool.
    static CUresult open(int descriptor, std::unique_ptr<SharedHeap>* out);
    SharedHeap(const SharedHeap&) = delete;
    SharedHeap& operator=(const SharedHeap&) = delete;
    ~SharedHeap();

    bool is_imported() const { return imported_; }
    CUdevice device() const { return device_; }
    Residence residence() const { return residence_; }
    const SharedFile& file() const { return file_; }
    // The caller's own file descriptor of it.
    CUresult hand_out(int* out);
    // As on an H200, others are told of memory in it only after that.
    bool was_handed_out() const { return handed_out_.load(std::memory_order_acquire); }

    // Only of one that is not imported. nullptr: no room. To be given back as it was asked for.
    void* take(std::size_t bytes);
    void give_back(void* address, std::size_t bytes);

    // What tells other processes of memory in it.
    CUmemPoolPtrExportData describe(const Allocation& allocation) const;
    // Base and size of what such data says. CUDA_ERROR_INVALID_VALUE: it says nothing of this heap.
    CUresult locate(const CUmemPoolPtrExportData& data, Allocation* out) const;

  private:
    SharedHeap(SharedFile file, void* start, CUdevice device, Residence residence, bool imported);

    const SharedFile file_;
    void* const start_;
    const CUdevice device_;
    const Residence residence_;
    const bool imported_;
    std::atomic<bool> handed_out_{false};
    std::mutex mutex_;  // guards the one below
    Gaps free_;         // by address
};

}  // namespace cgh

#endif
