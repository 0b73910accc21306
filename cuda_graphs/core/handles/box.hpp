// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// A handle is a std::shared_ptr<const CUxxx> that points into a box {raw value, metadata, dependencies}. Copying a
// handle counts references, and `*handle` is the raw value. A handle keeps the resource and its dependencies alive. An
// empty handle means "creation failed" (error.hpp has the cause) or "closed".
//
// A box is a struct whose first member is `raw` and that has a Counted<Kind> member. Its `finish` destroys the
// resource. Its dependencies are members, so they are released after the resource. A box is allocated before the driver
// call that creates the resource. Until then its raw value is zero, and `finish` ignores zero, so a failed call or
// allocation leaves nothing half-built.
//
// The last handle may be dropped inside a host function, where driver calls are forbidden. In that case `finish` is
// deferred and tried again later (deferred.hpp).
#ifndef CUDA_GRAPHS_CORE_HANDLES_BOX_HPP
#define CUDA_GRAPHS_CORE_HANDLES_BOX_HPP

#include <cuda.h>

#include <memory>
#include <type_traits>
#include <utility>

#include "deferred.hpp"

namespace cg {

// Any handle, used as an owner: shares the control block and erases the type.
using Opaque = std::shared_ptr<const void>;

enum class Kind {
    kContext,
    kStream,
    kEvent,
    kPool,
    kPointer,
    kLibrary,
    kKernel,
    kGraph,
    kGraphNode,
    kGraphExec,
    kUserObject,
    kGraphMemory,
    kCapture,
    kCount,
};

// Returns the number of live boxes of a kind. Counting is always on: the tests check for leaks with it.
long live_boxes(Kind kind) noexcept;
const char* kind_name(Kind kind) noexcept;

namespace detail {
void count_box(Kind kind, long change) noexcept;
void count_box_under_gil(Kind kind) noexcept;
}  // namespace detail

template <Kind K>
class Counted {
  public:
    Counted() noexcept { detail::count_box(K, 1); }
    ~Counted() { detail::count_box(K, -1); }
    Counted(const Counted&) = delete;
    Counted& operator=(const Counted&) = delete;
};

// Counts boxes that end together. Each one is added under the GIL, and without an atomic operation: that of every added
// node took 10 ns (an Intel Xeon).
template <Kind K>
class CountedTogether {
  public:
    CountedTogether() noexcept = default;
    ~CountedTogether() { detail::count_box(K, -count_); }
    CountedTogether(const CountedTogether&) = delete;
    CountedTogether& operator=(const CountedTogether&) = delete;

    void add() noexcept {
        detail::count_box_under_gil(K);
        ++count_;
    }

  private:
    long count_ = 0;
};

// A box whose `finish` calls the driver.
template <class Box>
class FinishedBox final : public Deferred {
  public:
    Box box;

  private:
    bool finish() noexcept override { return box.finish(); }
};

template <class Box>
std::shared_ptr<Box> make_box() {
    auto* const made = new FinishedBox<Box>;
    return {&made->box, [made](Box*) { destroy_or_defer(made); }};
}

// Returns true for the status of a driver call inside a host function, so that `finish` is tried again elsewhere. Any
// other failure is permanent. cuda.h, cuLaunchHostFunc: "The host function must not make any CUDA API calls. Attempting
// to use a CUDA API may result in CUDA_ERROR_NOT_PERMITTED".
inline bool is_refused_here(CUresult status) noexcept {
    return status == CUDA_ERROR_NOT_PERMITTED;
}

// Returns true when the driver is shut down or the context is destroyed, so no work is pending.
inline bool is_shut_down(CUresult status) noexcept {
    return status == CUDA_ERROR_DEINITIALIZED || status == CUDA_ERROR_CONTEXT_IS_DESTROYED ||
           status == CUDA_ERROR_INVALID_CONTEXT;
}

// Returns true when `finish` failed before it destroyed anything, so it must be tried again.
inline bool must_retry(CUresult status) noexcept {
    return status != CUDA_SUCCESS && !is_shut_down(status);
}

template <class Box>
using HandleTo = std::shared_ptr<const decltype(Box::raw)>;

template <class Box>
HandleTo<Box> handle_of(std::shared_ptr<Box> box) noexcept {
    const auto* raw = &box->raw;
    return HandleTo<Box>(std::move(box), raw);
}

// The box that a live handle points into.
template <class Box>
Box* box_of(const HandleTo<Box>& handle) noexcept {
    static_assert(std::is_standard_layout_v<Box>, "the address of the first member must be that of the box");
    return reinterpret_cast<Box*>(const_cast<decltype(Box::raw)*>(handle.get()));
}

// The raw value, or zero for an empty handle.
template <class Raw>
Raw raw_of(const std::shared_ptr<const Raw>& handle) noexcept {
    return handle ? *handle : Raw{};
}

}  // namespace cg

#endif
