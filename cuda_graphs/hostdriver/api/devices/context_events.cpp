// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Events of whole contexts: a record of all work of a context, and a wait before all its later work.
#include "hostdriver/entry.hpp"
#include "hostdriver/objects/base/arena.hpp"
#include "hostdriver/objects/devices/context.hpp"
#include "hostdriver/objects/devices/green_context.hpp"
#include "hostdriver/objects/streams/capture.hpp"
#include "hostdriver/objects/streams/event.hpp"

using namespace cgh;

namespace {

// Finds the context of a call, and its green context if the handle is one. The record or wait concerns the streams of
// this scope.
CUresult scope_of(CUcontext handle, Context** out, const GreenContext** green) {
    Context* const context = cast<Context>(handle);
    REQUIRE(context != nullptr, CUDA_ERROR_INVALID_CONTEXT);
    *green = context->green();
    *out = &context->root();
    return (*out)->status();
}

CUresult scope_of(CUgreenCtx handle, Context** out, const GreenContext** green) {
    const GreenContext* const found = cast<GreenContext>(handle);
    REQUIRE(found != nullptr, CUDA_ERROR_INVALID_CONTEXT);
    *green = found;
    *out = &found->primary();
    return (*out)->status();
}

template <class Handle>
CUresult record(Handle handle, CUevent event_handle) {
    Context* context = nullptr;
    const GreenContext* green = nullptr;
    TRY(scope_of(handle, &context, &green));
    Event* const event = cast<Event>(event_handle);
    // cuda.h, cuCtxRecordEvent: "hEvent and hCtx must be from the same CUDA context, otherwise
    // CUDA_ERROR_INVALID_HANDLE will be returned"; of green contexts "from the same primary context".
    REQUIRE(event != nullptr && &event->context() == context, CUDA_ERROR_INVALID_HANDLE);
    TRY(Capture::refuse_context(*context, green));
    return event->record(context->gathering_stream(green));
}

template <class Handle>
CUresult wait(Handle handle, CUevent event_handle) {
    Context* context = nullptr;
    const GreenContext* green = nullptr;
    TRY(scope_of(handle, &context, &green));
    Event* const event = cast<Event>(event_handle);
    REQUIRE(event != nullptr, CUDA_ERROR_INVALID_HANDLE);
    TRY(Capture::refuse_context(*context, green));
    const Ref<Milestone> latest = event->latest();
    if (!latest) return CUDA_SUCCESS;  // never recorded
    if (latest->captured() != nullptr) return Capture::refuse_captured_event(*latest->captured());
    context->await(latest, green);
    return CUDA_SUCCESS;
}

}  // namespace

CGH_API CUresult cuCtxRecordEvent(CUcontext hCtx, CUevent hEvent) {
    return entry("cuCtxRecordEvent", [&]() -> CUresult { return record(hCtx, hEvent); });
}

CGH_API CUresult cuCtxWaitEvent(CUcontext hCtx, CUevent hEvent) {
    return entry("cuCtxWaitEvent", [&]() -> CUresult { return wait(hCtx, hEvent); });
}

CGH_API CUresult cuGreenCtxRecordEvent(CUgreenCtx hCtx, CUevent hEvent) {
    return entry("cuGreenCtxRecordEvent", [&]() -> CUresult { return record(hCtx, hEvent); });
}

CGH_API CUresult cuGreenCtxWaitEvent(CUgreenCtx hCtx, CUevent hEvent) {
    return entry("cuGreenCtxWaitEvent", [&]() -> CUresult { return wait(hCtx, hEvent); });
}
