// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "biased_lock.hpp"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <thread>

namespace cg {

namespace {

constexpr int kRegister = MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED;
constexpr int kBarrier = MEMBARRIER_CMD_PRIVATE_EXPEDITED;

long membarrier(int command) noexcept {
    return syscall(SYS_membarrier, command, 0, 0);
}

// Returns true if the system can make the threads of the process agree about memory.
bool has_barrier() noexcept {
    const long commands = membarrier(MEMBARRIER_CMD_QUERY);
    return commands > 0 && (commands & kRegister) != 0 && (commands & kBarrier) != 0;
}

void agree_about_memory() noexcept {
    if (membarrier(kRegister) == 0 && membarrier(kBarrier) == 0) return;
    // It is forbidden since the query. After the wait a processor has long made its stores visible.
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

}  // namespace

BiasedLock::BiasedLock() noexcept : shared_(!has_barrier()) {}

void BiasedLock::lock_mutex() {
    mutex_.lock();
    if (shared_.load(std::memory_order_relaxed)) return;
    if (owner_.load(std::memory_order_relaxed) == pthread_t{})
        owner_.store(pthread_self(), std::memory_order_relaxed);
    else
        share();
}

// After the agreement, either the owner sees `shared_`, or this thread sees that the owner is inside. The owner may be
// in a long call of the driver.
void BiasedLock::share() {
    shared_.store(true, std::memory_order_relaxed);
    agree_about_memory();
    while (inside_.load(std::memory_order_acquire)) std::this_thread::sleep_for(std::chrono::microseconds(20));
}

}  // namespace cg
