// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// In the place of gil.cpp: no Python, and a main thread that runs pending calls when the tests say so.
#include <atomic>

#include "_handles/gil.hpp"
#include "fake_driver.hpp"

namespace {

std::atomic<bool> is_open{true};
std::atomic<int> queue_space{32};
std::atomic<int> queued{0};
int (*pending)(void*) = nullptr;

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
    for (int i = 0; i < count; ++i) pending(nullptr);
}

}  // namespace fake

namespace cg {

GilAcquire::GilAcquire() noexcept : acquired_(true), state_(0) {}
GilAcquire::~GilAcquire() {}
GilRelease::GilRelease() noexcept : state_(nullptr) {}
GilRelease::~GilRelease() {
    static_cast<void>(state_);
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
