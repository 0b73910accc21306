// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// A handle is a std::shared_ptr<const CUxxx> that points into a box {raw value, metadata, dependencies}. Copying a
// handle counts references, `*handle` is the raw value, and whoever holds one keeps the resource and all that it
// depends on alive. An empty handle means "creation failed" (error.hpp says why) or "closed".
//
// A box is a struct whose first member is `raw` and that has a Counted<Kind> member. Its `finish` destroys the
// resource; its dependencies are members, so they go after it. A box is made before the driver is called, with a raw
// value of zero that `finish` leaves alone: so nothing is half-built when the call or an allocation fails.
//
// The last handle may go where the driver may not be called, inside a host function. So `finish` may be put off, and is
// tried again later (deferred.hpp).
#ifndef CUDA_GRAPHS_HANDLES_BOX_HPP
#define CUDA_GRAPHS_HANDLES_BOX_HPP

#include <cuda.h>

#include <memory>
#include <type_traits>
#include <utility>

#include "deferred.hpp"

namespace cg {

// Any handle, as an owner of something: shares the control block, forgets the type.
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

// How many boxes of a kind live now. Always on: the tests hold every one of them to it.
long live_boxes(Kind kind) noexcept;
const char* kind_name(Kind kind) noexcept;

namespace detail {
void count_box(Kind kind, long change) noexcept;
}

template <Kind K>
class Counted {
  public:
    Counted() noexcept { detail::count_box(K, 1); }
    ~Counted() { detail::count_box(K, -1); }
    Counted(const Counted&) = delete;
    Counted& operator=(const Counted&) = delete;
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
    return {&made->box, [made](Box*) { let_go(made); }};
}

// cuda.h, cuLaunchHostFunc: "The host function must not make any CUDA API calls. Attempting to use a CUDA API may
// result in CUDA_ERROR_NOT_PERMITTED". So `finish` has to be tried elsewhere; any other failure will not get better.
inline bool is_refused_here(CUresult status) noexcept {
    return status == CUDA_ERROR_NOT_PERMITTED;
}

// Whatever was going on is over: the driver is shut down, or the context was destroyed with all that was its.
inline bool is_over(CUresult status) noexcept {
    return status == CUDA_ERROR_DEINITIALIZED || status == CUDA_ERROR_CONTEXT_IS_DESTROYED ||
           status == CUDA_ERROR_INVALID_CONTEXT;
}

// A `finish` that failed before it ended anything, at a question or a preparation, is tried again.
inline bool must_wait(CUresult status) noexcept {
    return status != CUDA_SUCCESS && !is_over(status);
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
