// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The address map and the allocation of host and device memory.
#include "hostdriver/objects/memory/memory.hpp"

#include <sys/sysinfo.h>

#include <algorithm>
#include <mutex>

#include "hostdriver/objects/base/free_ranges.hpp"
#include "hostdriver/objects/memory/advice.hpp"
#include "hostdriver/objects/memory/device_range.hpp"
#include "hostdriver/sanitizer/accesses.hpp"

namespace cgh {

AddressMap& AddressMap::get() {
    static auto* map = new AddressMap;
    return *map;
}

void AddressMap::add(Allocation allocation) {
    if (settings.any()) track_memory(allocation);
    std::unique_lock<std::shared_mutex> lock(mutex_);
    allocation.id = ++last_id_;
    by_base_[allocation.base] = allocation;
}

bool AddressMap::add_disjoint(Allocation allocation) {
    std::unique_lock<std::shared_mutex> lock(mutex_);
    const auto after = by_base_.lower_bound(allocation.base);
    if (after != by_base_.end() && after->first - allocation.base < allocation.size) return false;
    if (after != by_base_.begin() && std::prev(after)->second.holds(allocation.base, 1)) return false;
    allocation.id = ++last_id_;
    by_base_.emplace(allocation.base, allocation);
    if (settings.any()) track_memory(allocation);
    return true;
}

bool AddressMap::has_memory_of(const MemoryPool& pool) const {
    const std::shared_lock<std::shared_mutex> lock(mutex_);
    return std::any_of(by_base_.begin(), by_base_.end(), [&](const auto& one) { return one.second.pool == &pool; });
}

std::optional<Allocation> AddressMap::remove(CUdeviceptr base) {
    std::unique_lock<std::shared_mutex> lock(mutex_);
    const auto found = by_base_.find(base);
    if (found == by_base_.end()) return std::nullopt;
    const Allocation allocation = found->second;
    by_base_.erase(found);
    if (allocation.is_managed()) AdviceMap::get().forget(allocation);
    return allocation;
}

void AddressMap::remove_range(CUdeviceptr start, std::size_t size) {
    if (settings.any()) untrack_range(start, size);
    std::unique_lock<std::shared_mutex> lock(mutex_);
    by_base_.erase(by_base_.lower_bound(start), by_base_.lower_bound(start + size));
}

void AddressMap::release_all_of(const Context& context) {
    std::unique_lock<std::shared_mutex> lock(mutex_);
    for (auto at = by_base_.begin(); at != by_base_.end();) {
        const Allocation& found = at->second;
        const bool ours = found.kind == MemoryKind::kDevice || found.kind == MemoryKind::kManaged ||
                          found.kind == MemoryKind::kPinned;
        if (found.context != &context || (!ours && found.kind != MemoryKind::kRegistered)) {
            ++at;
            continue;
        }
        if (found.is_managed()) AdviceMap::get().forget(found);
        if (settings.any()) untrack_memory(found.base);
        if (ours) return_memory(reinterpret_cast<void*>(found.base), found.size);
        at = by_base_.erase(at);
    }
}

std::optional<Allocation> AddressMap::find(CUdeviceptr address, Reserved reserved) const {
    std::shared_lock<std::shared_mutex> lock(mutex_);
    auto after = by_base_.upper_bound(address);
    if (after == by_base_.begin()) return std::nullopt;
    const Allocation& allocation = std::prev(after)->second;
    if (!allocation.holds(address, 1)) return std::nullopt;
    // An owner removes itself from the map before it is destroyed, so it exists while the lock is held.
    const Allocation::Owner* const owner = allocation.owner;
    if (owner != nullptr && reserved == Reserved::kNot && !owner->is_allocated()) return std::nullopt;
    if (owner != nullptr && reserved == Reserved::kUnfreed && owner->is_freed_inside()) return std::nullopt;
    return allocation;
}

bool AddressMap::set_synchronous(CUdeviceptr base, bool is_synchronous) {
    std::unique_lock<std::shared_mutex> lock(mutex_);
    const auto found = by_base_.find(base);
    if (found == by_base_.end()) return false;
    found->second.is_synchronous = is_synchronous;
    return true;
}

std::size_t AddressMap::size() const {
    std::shared_lock<std::shared_mutex> lock(mutex_);
    return by_base_.size();
}

std::size_t machine_memory() {
    static const std::size_t total = [] {
        struct sysinfo info{};
        return sysinfo(&info) == 0 ? info.totalram * info.mem_unit : std::size_t{8} << 30;
    }();
    return total;
}

std::size_t with_gap(std::size_t bytes) {
    return settings.any() ? bytes + kMemoryAlignment : bytes;
}

void* reserve_memory(std::size_t bytes) {
    return bytes <= machine_memory() ? DeviceRange::take(DeviceRange::kHost, with_gap(bytes)) : nullptr;
}

void* reserve_memory_of(CUdevice device, std::size_t bytes) {
    return bytes <= machine_memory() ? DeviceRange::take(device, with_gap(bytes)) : nullptr;
}

void return_memory(void* address, std::size_t bytes) {
    return settings.any() ? hold_back(address, bytes) : return_memory_at_once(address, bytes);
}

void return_memory_at_once(void* address, std::size_t bytes) {
    DeviceRange::holding(address)->give_back(address, with_gap(bytes));
}

}  // namespace cgh
