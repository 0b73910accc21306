// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The addresses of a device's memory: a range that is its own, reserved once, as large as no machine's memory. Large
// blocks are pages of their own in it; small ones are cut from chunks by size, and used again by the same size.
#ifndef CUDA_GRAPHS_HOSTDRIVER_OBJECTS_DEVICE_RANGE_HPP
#define CUDA_GRAPHS_HOSTDRIVER_OBJECTS_DEVICE_RANGE_HPP

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "gaps.hpp"

namespace cgh {

class DeviceRange {
  public:
    // That of a device; the same each time.
    static DeviceRange& of(CUdevice device);
    // The range that holds an address, or nullptr.
    static DeviceRange* holding(const void* address);

    // 512-byte aligned memory, untouched when it is large. nullptr: no room. To be given back as it was asked for.
    void* take(std::size_t bytes);
    void give_back(void* address, std::size_t bytes);
    // Pages of zeros, which appear when they are touched.
    void* map(std::size_t bytes, std::size_t alignment = kPage);
    void unmap(void* address, std::size_t bytes);

  private:
    static constexpr std::size_t kPage = std::size_t{64} << 10;

    DeviceRange();
    void* take_small(std::size_t size);

    std::uintptr_t start_ = 0;
    std::size_t size_ = 0;
    std::mutex mutex_;                                           // guards what is below
    Gaps free_;                                                  // by address
    std::uintptr_t chunk_ = 0, chunk_end_ = 0;                   // the chunk that small blocks are cut from
    std::unordered_map<std::size_t, std::vector<void*>> small_;  // blocks that were given back, by size
};

}  // namespace cgh

#endif
