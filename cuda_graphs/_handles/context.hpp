// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Contexts. The primary context of a device is retained once and kept until the process ends, as the CUDA runtime
// does: raw pointers and streams of other libraries may live in it. Any other context is borrowed.
#ifndef CUDA_GRAPHS_HANDLES_CONTEXT_HPP
#define CUDA_GRAPHS_HANDLES_CONTEXT_HPP

#include "box.hpp"

namespace cg {

struct ContextBox {
    CUcontext raw = nullptr;
    CUdevice device = -1;  // -1: not known
    Counted<Kind::kContext> counted;
    ~ContextBox();
};

using ContextHandle = HandleTo<ContextBox>;

// The primary context of a device; after the first call for a device no driver call is made.
ContextHandle primary_context(CUdevice device);

// Ours if the raw value is one of ours, else borrowed: its device is asked for, it is never destroyed.
ContextHandle create_context_ref(CUcontext raw);

// The context that is current on this thread; empty without an error noted when there is none.
ContextHandle current_context();
// After current_context() gave none: that there is none, or why it is not known.
CUresult why_no_context() noexcept;

// Makes a context current for a scope, unless it is already; an empty handle changes nothing. Check status() before
// use.
class ContextScope {
  public:
    explicit ContextScope(const ContextHandle& context) noexcept;
    ~ContextScope();
    ContextScope(const ContextScope&) = delete;
    ContextScope& operator=(const ContextScope&) = delete;
    CUresult status() const noexcept { return status_; }

  private:
    CUresult status_ = CUDA_SUCCESS;
    bool pushed_ = false;
};

// Lets a scope make calls that a stream capture of this thread would otherwise refuse and be spoiled by ("potentially
// unsafe API calls", cuStreamBeginCapture). For calls that have nothing to do with what is being captured: allocations
// and the destructors of boxes, which may run at any time. Check status() before use: where it failed, the calls would
// spoil the capture.
class RelaxedCapture {
  public:
    RelaxedCapture() noexcept;
    ~RelaxedCapture();
    RelaxedCapture(const RelaxedCapture&) = delete;
    RelaxedCapture& operator=(const RelaxedCapture&) = delete;
    CUresult status() const noexcept { return status_; }

  private:
    CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;  // then that of before
    CUresult status_;
};

}  // namespace cg

#endif
