// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "hostdriver/objects/devices/device_heap.hpp"

#include <algorithm>

#include "hostdriver/objects/base/free_ranges.hpp"
#include "hostdriver/objects/memory/memory.hpp"
#include "hostdriver/sanitizer/accesses.hpp"

namespace cgh {
namespace {
constexpr std::size_t kUnit = 16;  // bytes; the size of an empty allocation too, so that its address is unique
}  // namespace

void* DeviceHeap::allocate(std::size_t bytes, std::size_t limit) {
    const std::lock_guard<std::mutex> lock(mutex_);
    in_use_ = true;
    if (bytes > limit) return nullptr;
    const std::size_t size = rounded_up(std::max(bytes, kUnit), kUnit);
    if (size > limit || used_ > limit - size) return nullptr;
    void* const address = reserve_memory_of(device_, size);
    if (address == nullptr) return nullptr;
    used_ += size;
    bytes_of_.emplace(address, size);
    if (settings.any()) track_heap_memory(reinterpret_cast<CUdeviceptr>(address), std::max<std::size_t>(bytes, 1));
    return address;
}

bool DeviceHeap::release(void* address) {
    std::size_t size = 0;
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        in_use_ = true;
        const auto found = bytes_of_.find(address);
        if (found == bytes_of_.end()) return false;
        size = found->second;
        used_ -= size;
        bytes_of_.erase(found);
    }
    if (settings.any()) untrack_heap_memory(reinterpret_cast<CUdeviceptr>(address));
    return_memory(address, size);
    return true;
}

void DeviceHeap::release_all() {
    std::unordered_map<void*, std::size_t> all;
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        all.swap(bytes_of_);
        used_ = 0;
        in_use_ = false;
    }
    for (const auto& [address, size] : all) {
        if (settings.any()) untrack_heap_memory(reinterpret_cast<CUdeviceptr>(address));
        return_memory(address, size);
    }
}

bool DeviceHeap::is_in_use() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return in_use_;
}

}  // namespace cgh
