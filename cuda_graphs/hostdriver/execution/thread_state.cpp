// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Stores the resources of a thread, and releases them when the thread ends.
#include "thread_state.hpp"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>

#include "hostdriver/objects/base/address_limit.hpp"
#include "scheduler.hpp"
#include "thread_store.hpp"

namespace cgh {

thread_local CGH_FAST_TLS ThreadState thread_state{};

std::uint64_t this_thread_number() {
    static std::atomic<std::uint64_t> last{0};
    if (thread_state.number == 0) thread_state.number = last.fetch_add(1, std::memory_order_relaxed) + 1;
    return thread_state.number;
}

void FreeDeleter::operator()(std::byte* bytes) const {
    std::free(bytes);
}

AlignedBytes allocate_aligned(std::size_t bytes) {
    void* memory = std::aligned_alloc(128, (bytes + 127) / 128 * 128);
    if (memory == nullptr) throw std::bad_alloc();
    return AlignedBytes(static_cast<std::byte*>(memory));
}

namespace {

constexpr std::size_t kGuard = std::size_t{1} << 30;

std::size_t page_bytes() {
    static const auto found = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    return found;
}

std::size_t guard_bytes() {
    return within_limit(kGuard) == kGuard ? kGuard : page_bytes();
}

}  // namespace

GuardedBytes::~GuardedBytes() {
    drop();
}

void GuardedBytes::drop() noexcept {
    if (begin_ != nullptr) munmap(begin_ - guard_, bytes_ + 2 * guard_);
}

std::byte* GuardedBytes::grow(std::size_t bytes) {
    if (bytes <= bytes_ && begin_ != nullptr) return begin_;
    const std::size_t page = page_bytes(), guard = guard_bytes();
    bytes = std::max(page, (bytes + page - 1) / page * page);
    void* const all = mmap(nullptr, bytes + 2 * guard, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (all == MAP_FAILED) return nullptr;
    std::byte* const begin = static_cast<std::byte*>(all) + guard;
    if (mprotect(begin, bytes, PROT_READ | PROT_WRITE) != 0) {
        munmap(all, bytes + 2 * guard);
        return nullptr;
    }
    drop();
    begin_ = begin;
    bytes_ = bytes;
    guard_ = guard;
    return begin_;
}

namespace {
// A separate object, because a thread_local with a destructor costs a check on each use.
struct StoreOwner {
    ~StoreOwner() {
        if (thread_state.store == nullptr) return;
        // Without workers no other thread would run the remaining work of the thread's own streams. At process exit
        // (main thread) that work is dropped, as by libcuda.
        if (Scheduler::get().workers() == 0 && syscall(SYS_gettid) != getpid())
            for (auto& [context, stream] : thread_state.store->streams) stream->wait_for(stream->pushed());
        delete thread_state.store;
        thread_state.store = nullptr;
        thread_state.shared = nullptr;
        thread_state.shared_bytes = 0;
    }
    void arm() {}
};
thread_local StoreOwner store_owner;
}  // namespace

ThreadStore& thread_store() {
    if (thread_state.store == nullptr) {
        thread_state.store = new ThreadStore;
        store_owner.arm();
    }
    return *thread_state.store;
}

void grow_shared(std::size_t bytes) {
    if (bytes <= thread_state.shared_bytes) return;
    ThreadStore& store = thread_store();
    store.shared = allocate_aligned(bytes);
    thread_state.shared = store.shared.get();
    thread_state.shared_bytes = bytes;
}

}  // namespace cgh
