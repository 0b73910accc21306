// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Every use of the GIL by C++ code. gil.cpp is the only C++ file that includes Python.h.
//
// Foreign threads (driver threads, deleters) enter Python only through GilAcquire. close_python refuses new entries at
// the start of the interpreter's shutdown and waits for the threads that are inside. A refused thread leaks its Python
// reference on purpose. So no thread waits for a lock that is never released.
#ifndef CUDA_GRAPHS_CORE_HANDLES_GIL_HPP
#define CUDA_GRAPHS_CORE_HANDLES_GIL_HPP

#include <memory>

namespace cg {

// The pending exception of a thread. Handles are destroyed while an exception unwinds, and their destructors may run
// Python on the same thread: callbacks, finalisers, resources in Python. Python code that starts with a pending
// exception loses it, so both scopes below save and restore it. The caller holds the GIL.
class PendingError {
  public:
    void take() noexcept;
    void give_back() noexcept;

  private:
    void* kind_ = nullptr;
    void* value_ = nullptr;
    void* traceback_ = nullptr;
};

// Releases the GIL for a scope if this thread holds it.
class GilRelease {
  public:
    GilRelease() noexcept;
    ~GilRelease();
    GilRelease(const GilRelease&) = delete;
    GilRelease& operator=(const GilRelease&) = delete;

  private:
    void* state_;
    PendingError error_;
};

// Takes the GIL for a scope on any thread. False after close_python: then no Python may run on the thread.
class GilAcquire {
  public:
    GilAcquire() noexcept;
    ~GilAcquire();
    GilAcquire(const GilAcquire&) = delete;
    GilAcquire& operator=(const GilAcquire&) = delete;
    explicit operator bool() const noexcept { return acquired_; }

  private:
    bool acquired_;
    int state_;
    PendingError error_;
};

// Refuses later GilAcquires and waits for the threads inside. Called once from atexit with the GIL held.
void close_python() noexcept;

bool python_is_open() noexcept;

// Drops one reference to a PyObject; leaks it when the interpreter is closed. Any thread may call it, with or without
// the GIL.
void release_python(void* object) noexcept;

// Returns an owner that holds one reference to a PyObject. The caller holds the GIL; any thread may drop the owner.
std::shared_ptr<const void> hold_python(void* object);
// Does the same, and holds another owner with it.
std::shared_ptr<const void> hold_python(void* object, std::shared_ptr<const void> other);

// Makes the main thread call `function(nullptr)` soon. Returns false when the interpreter is closed or its queue is
// full. Any thread may call it; it takes neither the GIL nor a lock of this library.
bool call_on_main_thread(int (*function)(void*)) noexcept;

}  // namespace cg

#endif
