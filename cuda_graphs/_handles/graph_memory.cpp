// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "graph_memory.hpp"

#include <iterator>
#include <map>
#include <mutex>

#include "_driver/table.hpp"

namespace cg {

namespace {

struct Range {
    CUdeviceptr end;
    CUmemorytype type;
    const GraphMemory* owner;  // tells a range from a later one at the same address
};

struct Ranges {
    std::mutex mutex;
    std::map<CUdeviceptr, Range> by_start;  // guarded by mutex
};

// Never destroyed: owners may go after static destructors.
Ranges& ranges() {
    static auto& all = *new Ranges;
    return all;
}

int recorded_type(CUdeviceptr address) {
    const std::lock_guard lock(ranges().mutex);
    const auto after = ranges().by_start.upper_bound(address);
    if (after == ranges().by_start.begin()) return kUnknownMemory;
    const Range& range = std::prev(after)->second;
    return address < range.end ? static_cast<int>(range.type) : kUnknownMemory;
}

}  // namespace

void GraphMemory::record(CUdeviceptr start, std::size_t size, CUmemorytype type) {
    const std::lock_guard lock(ranges().mutex);
    ranges().by_start[start] = {start + size, type, this};
    start_ = start;
}

GraphMemory::~GraphMemory() {
    const std::lock_guard lock(ranges().mutex);
    const auto range = ranges().by_start.find(start_);
    if (range != ranges().by_start.end() && range->second.owner == this) ranges().by_start.erase(range);
}

CUresult find_memory_type(CUdeviceptr address, int* type) {
    *type = recorded_type(address);
    if (*type != kUnknownMemory) return CUDA_SUCCESS;
    CUmemorytype known{};
    const CUresult status = driver().cuPointerGetAttribute(&known, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address);
    if (status == CUDA_ERROR_INVALID_VALUE) return CUDA_SUCCESS;  // cuda.h: not allocated by, mapped by or registered
    if (status == CUDA_SUCCESS) *type = static_cast<int>(known);
    return status;
}

}  // namespace cg
