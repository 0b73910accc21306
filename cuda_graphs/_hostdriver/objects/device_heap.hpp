// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The heap of a context: what malloc and free of device code work on. Its memory lives until any thread of any kernel
// frees it, or until the context ends. The CUDA Programming Guide: such memory "cannot be used in any runtime or
// driver API calls", so the address map does not know it.
#ifndef CUDA_GRAPHS_HOSTDRIVER_OBJECTS_DEVICE_HEAP_HPP
#define CUDA_GRAPHS_HOSTDRIVER_OBJECTS_DEVICE_HEAP_HPP

#include <cuda.h>

#include <cstddef>
#include <mutex>
#include <unordered_map>

namespace cgh {

class DeviceHeap {
  public:
    explicit DeviceHeap(CUdevice device) : device_(device) {}

    // Aligned to at least 16 bytes. nullptr: the heap has `limit` bytes and these would be too many.
    void* allocate(std::size_t bytes, std::size_t limit);
    // false: nothing begins at this address.
    bool release(void* address);
    void release_all();
    // true: a kernel has called malloc or free.
    bool is_in_use();

  private:
    const CUdevice device_;
    std::mutex mutex_;  // guards what is below
    bool in_use_ = false;
    std::size_t used_ = 0;                             // bytes
    std::unordered_map<void*, std::size_t> bytes_of_;  // by address; multiples of 16
};

}  // namespace cgh

#endif
