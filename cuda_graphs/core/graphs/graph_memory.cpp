// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "graph_memory.hpp"

#include <atomic>
#include <iterator>
#include <map>
#include <mutex>
#include <utility>

#include "core/driver/table.hpp"
#include "core/handles/lock.hpp"

namespace cg {

namespace {

struct Range {
    CUdeviceptr start = 0;
    CUdeviceptr end = 0;
    CUmemorytype type{};
    GraphMemory* owner = nullptr;  // distinguishes a range from a later range at the same address
};

struct Ranges {
    std::mutex mutex;
    std::map<CUdeviceptr, Range> by_start;  // guarded by mutex
    // Guarded by mutex. Arguments of kernels hardly ever have these bits: as numbers of 16 to 64 bits they are large or
    // tiny.
    CUdeviceptr next_stand_in = GraphMemory::kFirstStandIn | 0x25C3'5AC3'A53C'0000;
    std::atomic<std::size_t> settled{0};  // places with memory of their own
};

constexpr std::size_t kStandInAlignment = 512;  // at least that of any memory of the driver

// Never destroyed: owners may be destroyed after static destructors.
Ranges& ranges() {
    static auto& all = *new Ranges;
    return all;
}

// Returns the recorded range that contains the address, or an empty range. The caller holds the lock.
Range range_around(CUdeviceptr address) {
    const auto after = ranges().by_start.upper_bound(address);
    if (after == ranges().by_start.begin()) return {};
    const Range& range = std::prev(after)->second;
    return address < range.end ? range : Range{};
}

Range find_range(CUdeviceptr address) {
    const Lock lock(ranges().mutex);
    return lock ? range_around(address) : Range{};
}

// Returns true for the status of cuda.h for an address that it did not allocate, map or register.
bool is_unknown(CUresult status) noexcept {
    return status == CUDA_ERROR_INVALID_VALUE;
}

}  // namespace

void GraphMemory::record(CUdeviceptr start, std::size_t size, CUmemorytype type) {
    const Lock lock(ranges().mutex);
    if (!lock) return;
    ranges().by_start[start] = {start, start + size, type, this};
    start_ = start;
    size_ = size;
    type_ = type;
}

void GraphMemory::become_place(std::size_t size, int device) {
    CUdeviceptr start = 0;
    {
        const Lock lock(ranges().mutex);
        if (!lock) return;
        start = ranges().next_stand_in;
        // Two stand-ins never touch, so the address after the end of an array is in none.
        ranges().next_stand_in += (size / kStandInAlignment + 2) * kStandInAlignment;
    }
    device_ = device;
    record(start, size, CU_MEMORYTYPE_DEVICE);
}

void GraphMemory::settle(CUdeviceptr address, Opaque owner) {
    const Lock lock(ranges().mutex);
    if (!lock) return;
    ranges().by_start[address] = {address, address + size_, type_, this};
    settled_ = address;
    owner_ = std::move(owner);
    ranges().settled.fetch_add(1, std::memory_order_relaxed);
}

// Forgets a range of this memory. The caller holds the lock.
void GraphMemory::erase_range(CUdeviceptr start) {
    const auto range = ranges().by_start.find(start);
    if (range != ranges().by_start.end() && range->second.owner == this) ranges().by_start.erase(range);
}

GraphMemory::~GraphMemory() {
    const Lock lock(ranges().mutex);
    if (!lock) return;
    erase_range(start_);
    if (!is_settled()) return;
    erase_range(settled_);
    ranges().settled.fetch_sub(1, std::memory_order_relaxed);
}

GraphMemoryRef find_place(CUdeviceptr address) {
    if (address < GraphMemory::kFirstStandIn && ranges().settled.load(std::memory_order_relaxed) == 0) return {};
    const Lock lock(ranges().mutex);
    if (!lock) return {};
    GraphMemory* const memory = range_around(address).owner;
    // The weak reference has expired while the memory waits for the lock in its destructor.
    return memory != nullptr && memory->is_place() ? memory->weak_from_this().lock() : GraphMemoryRef();
}

CUdeviceptr stand_in_of(CUdeviceptr address) {
    if (address >= GraphMemory::kFirstStandIn) return address;
    const GraphMemoryRef place = find_place(address);
    return place ? place->start() + (address - place->settled()) : address;
}

CUresult find_memory_type(CUdeviceptr address, int* type) {
    const Range range = find_range(address);
    *type = range.end != 0 ? static_cast<int>(range.type) : kUnknownMemory;
    if (range.end != 0) return CUDA_SUCCESS;
    CUmemorytype known{};
    const CUresult status = driver().cuPointerGetAttribute(&known, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address);
    if (is_unknown(status)) return CUDA_SUCCESS;
    if (status == CUDA_SUCCESS) *type = static_cast<int>(known);
    return status;
}

CUresult find_memory_range(CUdeviceptr address, CUdeviceptr* start, CUdeviceptr* end) {
    const Range range = find_range(address);
    *start = range.start;
    *end = range.end;
    if (range.end != 0) return CUDA_SUCCESS;
    CUdeviceptr first = 0;
    std::size_t size = 0;
    CUresult status = driver().cuPointerGetAttribute(&first, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, address);
    if (is_unknown(status)) return CUDA_SUCCESS;
    if (status == CUDA_SUCCESS)
        status = driver().cuPointerGetAttribute(&size, CU_POINTER_ATTRIBUTE_RANGE_SIZE, address);
    if (status != CUDA_SUCCESS) return status;
    *start = first;
    *end = first + size;
    return CUDA_SUCCESS;
}

}  // namespace cg
