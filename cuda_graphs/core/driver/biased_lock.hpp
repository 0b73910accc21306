// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// A mutex that is almost free as long as one thread alone uses it: the first one that locks it. That thread neither
// calls the mutex nor makes an atomic read-modify-write operation. The first other thread that locks it takes this away
// for good, by a system call that makes all threads of the process agree about memory (membarrier, some milliseconds).
// From then on it is an ordinary mutex. Without that system call it always is.
#ifndef CUDA_GRAPHS_CORE_DRIVER_BIASED_LOCK_HPP
#define CUDA_GRAPHS_CORE_DRIVER_BIASED_LOCK_HPP

#include <pthread.h>

#include <atomic>
#include <mutex>

namespace cg {

// Not recursive.
class BiasedLock {
  public:
    BiasedLock() noexcept;
    BiasedLock(const BiasedLock&) = delete;
    BiasedLock& operator=(const BiasedLock&) = delete;

    // Holds the lock for a scope.
    class Hold {
      public:
        explicit Hold(BiasedLock& lock) : lock_(lock), has_mutex_(!lock.enter()) {
            if (has_mutex_) lock.lock_mutex();
        }
        ~Hold() { has_mutex_ ? lock_.mutex_.unlock() : lock_.inside_.store(false, std::memory_order_release); }
        Hold(const Hold&) = delete;
        Hold& operator=(const Hold&) = delete;

      private:
        BiasedLock& lock_;
        const bool has_mutex_;
    };

  private:
    // Takes the lock without the mutex, if this thread is the owner and still may.
    bool enter() noexcept {
        if (owner_.load(std::memory_order_relaxed) != pthread_self()) return false;
        inside_.store(true, std::memory_order_relaxed);
        // The compiler keeps this order. The processor may swap the two, which membarrier in share() makes up for.
        std::atomic_signal_fence(std::memory_order_seq_cst);
        if (!shared_.load(std::memory_order_relaxed)) return true;
        inside_.store(false, std::memory_order_release);
        return false;
    }
    void lock_mutex();
    void share();

    std::mutex mutex_;
    std::atomic<pthread_t> owner_{};   // the first thread, or 0; only written under the mutex
    std::atomic<bool> inside_{false};  // whether the owner holds the lock without the mutex; only the owner writes it
    std::atomic<bool> shared_;         // whether all threads use the mutex; set once, under the mutex
};

}  // namespace cg

#endif
