// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Short waits. SpinLock guards a few instructions and never enters the kernel while it is free. Signal lets threads
// sleep until a condition that they check has changed.
#ifndef CUDA_GRAPHS_HOSTDRIVER_EXECUTION_SPIN_HPP
#define CUDA_GRAPHS_HOSTDRIVER_EXECUTION_SPIN_HPP

#include <sched.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace cgh {

inline void cpu_relax() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

class SpinLock {
  public:
    void lock() {
        for (int tries = 0; locked_.exchange(true, std::memory_order_acquire); ++tries)
            tries < 64 ? cpu_relax() : static_cast<void>(sched_yield());
    }
    void unlock() { locked_.store(false, std::memory_order_release); }

  private:
    std::atomic<bool> locked_{false};
};

// Wakes threads that wait for a change. The changing thread makes a seq_cst store before it calls notify(). Without
// waiters notify() is one load.
class Signal {
  public:
    void notify() {
        if (waiters_.load(std::memory_order_seq_cst) == 0) return;
        std::lock_guard<std::mutex> lock(mutex_);
        changed_.notify_all();
    }

    // Returns when `ready()` holds: polls for a while, then sleeps.
    template <class Ready>
    void wait(Ready&& ready) {
        wait(ready, [] { return false; });
    }
    // Returns true when `ready()` holds, false when `stop()` holds, which is checked between sleeps.
    template <class Ready, class Stop>
    bool wait(Ready&& ready, Stop&& stop) {
        for (int tries = 0; tries < kLooks; ++tries) {
            if (ready()) return true;
            tries % 16 == 15 ? static_cast<void>(sched_yield()) : cpu_relax();
        }
        bool is_ready;
        waiters_.fetch_add(1, std::memory_order_seq_cst);
        {
            std::unique_lock<std::mutex> lock(mutex_);
            // The sleep has a limit, because some conditions (a shared job with a new piece) become true without
            // notify().
            while (!(is_ready = ready()) && !stop()) changed_.wait_for(lock, std::chrono::microseconds(200));
        }
        waiters_.fetch_sub(1, std::memory_order_seq_cst);
        return is_ready;
    }

  private:
    static constexpr int kLooks = 512;  // about 10-20 us
    std::atomic<std::uint32_t> waiters_{0};
    std::mutex mutex_;
    std::condition_variable changed_;
};

}  // namespace cgh

#endif
