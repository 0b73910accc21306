// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "hostdriver/objects/memory/advice.hpp"

#include <algorithm>
#include <iterator>

namespace cgh {
namespace {

constexpr CUdeviceptr kPage = 4096;

struct Range {
    CUdeviceptr start, end;
};

// cuda.h, cuMemAdvise: "The start address and end address of the memory range will be rounded down and rounded up
// respectively to be aligned to CPU page size". Pages are counted from the start of the allocation, which is the start
// of a page on a GPU.
Range pages(const Allocation& allocation, CUdeviceptr start, std::size_t bytes) {
    const CUdeviceptr first = start - allocation.base, past = first + bytes + kPage - 1;
    return {allocation.base + first / kPage * kPage,
            allocation.base + std::min<CUdeviceptr>(past / kPage * kPage, allocation.size)};
}

}  // namespace

AdviceMap& AdviceMap::get() {
    static auto* map = new AdviceMap;
    return *map;
}

void AdviceMap::change(const Allocation& allocation, CUdeviceptr start, std::size_t bytes,
                       const std::function<void(Advice&)>& change) {
    const Range range = pages(allocation, start, bytes);
    const std::lock_guard<std::mutex> lock(mutex_);
    Pieces& pieces = known_.try_emplace(allocation.id, Pieces{{allocation.base, Advice{}}}).first->second;
    for (const CUdeviceptr cut : {range.start, range.end})
        if (cut < allocation.base + allocation.size) pieces.emplace(cut, std::prev(pieces.upper_bound(cut))->second);
    for (auto at = pieces.lower_bound(range.start); at != pieces.end() && at->first < range.end; ++at)
        change(at->second);
}

std::vector<Advice> AdviceMap::of(const Allocation& allocation, CUdeviceptr start, std::size_t bytes) const {
    const Range range = pages(allocation, start, bytes);
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = known_.find(allocation.id);
    if (found == known_.end()) return {Advice{}};
    std::vector<Advice> advice;
    for (auto at = std::prev(found->second.upper_bound(range.start));
         at != found->second.end() && at->first < range.end; ++at)
        advice.push_back(at->second);
    return advice;
}

void AdviceMap::forget(const Allocation& allocation) {
    const std::lock_guard<std::mutex> lock(mutex_);
    known_.erase(allocation.id);
}

}  // namespace cgh
