// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The threads for host functions. They are started on demand and never joined: at process exit they sleep.
#include "host_threads.hpp"

#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>

#include "spin.hpp"

namespace cgh {
namespace {

class HostThread {
  public:
    // Throws std::system_error if the process cannot start another thread.
    HostThread() {
        std::thread([this] { main(); }).detach();
    }

    // Runs one call. Only one caller may use the thread at a time.
    void run(void (*call)(void*), void* argument) {
        argument_ = argument;
        set(call, given_);
        wait(returned_, [this] { return call_.load() == nullptr; });
    }

    HostThread* next_idle = nullptr;

  private:
    static constexpr int kLooks = 512;  // about 10-20 us: sleeping and waking takes longer than most host functions

    [[noreturn]] void main() {
        pthread_setname_np(pthread_self(), "cgh-host");
        thread_state.is_of_driver = true;
        for (;;) {
            wait(given_, [this] { return call_.load() != nullptr; });
            call_.load()(argument_);
            set(nullptr, returned_);
        }
    }

    void set(void (*call)(void*), std::condition_variable& changed) {
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            call_.store(call);
        }
        changed.notify_one();
    }

    template <class Ready>
    void wait(std::condition_variable& changed, Ready ready) {
        for (int tries = 0; tries < kLooks; ++tries) {
            if (ready()) return;
            tries % 16 == 15 ? static_cast<void>(sched_yield()) : cpu_relax();
        }
        std::unique_lock<std::mutex> lock(mutex_);
        changed.wait(lock, ready);
    }

    std::atomic<void (*)(void*)> call_{nullptr};  // set with mutex_ held; nullptr after the call has returned
    void* argument_ = nullptr;
    std::mutex mutex_;
    std::condition_variable given_;
    std::condition_variable returned_;
};

class HostThreads {
  public:
    // Returns the pool. It is never destroyed, because threads sleep in it until the process ends.
    static HostThreads& get() {
        static auto* threads = new HostThreads;
        return *threads;
    }

    HostThread* take() {
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            if (HostThread* const thread = idle_; thread != nullptr) {
                idle_ = thread->next_idle;
                return thread;
            }
        }
        return make();
    }

    void give_back(HostThread* thread) {
        const std::lock_guard<std::mutex> lock(mutex_);
        thread->next_idle = idle_;
        idle_ = thread;
    }

  private:
    // Returns a new thread, or nullptr if the process cannot start another one.
    static HostThread* make() {
        try {
            return std::make_unique<HostThread>().release();
        } catch (const std::system_error&) {
            return nullptr;
        }
    }

    std::mutex mutex_;  // guards idle_ and its list
    HostThread* idle_ = nullptr;
};

}  // namespace

void call_on_host_thread(void (*call)(void*), void* argument) {
    HostThread* const thread = thread_state.is_of_driver ? nullptr : HostThreads::get().take();
    if (thread == nullptr) return call(argument);
    thread->run(call, argument);
    HostThreads::get().give_back(thread);
}

}  // namespace cgh
