// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Contexts. The primary context of a device is retained once and kept until the process ends, as the CUDA runtime does,
// because raw pointers and streams of other libraries may live in it. Any other context is borrowed.
#ifndef CUDA_GRAPHS_CORE_RESOURCES_CONTEXT_HPP
#define CUDA_GRAPHS_CORE_RESOURCES_CONTEXT_HPP

#include "core/handles/box.hpp"

namespace cg {

struct ContextBox {
    CUcontext raw = nullptr;
    CUdevice device = -1;  // -1: unknown
    Counted<Kind::kContext> counted;
    ~ContextBox();
};

using ContextHandle = HandleTo<ContextBox>;

// Returns the primary context of a device. Only the first call for a device calls the driver.
ContextHandle primary_context(CUdevice device);

// Returns the handle of a raw context: the existing handle if there is one, else a borrowed context, which is never
// destroyed and whose device is queried.
ContextHandle create_context_ref(CUcontext raw);

// Returns the context that is current on this thread. Returns an empty handle, without a noted error, when no
// context is current.
ContextHandle current_context();
// Returns the status that explains an empty handle of current_context(): no current context, or the failure of the
// query.
CUresult why_no_context() noexcept;

// Makes a context current for a scope, unless it already is. An empty handle changes nothing. Check status() before
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

// Lets a scope make calls that would otherwise spoil a stream capture of this thread ("potentially unsafe API calls",
// cuStreamBeginCapture). For calls that are unrelated to the capture: allocations, and the destructors of boxes, which
// may run at any time. Check status() before use: after a failure the calls would spoil the capture.
class RelaxedCapture {
  public:
    RelaxedCapture() noexcept;
    ~RelaxedCapture();
    RelaxedCapture(const RelaxedCapture&) = delete;
    RelaxedCapture& operator=(const RelaxedCapture&) = delete;
    CUresult status() const noexcept { return status_; }

  private:
    CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;  // after construction: the previous mode
    CUresult status_;
};

}  // namespace cg

#endif
