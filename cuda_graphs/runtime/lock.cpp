// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Takes the place of core/handles/gil.cpp in this library, which has no Python. The core changes its objects under the
// lock of Python's interpreter, and releases it during calls of the driver. Here a lock of this library is that lock:
// functions of the C interface take it, and callbacks and deleters on other threads.
#include <mutex>

#include "core/handles/gil.hpp"

namespace cg {

namespace {

std::mutex& lock() {
    static auto& one = *new std::mutex;  // never destroyed: threads of the driver may use it while the process ends
    return one;
}

thread_local bool is_held = false;

void take() {
    lock().lock();
    is_held = true;
}

void give() {
    is_held = false;
    lock().unlock();
}

}  // namespace

void PendingError::take() noexcept {}
void PendingError::give_back() noexcept {}

GilAcquire::GilAcquire() noexcept : acquired_(true), state_(is_held ? 0 : 1) {
    if (state_ != 0) take();
}
GilAcquire::~GilAcquire() {
    if (state_ != 0) give();
}

GilRelease::GilRelease() noexcept : state_(is_held ? &lock() : nullptr) {
    if (state_ != nullptr) give();
}
GilRelease::~GilRelease() {
    if (state_ != nullptr) take();
}

bool python_is_open() noexcept {
    return true;
}

// There is no main thread that could be asked: what is deferred waits for the next call that drains it.
bool call_on_main_thread(int (*)(void*)) noexcept {
    return false;
}

}  // namespace cg
