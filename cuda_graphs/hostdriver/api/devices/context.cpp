// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The context stack of the calling thread.
#include "hostdriver/objects/devices/context.hpp"

#include <vector>

#include "hostdriver/api/devices/context_stack.hpp"
#include "hostdriver/entry.hpp"
#include "hostdriver/execution/thread_store.hpp"
#include "hostdriver/execution/wait_limit.hpp"
#include "hostdriver/limited_waits.h"
#include "hostdriver/objects/base/arena.hpp"
#include "hostdriver/objects/devices/device.hpp"
#include "hostdriver/objects/streams/capture.hpp"
#include "hostdriver/sanitizer/findings.hpp"

using namespace cgh;

namespace cgh {

// The stack is empty exactly if there is no current context.
void pop_context() {
    if (thread_state.current == nullptr) return;
    auto& below = thread_store().below;
    thread_state.current = below.empty() ? nullptr : below.back();
    if (!below.empty()) below.pop_back();
}

void push_context(Context& context) {
    if (thread_state.current != nullptr) thread_store().below.push_back(thread_state.current);
    thread_state.current = &context;
}

}  // namespace cgh

namespace {

// Finds the context of a call with an optional context; NULL stands for the current context.
CUresult named_context(CUcontext handle, Context** out) {
    if (handle == nullptr) return any_current_context(out);
    *out = cast<Context>(handle);
    return *out != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

}  // namespace

CGH_API CUresult cuCtxGetCurrent(CUcontext* pctx) {
    return entry("cuCtxGetCurrent", [&]() -> CUresult {
        REQUIRE(pctx != nullptr, CUDA_ERROR_INVALID_VALUE);
        // cuda.h: "If no context is bound to the calling CPU thread then *pctx is set to NULL and CUDA_SUCCESS is
        // returned."
        *pctx = thread_state.current != nullptr ? thread_state.current->handle() : nullptr;
        return CUDA_SUCCESS;
    });
}

CGH_API CUresult cuCtxSetCurrent(CUcontext ctx) {
    return entry("cuCtxSetCurrent", [&]() -> CUresult {
        if (ctx == nullptr) {
            // cuda.h: "If ctx is NULL then this will be equivalent to popping the top of the calling CPU thread's CUDA
            // context stack (or a no-op if the calling CPU thread's CUDA context stack is empty)."
            pop_context();
            return CUDA_SUCCESS;
        }
        Context* context = cast<Context>(ctx);
        REQUIRE(context != nullptr, CUDA_ERROR_INVALID_CONTEXT);
        // "If there exists a CUDA context stack on the calling CPU thread, this will replace the top of that stack with
        // ctx."
        thread_state.current = context;
        return CUDA_SUCCESS;
    });
}

CGH_API CUresult cuCtxPushCurrent_v2(CUcontext ctx) {
    return entry("cuCtxPushCurrent", [&]() -> CUresult {
        REQUIRE(ctx != nullptr, CUDA_ERROR_INVALID_VALUE);
        Context* context = cast<Context>(ctx);
        REQUIRE(context != nullptr, CUDA_ERROR_INVALID_CONTEXT);
        push_context(*context);
        return CUDA_SUCCESS;
    });
}

CGH_API CUresult cuCtxPopCurrent_v2(CUcontext* pctx) {
    return entry("cuCtxPopCurrent", [&]() -> CUresult {
        Context* context = nullptr;
        TRY(any_current_context(&context));
        if (pctx != nullptr) *pctx = context->handle();
        pop_context();
        return CUDA_SUCCESS;
    });
}

CGH_API CUresult cuCtxGetDevice_v2(CUdevice* device, CUcontext ctx) {
    return entry("cuCtxGetDevice", [&]() -> CUresult {
        REQUIRE(device != nullptr, CUDA_ERROR_INVALID_VALUE);
        Context* context = nullptr;
        TRY(named_context(ctx, &context));
        *device = context->device();
        return CUDA_SUCCESS;
    });
}

namespace {
CUresult synchronize(CUcontext handle, WaitLimit* limit) {
    return entry("cuCtxSynchronize", [&]() -> CUresult {
        Context* context = nullptr;
        TRY(named_context(handle, &context));
        TRY(context->status());
        TRY(Capture::refuse_synchronize(context->root()));
        TRY(context->root().synchronize(context->green(), limit));
        return outcome_of(*context);
    });
}
}  // namespace

CGH_API CUresult cuCtxSynchronize_v2(CUcontext ctx) {
    return synchronize(ctx, nullptr);
}

CGH_API CUresult cghCtxSynchronize(std::uint64_t nanoseconds) {
    WaitLimit limit(nanoseconds);
    return synchronize(nullptr, &limit);
}

CGH_API CUresult cuCtxGetDevice(CUdevice* device) {
    return cuCtxGetDevice_v2(device, nullptr);
}

CGH_API CUresult cuCtxSynchronize(void) {
    return cuCtxSynchronize_v2(nullptr);
}

CGH_API CUresult cuCtxGetStreamPriorityRange(int* leastPriority, int* greatestPriority) {
    return entry("cuCtxGetStreamPriorityRange", [&]() -> CUresult {
        Context* context = nullptr;
        TRY(any_current_context(&context));
        // cuda.h: "A NULL may be passed in for *leastPriority or *greatestPriority if the value is not desired."
        if (leastPriority != nullptr) *leastPriority = kLeastPriority;
        if (greatestPriority != nullptr) *greatestPriority = kGreatestPriority;
        return CUDA_SUCCESS;
    });
}

CGH_API CUresult cuCtxGetApiVersion(CUcontext ctx, unsigned int* version) {
    return entry("cuCtxGetApiVersion", [&]() -> CUresult {
        REQUIRE(version != nullptr, CUDA_ERROR_INVALID_VALUE);
        Context* context = ctx == nullptr ? thread_state.current : cast<Context>(ctx);
        REQUIRE(context != nullptr, CUDA_ERROR_INVALID_CONTEXT);
        *version = 3020;  // the version of the context ABI, which libcuda has returned since CUDA 4
        return CUDA_SUCCESS;
    });
}

CGH_API CUresult cuCtxGetFlags(unsigned int* flags) {
    return entry("cuCtxGetFlags", [&]() -> CUresult {
        REQUIRE(flags != nullptr, CUDA_ERROR_INVALID_VALUE);
        Context* context = nullptr;
        TRY(any_current_context(&context));
        // Host memory can always be mapped, with or without the flag, and libcuda returns the flag too. For green
        // contexts it also returns that local memory keeps its largest size.
        *flags = (context->is_own() ? context->flags() : device_of(*context).primary_flags()) | CU_CTX_MAP_HOST;
        if (context->green() != nullptr) *flags |= CU_CTX_LMEM_RESIZE_TO_MAX;
        return CUDA_SUCCESS;
    });
}

CGH_API CUresult cuCtxGetId(CUcontext ctx, unsigned long long* ctxId) {
    return entry("cuCtxGetId", [&]() -> CUresult {
        REQUIRE(ctxId != nullptr, CUDA_ERROR_INVALID_VALUE);
        Context* context = ctx == nullptr ? thread_state.current : cast<Context>(ctx);
        REQUIRE(context != nullptr, CUDA_ERROR_CONTEXT_IS_DESTROYED);
        *ctxId = context->id();
        return CUDA_SUCCESS;
    });
}

// Every virtual device can read the memory of the others without a call. The driver only stores which contexts enabled
// access, for the error codes.
namespace {
CUresult peer_of(CUcontext handle, Context** current, Context** peer) {
    TRY(current_context(current));
    *peer = cast<Context>(handle);
    REQUIRE(*peer != nullptr, CUDA_ERROR_INVALID_CONTEXT);
    return CUDA_SUCCESS;
}
}  // namespace

CGH_API CUresult cuCtxEnablePeerAccess(CUcontext peerContext, unsigned int Flags) {
    return entry("cuCtxEnablePeerAccess", [&]() -> CUresult {
        Context *context = nullptr, *peer = nullptr;
        TRY(peer_of(peerContext, &context, &peer));
        REQUIRE(Flags == 0, CUDA_ERROR_INVALID_VALUE);
        REQUIRE(peer != context, CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);  // as on H200s
        return context->enable_peer(*peer);
    });
}

CGH_API CUresult cuCtxDisablePeerAccess(CUcontext peerContext) {
    return entry("cuCtxDisablePeerAccess", [&]() -> CUresult {
        Context *context = nullptr, *peer = nullptr;
        TRY(peer_of(peerContext, &context, &peer));
        return context->disable_peer(*peer);
    });
}
