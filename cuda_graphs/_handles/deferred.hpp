// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Things to destroy later. The destructor of a CUDA user object runs on a thread of the driver, where CUDA calls are
// forbidden (cuda.h, cuUserObjectCreate) and waiting for the GIL could hang the process. So it only pushes its payload
// onto a lock-free list. Ordinary threads empty the list: the main thread through one pending call of the interpreter,
// and every thread that makes or closes an object.
#ifndef CUDA_GRAPHS_HANDLES_DEFERRED_HPP
#define CUDA_GRAPHS_HANDLES_DEFERRED_HPP

#include <memory>

namespace cg {

// Derive from it; the derived destructor may call the driver and release Python objects.
class Deferred {
  public:
    Deferred() = default;
    virtual ~Deferred() = default;
    Deferred(const Deferred&) = delete;
    Deferred& operator=(const Deferred&) = delete;

  private:
    friend void defer_again(Deferred*) noexcept;
    friend void drain_deferred() noexcept;
    Deferred* next_ = nullptr;
};

// Takes ownership. Any thread, any time; no lock, no driver call, no GIL.
void defer(Deferred* payload) noexcept;

// The same for a payload that could not be destroyed now: it waits for the next drain, and asks for none.
void defer_again(Deferred* payload) noexcept;

// The same for an owner of anything.
void defer_owner(std::shared_ptr<const void> owner);

// Destroys what was deferred so far. Ordinary threads only, with or without the GIL. Cheap when there is nothing.
// After close_python it does nothing: the payloads are leaked on purpose.
void drain_deferred() noexcept;

}  // namespace cg

#endif
