// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Every meeting of our C++ with the interpreter's lock. gil.cpp is the only C++ file that sees Python.h.
//
// Foreign threads (driver threads, deleters) enter Python only through GilAcquire. The interpreter closes that door
// at the start of its shutdown (close_python): who is inside finishes, who comes later is turned away and leaks its
// Python reference on purpose. So no thread ever waits for a lock that will not be given again.
#ifndef CUDA_GRAPHS_HANDLES_GIL_HPP
#define CUDA_GRAPHS_HANDLES_GIL_HPP

#include <memory>

namespace cg {

// The exception that is on its way in a thread. Handles go while an exception unwinds, and what they call may run
// Python on the same thread: callbacks, destructors, resources in Python. Python code that starts with an exception
// pending loses it, so both scopes below keep it. With the GIL.
class PendingError {
  public:
    void take() noexcept;
    void give_back() noexcept;

  private:
    void* kind_ = nullptr;
    void* value_ = nullptr;
    void* traceback_ = nullptr;
};

// Releases the GIL for a scope where this thread holds it; does nothing on a thread that does not.
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

// Takes the GIL for a scope on any thread. False after close_python: then no Python may run here.
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

// To be called once from atexit with the GIL held: turns later comers away and waits for those inside.
void close_python() noexcept;

bool python_is_open() noexcept;

// Drops one reference to a PyObject; leaks it when the interpreter is gone. Any thread, GIL held or not.
void release_python(void* object) noexcept;

// An owner that holds one reference to a PyObject. The caller holds the GIL; the owner may go on any thread.
std::shared_ptr<const void> hold_python(void* object);
// The same, and another owner with it.
std::shared_ptr<const void> hold_python(void* object, std::shared_ptr<const void> other);

// Has the main thread call `function(nullptr)` soon. False when the interpreter is closed or its queue is full. Any
// thread; takes no lock of ours and not the GIL.
bool call_on_main_thread(int (*function)(void*)) noexcept;

}  // namespace cg

#endif
