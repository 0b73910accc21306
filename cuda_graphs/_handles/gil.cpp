// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include <Python.h>

#include "gil.hpp"

#include <atomic>
#include <thread>

namespace cg {

namespace {

std::atomic<bool> closed{false};
std::atomic<int> inside{0};

}  // namespace

GilRelease::GilRelease() noexcept : state_(nullptr) {
    if (Py_IsInitialized() && PyGILState_Check()) state_ = PyEval_SaveThread();
}

GilRelease::~GilRelease() {
    if (state_ != nullptr) PyEval_RestoreThread(static_cast<PyThreadState*>(state_));
}

GilAcquire::GilAcquire() noexcept : acquired_(false), state_(0) {
    // The order (count, then look) pairs with close_python's (close, then wait for the count).
    inside.fetch_add(1);
    if (closed.load() || !Py_IsInitialized()) {
        inside.fetch_sub(1);
        return;
    }
    state_ = PyGILState_Ensure();
    acquired_ = true;
}

GilAcquire::~GilAcquire() {
    if (!acquired_) return;
    PyGILState_Release(static_cast<PyGILState_STATE>(state_));
    inside.fetch_sub(1);
}

void close_python() noexcept {
    closed.store(true);
    const GilRelease released;
    while (inside.load() != 0) std::this_thread::yield();
}

bool python_is_open() noexcept { return !closed.load(); }

void release_python(void* object) noexcept {
    if (object == nullptr) return;
    const GilAcquire python;
    if (python) Py_DECREF(static_cast<PyObject*>(object));
}

}  // namespace cg
