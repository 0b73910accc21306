// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Replaces gil.cpp. There is no Python, only its lock, and a main thread that runs pending calls when a test requests
// it. A thread of a test holds the lock while it has a GilAcquire.
#include <atomic>
#include <mutex>

#include "core/handles/gil.hpp"
#include "fake_driver.hpp"

namespace {

std::atomic<bool> is_open{true};
std::atomic<int> queue_space{32};
std::atomic<int> queued{0};
int (*pending)(void*) = nullptr;
std::mutex interpreter;
thread_local bool holds_interpreter = false;

void take() {
    interpreter.lock();
    holds_interpreter = true;
}

void give() {
    holds_interpreter = false;
    interpreter.unlock();
}

}  // namespace

namespace fake {

void close_python() {
    is_open = false;
}
void open_python() {
    is_open = true;
}
void set_queue_space(int calls) {
    queue_space = calls;
}
int pending_calls() {
    return queued;
}

void run_pending_calls() {
    const int count = queued.exchange(0);
    for (int i = 0; i < count; ++i) __atomic_load_n(&pending, __ATOMIC_SEQ_CST)(nullptr);
}

}  // namespace fake

namespace cg {

GilAcquire::GilAcquire() noexcept : acquired_(is_open), state_(0) {
    if (!acquired_ || holds_interpreter) return;
    take();
    state_ = 1;
}
GilAcquire::~GilAcquire() {
    if (state_ == 1) give();
}
GilRelease::GilRelease() noexcept : state_(nullptr) {
    if (!holds_interpreter) return;
    give();
    state_ = &interpreter;
}
GilRelease::~GilRelease() {
    if (state_ != nullptr) take();
}

bool python_is_open() noexcept {
    return is_open;
}

bool call_on_main_thread(int (*function)(void*)) noexcept {
    if (queued.fetch_add(1) >= queue_space) {
        queued.fetch_sub(1);
        return false;
    }
    __atomic_store_n(&pending, function, __ATOMIC_SEQ_CST);
    return true;
}

}  // namespace cg
