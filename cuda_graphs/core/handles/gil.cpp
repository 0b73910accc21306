// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "gil.hpp"

#include <Python.h>
#include <pthread.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace cg {

namespace {

std::atomic<bool> closed{false};
std::atomic<int> inside{0};
thread_local int depth = 0;  // number of nested entries of this thread

void leave() noexcept {
    --depth;
    inside.fetch_sub(1);
}

// Enters Python unless it is closed. The order (count, then check) pairs with the order in close_python (close, then
// wait for the count).
bool enter() noexcept {
    inside.fetch_add(1);
    ++depth;
    if (!closed.load() && Py_IsInitialized()) return true;
    leave();
    return false;
}

// A child of fork() has only this thread, so close_python must not wait for the other threads.
[[maybe_unused]] const int forget_others = pthread_atfork(nullptr, nullptr, [] { inside.store(depth); });

[[noreturn]] void sleep_forever() noexcept {
    for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
}

}  // namespace

void PendingError::take() noexcept {
    PyErr_Fetch(reinterpret_cast<PyObject**>(&kind_), reinterpret_cast<PyObject**>(&value_),
                reinterpret_cast<PyObject**>(&traceback_));
}

void PendingError::give_back() noexcept {
    PyErr_Restore(static_cast<PyObject*>(kind_), static_cast<PyObject*>(value_), static_cast<PyObject*>(traceback_));
}

// After close_python the GIL is kept: no thread waits for it any more, and it might never be acquired again.
GilRelease::GilRelease() noexcept : state_(nullptr) {
    if (closed.load() || !Py_IsInitialized() || !PyGILState_Check()) return;
    error_.take();
    state_ = PyEval_SaveThread();
}

GilRelease::~GilRelease() {
    if (state_ == nullptr) return;
    // Only a daemon thread returns that late. CPython before 3.14 would end it by pthread_exit, whose unwinding
    // terminates the process at the first noexcept frame. The thread sleeps until the process ends,
    // as in CPython 3.14.
    if (!enter()) sleep_forever();
    PyEval_RestoreThread(static_cast<PyThreadState*>(state_));
    error_.give_back();
    leave();
}

GilAcquire::GilAcquire() noexcept : acquired_(enter()), state_(0) {
    if (!acquired_) return;
    state_ = PyGILState_Ensure();
    error_.take();
}

GilAcquire::~GilAcquire() {
    if (!acquired_) return;
    error_.give_back();
    PyGILState_Release(static_cast<PyGILState_STATE>(state_));
    leave();
}

void close_python() noexcept {
    closed.store(true);
    PyThreadState* const state = PyEval_SaveThread();
    while (inside.load() != 0) std::this_thread::yield();
    PyEval_RestoreThread(state);
}

bool python_is_open() noexcept {
    return !closed.load();
}

void release_python(void* object) noexcept {
    if (object == nullptr) return;
    const GilAcquire python;
    if (python) Py_DECREF(static_cast<PyObject*>(object));
}

std::shared_ptr<const void> hold_python(void* object) {
    Py_INCREF(static_cast<PyObject*>(object));
    return {object, release_python};  // on bad_alloc shared_ptr calls the deleter itself
}

std::shared_ptr<const void> hold_python(void* object, std::shared_ptr<const void> other) {
    Py_INCREF(static_cast<PyObject*>(object));
    return {object, [other = std::move(other)](void* held) { release_python(held); }};
}

bool call_on_main_thread(int (*function)(void*)) noexcept {
    if (!enter()) return false;
    const bool queued = Py_AddPendingCall(function, nullptr) == 0;
    leave();
    return queued;
}

}  // namespace cg
