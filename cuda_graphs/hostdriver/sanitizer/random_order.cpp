// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "random_order.hpp"

#include <mutex>
#include <numeric>
#include <utility>

#include "hostdriver/execution/thread_store.hpp"

namespace cgh {
namespace {

std::mutex mutex;  // guards the state of draw()

// SplitMix64: Steele, Lea, Flood, "Fast splittable pseudorandom number generators" (OOPSLA 2014).
std::uint64_t draw() {
    static std::uint64_t state = settings.seed;
    std::uint64_t z = (state += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
}

// Returns a random number below `limit`. The caller holds the lock.
std::uint64_t below(std::uint64_t limit) {
    return static_cast<std::uint64_t>((static_cast<unsigned __int128>(draw()) * limit) >> 64);
}

}  // namespace

std::uint64_t draw_below(std::uint64_t limit) {
    const std::lock_guard<std::mutex> lock(mutex);
    return below(limit);
}

void draw_order(std::uint32_t size, std::vector<std::uint32_t>* out) {
    out->resize(size);
    std::iota(out->begin(), out->end(), 0u);
    const std::lock_guard<std::mutex> lock(mutex);
    for (std::uint32_t i = size; i > 1; --i) std::swap((*out)[i - 1], (*out)[below(i)]);
}

const std::uint32_t* draw_thread_order(std::uint32_t threads) {
    std::vector<std::uint32_t>& order = thread_store().thread_order;
    draw_order(threads, &order);
    return order.data();
}

}  // namespace cgh
