// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Things to destroy later. The destructor of a CUDA user object runs on a thread of the driver, where CUDA calls are
// forbidden (cuda.h, cuUserObjectCreate) and waiting for the GIL could hang the process. So it only pushes its payload
// onto a lock-free list. So does whoever drops the last handle of something inside a host function, where the driver
// may not be called either. Ordinary threads empty the list: one pending call of the interpreter does (on the main
// thread; CPython 3.12 takes any), and every thread that makes or closes an object. Never inside a host function.
#ifndef CUDA_GRAPHS_HANDLES_DEFERRED_HPP
#define CUDA_GRAPHS_HANDLES_DEFERRED_HPP

#include <memory>
#include <optional>

#include "gil.hpp"

namespace cg {

// Derive from it; `finish` and the destructor after it may call the driver and release Python objects.
class Deferred {
  public:
    Deferred() = default;
    virtual ~Deferred() = default;
    Deferred(const Deferred&) = delete;
    Deferred& operator=(const Deferred&) = delete;

  private:
    friend struct DeferredList;

    // What the driver may refuse to do here and now: then false, nothing has changed, and a later drain tries again.
    virtual bool finish() noexcept { return true; }

    Deferred* next_ = nullptr;
};

// Takes ownership. Any thread, any time; no lock, no driver call, no GIL.
void defer(Deferred* payload) noexcept;

// Takes ownership and destroys it, if that may be done here; else later. In a forked child it is leaked on purpose.
void let_go(Deferred* payload) noexcept;

// The same for an owner of anything.
void defer_owner(std::shared_ptr<const void> owner);

// Takes the GIL for a host function of ours, and marks the thread for as long: the driver may not be called there.
// False when Python is closed. In the host functions of others (a ctypes function pointer, another library) nothing is
// marked; there the driver's refusal says it, see is_refused_here.
class HostFunction {
  public:
    HostFunction() noexcept { enter(); }
    ~HostFunction() { python_.reset(), leave(); }
    HostFunction(const HostFunction&) = delete;
    HostFunction& operator=(const HostFunction&) = delete;
    explicit operator bool() const noexcept { return python_ && *python_; }

  private:
    void enter() noexcept;
    static void leave() noexcept;

    std::optional<GilAcquire> python_;
};

// Whether this thread is inside of a host function of ours.
bool in_host_function() noexcept;

// Destroys what was deferred so far, with or without the GIL. Cheap when there is nothing. Does nothing inside a host
// function, nor after close_python: then the payloads are leaked on purpose.
void drain_deferred() noexcept;

}  // namespace cg

#endif
