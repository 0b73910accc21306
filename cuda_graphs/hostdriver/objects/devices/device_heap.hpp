// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The heap of a context for malloc and free of device code. A block lives until any thread of any kernel frees it, or
// until the context ends. Such memory "cannot be used in any runtime or driver API calls" (CUDA Programming Guide), so
// the address map does not contain it.
#ifndef CUDA_GRAPHS_HOSTDRIVER_OBJECTS_DEVICES_DEVICE_HEAP_HPP
#define CUDA_GRAPHS_HOSTDRIVER_OBJECTS_DEVICES_DEVICE_HEAP_HPP

#include <cuda.h>

#include <cstddef>
#include <mutex>
#include <unordered_map>

namespace cgh {

class DeviceHeap {
  public:
    explicit DeviceHeap(CUdevice device) : device_(device) {}

    // Returns memory aligned to at least 16 bytes, or nullptr if the heap would grow beyond `limit` bytes.
    void* allocate(std::size_t bytes, std::size_t limit);
    // Returns false if no block begins at this address.
    bool release(void* address);
    void release_all();
    // Returns true after a kernel has called malloc or free.
    bool is_in_use();

  private:
    const CUdevice device_;
    std::mutex mutex_;  // guards the fields below
    bool in_use_ = false;
    std::size_t used_ = 0;                             // bytes in blocks
    std::unordered_map<void*, std::size_t> bytes_of_;  // block size by address; multiples of 16
};

}  // namespace cgh

#endif
