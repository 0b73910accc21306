// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Random orders (CUDA_GRAPHS_HOST_SCHEDULE=random:<seed>) of the ready nodes of a graph, of the blocks of a kernel, and
// of the threads of a block between its barriers. All work then runs in the thread that waits for it, as without
// workers, so a single-threaded program gets the same orders each time.
#ifndef CUDA_GRAPHS_HOSTDRIVER_SANITIZER_RANDOM_ORDER_HPP
#define CUDA_GRAPHS_HOSTDRIVER_SANITIZER_RANDOM_ORDER_HPP

#include <cstdint>
#include <vector>

#include "settings.hpp"

namespace cgh {

inline bool order_is_random() {
    return settings.random_order;
}

// Returns a random number under `limit`, which is not 0.
std::uint64_t draw_below(std::uint64_t limit);

// Fills `out` with 0 .. size - 1 in random order.
void draw_order(std::uint32_t size, std::vector<std::uint32_t>* out);

// Returns the order in which the threads of a block run next. The result is valid until the calling OS thread's next
// call.
const std::uint32_t* draw_thread_order(std::uint32_t threads);

}  // namespace cgh

#endif
