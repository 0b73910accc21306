// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The parts of a thread's state that own resources. They are made on first use and destroyed when the thread ends.
#ifndef CUDA_GRAPHS_HOSTDRIVER_EXECUTION_THREAD_STORE_HPP
#define CUDA_GRAPHS_HOSTDRIVER_EXECUTION_THREAD_STORE_HPP

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "hostdriver/objects/base/ref.hpp"
#include "hostdriver/objects/streams/stream.hpp"
#include "thread_state.hpp"

namespace cgh {

struct FreeDeleter {
    void operator()(std::byte* bytes) const;
};
using AlignedBytes = std::unique_ptr<std::byte[], FreeDeleter>;
AlignedBytes allocate_aligned(std::size_t bytes);  // 128-byte aligned; throws std::bad_alloc

// Memory between guards, which are addresses without memory: an index beyond it is a fault, and damages no other
// memory. A guard has 1 GiB, but one page if the process has few addresses left (RLIMIT_AS).
class GuardedBytes {
  public:
    GuardedBytes() = default;
    ~GuardedBytes();
    GuardedBytes(const GuardedBytes&) = delete;
    GuardedBytes& operator=(const GuardedBytes&) = delete;

    // Makes room for `bytes`; the contents are lost if there was less. Returns nullptr if the system has no memory.
    std::byte* grow(std::size_t bytes);
    std::byte* get() const { return begin_; }

  private:
    void drop() noexcept;

    std::byte* begin_ = nullptr;
    std::size_t bytes_ = 0;
    std::size_t guard_ = 0;
};

struct ThreadStore {
    std::vector<Context*> below;                            // the context stack without its top
    std::vector<std::pair<Context*, Ref<Stream>>> streams;  // the per-thread default stream of each context
    AlignedBytes shared;
    AlignedBytes scratch;
    std::size_t scratch_bytes = 0;
    GuardedBytes collection;  // memory of cgh_services.collect
    std::vector<std::uint32_t>
        thread_order;  // order of the threads of the running block (hostdriver/sanitizer/random_order.hpp)
};

// Returns the calling thread's store.
ThreadStore& thread_store();

// Grows thread_state.shared to at least `bytes`.
void grow_shared(std::size_t bytes);

}  // namespace cgh

#endif
