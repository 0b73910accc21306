// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "gaps.hpp"

#include <iterator>

namespace cgh {

void Gaps::add(std::uintptr_t start, std::size_t size) {
    auto gap = by_start_.emplace(start, size).first;
    if (const auto next = std::next(gap); next != by_start_.end() && gap->first + gap->second == next->first) {
        gap->second += next->second;
        by_start_.erase(next);
    }
    if (gap == by_start_.begin()) return;
    if (const auto before = std::prev(gap); before->first + before->second == gap->first) {
        before->second += gap->second;
        by_start_.erase(gap);
    }
}

std::optional<std::uintptr_t> Gaps::take(std::size_t size, std::size_t alignment) {
    for (auto gap = by_start_.begin(); gap != by_start_.end(); ++gap) {
        const auto [start, length] = *gap;
        const std::uintptr_t at = rounded_up(start, alignment);
        if (at - start > length || length - (at - start) < size) continue;
        by_start_.erase(gap);
        if (at != start) by_start_[start] = at - start;
        if (const std::size_t left = length - (at - start) - size; left != 0) by_start_[at + size] = left;
        return at;
    }
    return std::nullopt;
}

}  // namespace cgh
