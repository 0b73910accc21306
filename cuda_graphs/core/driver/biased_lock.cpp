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

bool membarrier(int command) noexcept {
    return syscall(SYS_membarrier, command, 0, 0) == 0;
}

}  // namespace

BiasedLock::BiasedLock() noexcept : shared_(!membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED)) {}

void BiasedLock::lock_mutex() {
    mutex_.lock();
    if (shared_.load(std::memory_order_relaxed)) return;
    if (owner_.load(std::memory_order_relaxed) == pthread_t{})
        owner_.store(pthread_self(), std::memory_order_relaxed);
    else
        share();
}

// After membarrier, either the owner sees `shared_`, or this thread sees that the owner is inside. The owner may be
// in a long call of the driver.
void BiasedLock::share() {
    shared_.store(true, std::memory_order_relaxed);
    membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
    while (inside_.load(std::memory_order_acquire)) std::this_thread::sleep_for(std::chrono::microseconds(20));
}

}  // namespace cg
