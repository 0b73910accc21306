// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The parts of a thread's state that own something. They are made on first use and go when the thread ends.
#ifndef CUDA_GRAPHS_HOSTDRIVER_EXEC_THREAD_STORE_HPP
#define CUDA_GRAPHS_HOSTDRIVER_EXEC_THREAD_STORE_HPP

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "../objects/ref.hpp"
#include "../objects/stream.hpp"
#include "thread_state.hpp"

namespace cgh {

struct FreeDeleter {
    void operator()(std::byte* bytes) const;
};
using AlignedBytes = std::unique_ptr<std::byte[], FreeDeleter>;
AlignedBytes allocate_aligned(std::size_t bytes);  // 128-byte aligned; throws std::bad_alloc

struct ThreadStore {
    std::vector<Context*> below;                            // the context stack without its top
    std::vector<std::pair<Context*, Ref<Stream>>> streams;  // the per-thread default stream of each context
    AlignedBytes shared;
    AlignedBytes scratch;
    std::size_t scratch_bytes = 0;
    std::vector<std::uint32_t> thread_order;  // of the block that runs (check/random_order.hpp)
};

// The calling thread's store.
ThreadStore& thread_store();

// Makes thread_state.shared at least `bytes` long.
void grow_shared(std::size_t bytes);

}  // namespace cgh

#endif
