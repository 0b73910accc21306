// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "box.hpp"

#include <atomic>
#include <cstddef>

namespace cg {

namespace {

constexpr std::size_t kKinds = static_cast<std::size_t>(Kind::kCount);

std::atomic<long> counts[kKinds];
std::atomic<long> made_under_gil[kKinds];

constexpr const char* kNames[kKinds] = {
    "context", "stream",     "event",      "pool",        "pointer",      "library", "kernel",
    "graph",   "graph_node", "graph_exec", "user_object", "graph_memory", "capture",
};

}  // namespace

long live_boxes(Kind kind) noexcept {
    const auto index = static_cast<std::size_t>(kind);
    return counts[index].load() + made_under_gil[index].load();
}

const char* kind_name(Kind kind) noexcept {
    return kNames[static_cast<std::size_t>(kind)];
}

void detail::count_box(Kind kind, long change) noexcept {
    counts[static_cast<std::size_t>(kind)].fetch_add(change, std::memory_order_relaxed);
}

void detail::count_box_under_gil(Kind kind) noexcept {
    std::atomic<long>& made = made_under_gil[static_cast<std::size_t>(kind)];
    made.store(made.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

}  // namespace cg
