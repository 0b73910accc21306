// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Deferred destruction. The destructor of a CUDA user object runs on a thread of the driver, where CUDA calls are
// forbidden (cuda.h, cuUserObjectCreate) and waiting for the GIL could hang the process. Therefore it only pushes its
// payload onto a lock-free list. Dropping a last handle inside a host function does the same, since the driver may not
// be called there either. Ordinary threads empty the list: a pending call of the interpreter on the main thread
// (CPython 3.12 takes any thread), and every thread that creates or closes an object. The list is never emptied inside
// a host function.
#ifndef CUDA_GRAPHS_CORE_HANDLES_DEFERRED_HPP
#define CUDA_GRAPHS_CORE_HANDLES_DEFERRED_HPP

#include <memory>
#include <optional>

#include "gil.hpp"

namespace cg {

// Base class of payloads. `finish` and the destructor after it may call the driver and release Python objects.
class Deferred {
  public:
    Deferred() = default;
    virtual ~Deferred() = default;
    Deferred(const Deferred&) = delete;
    Deferred& operator=(const Deferred&) = delete;

  private:
    friend struct DeferredList;

    // Makes the driver calls that may be refused on this thread. Returns false when they were: nothing has changed, and
    // a later drain tries again.
    virtual bool finish() noexcept { return true; }

    Deferred* next_ = nullptr;
};

// Appends the payload to the list and takes ownership. Any thread may call it at any time: it takes no lock, makes no
// driver call and needs no GIL.
void defer(Deferred* payload) noexcept;

// Takes ownership and destroys the payload now if this thread may, else later. In a forked child the payload is leaked
// on purpose.
void destroy_or_defer(Deferred* payload) noexcept;

// Does the same for any owner.
void defer_owner(std::shared_ptr<const void> owner);

// Takes the GIL for a host function of this library and marks the thread, because the driver may not be called there.
// False when Python is closed. Host functions of other code (a ctypes function pointer, another library) are not
// marked. There the driver refuses calls: see is_refused_here.
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

// Returns true when this thread is inside a host function of this library.
bool in_host_function() noexcept;

// Destroys the payloads that were deferred so far, with or without the GIL. Cheap when the list is empty. Does nothing
// inside a host function, nor after close_python: then the payloads are leaked on purpose.
void drain_deferred() noexcept;

}  // namespace cg

#endif
