// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "hostdriver/objects/base/free_ranges.hpp"

#include <iterator>

namespace cgh {

void FreeRanges::add(std::uintptr_t start, std::size_t size) {
    auto range = by_start_.emplace(start, size).first;
    if (const auto next = std::next(range); next != by_start_.end() && range->first + range->second == next->first) {
        range->second += next->second;
        by_start_.erase(next);
    }
    if (range == by_start_.begin()) return;
    if (const auto before = std::prev(range); before->first + before->second == range->first) {
        before->second += range->second;
        by_start_.erase(range);
    }
}

std::optional<std::uintptr_t> FreeRanges::take(std::size_t size, std::size_t alignment) {
    for (auto range = by_start_.begin(); range != by_start_.end(); ++range) {
        const auto [start, length] = *range;
        const std::uintptr_t at = rounded_up(start, alignment);
        if (at - start > length || length - (at - start) < size) continue;
        by_start_.erase(range);
        if (at != start) by_start_[start] = at - start;
        if (const std::size_t left = length - (at - start) - size; left != 0) by_start_[at + size] = left;
        return at;
    }
    return std::nullopt;
}

}  // namespace cgh
