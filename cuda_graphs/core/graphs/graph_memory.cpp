// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "graph_memory.hpp"

#include <iterator>
#include <map>
#include <mutex>

#include "core/driver/table.hpp"
#include "core/handles/lock.hpp"

namespace cg {

namespace {

struct Range {
    CUdeviceptr start = 0;
    CUdeviceptr end = 0;
    CUmemorytype type{};
    const GraphMemory* owner = nullptr;  // distinguishes a range from a later range at the same address
};

struct Ranges {
    std::mutex mutex;
    std::map<CUdeviceptr, Range> by_start;  // guarded by mutex
};

// Never destroyed: owners may be destroyed after static destructors.
Ranges& ranges() {
    static auto& all = *new Ranges;
    return all;
}

// Returns the recorded range that contains the address, or an empty range.
Range find_range(CUdeviceptr address) {
    const Lock lock(ranges().mutex);
    if (!lock) return {};
    const auto after = ranges().by_start.upper_bound(address);
    if (after == ranges().by_start.begin()) return {};
    const Range& range = std::prev(after)->second;
    return address < range.end ? range : Range{};
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
}

GraphMemory::~GraphMemory() {
    const Lock lock(ranges().mutex);
    if (!lock) return;
    const auto range = ranges().by_start.find(start_);
    if (range != ranges().by_start.end() && range->second.owner == this) ranges().by_start.erase(range);
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
