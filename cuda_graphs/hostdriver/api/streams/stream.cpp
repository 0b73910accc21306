// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Streams and host functions.
#include "hostdriver/objects/streams/stream.hpp"

#include <algorithm>

#include "hostdriver/entry.hpp"
#include "hostdriver/execution/operations.hpp"
#include "hostdriver/execution/scheduler.hpp"
#include "hostdriver/execution/wait_limit.hpp"
#include "hostdriver/limited_waits.h"
#include "hostdriver/objects/base/arena.hpp"
#include "hostdriver/objects/devices/context.hpp"
#include "hostdriver/objects/devices/device.hpp"
#include "hostdriver/objects/devices/green_context.hpp"
#include "hostdriver/objects/streams/capture.hpp"
#include "hostdriver/objects/streams/event.hpp"
#include "hostdriver/objects/streams/intake.hpp"

using namespace cgh;

namespace {

CUresult create_stream(CUstream* out, unsigned flags, int priority) {
    REQUIRE(out != nullptr, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(flags == CU_STREAM_DEFAULT || flags == CU_STREAM_NON_BLOCKING, CUDA_ERROR_INVALID_VALUE);
    Context* context = nullptr;
    TRY(current_context(&context));
    // cuda.h, cuStreamCreateWithPriority: "If the specified priority is outside the numerical range returned by
    // cuCtxGetStreamPriorityRange, it will automatically be clamped to the lowest or the highest number in the range."
    priority = std::clamp(priority, kGreatestPriority, kLeastPriority);
    Stream* stream = arena<Stream>.create(*context, Stream::Kind::kCreated, flags, priority, current_green());
    REQUIRE(stream != nullptr, CUDA_ERROR_OUT_OF_MEMORY);
    *out = stream->handle();
    return CUDA_SUCCESS;
}

// cuda.h, cuStreamAddCallback: "The callback will be called with CUDA_SUCCESS or an error code". This operation also
// runs after a failure.
class CallbackOperation final : public Operation {
  public:
    CallbackOperation(CUstream handle, CUstreamCallback callback, void* data)
        : handle_(handle), callback_(callback), data_(data) {}
    void run(Stream& stream) override {
        run_host_function([&] { callback_(handle_, stream.context().status(), data_); });
    }
    bool runs_after_failure() const override { return true; }
    bool is_brief() const override { return false; }  // the function may wait for anything

  private:
    CUstream handle_;
    CUstreamCallback callback_;
    void* data_;
};

}  // namespace

CGH_API CUresult cuStreamCreate(CUstream* phStream, unsigned int Flags) {
    return entry("cuStreamCreate", [&]() -> CUresult { return create_stream(phStream, Flags, kLeastPriority); });
}

CGH_API CUresult cuStreamCreateWithPriority(CUstream* phStream, unsigned int flags, int priority) {
    return entry("cuStreamCreateWithPriority", [&]() -> CUresult { return create_stream(phStream, flags, priority); });
}

// cuda.h: "In case the device is still doing work in the stream hStream when cuStreamDestroy() is called, the function
// will return immediately and the resources associated with hStream will be released automatically once the device has
// completed all work in hStream." Without workers no other thread would run that work. This call runs it, up to the
// first wait for a value in memory that does not hold.
CGH_API CUresult cuStreamDestroy_v2(CUstream hStream) {
    return entry("cuStreamDestroy", [&]() -> CUresult {
        auto* stream = cast<Stream>(hStream);
        REQUIRE(stream != nullptr, CUDA_ERROR_INVALID_HANDLE);
        if (stream->green() != nullptr) TRY(stream->green()->status());
        REQUIRE(arena<Stream>.kill(stream), CUDA_ERROR_INVALID_HANDLE);
        const auto owned = Ref<Stream>::adopt(stream);
        Capture::forget(*stream);
        if (Scheduler::get().workers() == 0) {
            run_ready_operations(*stream, stream->pushed());
            if (!stream->idle()) Scheduler::get().keep(*stream);
        }
        return stream->context().status();
    });
}

namespace {
CUresult synchronize(CUstream handle, WaitLimit* limit) {
    return entry("cuStreamSynchronize", [&]() -> CUresult {
        Stream* stream = nullptr;
        TRY(find_stream(handle, &stream));
        return stream->intake().synchronize(*stream, limit);
    });
}
}  // namespace

CGH_API CUresult cuStreamSynchronize(CUstream hStream) {
    return synchronize(hStream, nullptr);
}

CGH_API CUresult cghStreamSynchronize(CUstream stream, std::uint64_t nanoseconds) {
    WaitLimit limit(nanoseconds);
    return synchronize(stream, &limit);
}

CGH_API CUresult cuStreamQuery(CUstream hStream) {
    return entry("cuStreamQuery", [&]() -> CUresult {
        Stream* stream = nullptr;
        TRY(find_stream(hStream, &stream));
        return stream->intake().query(*stream);
    });
}

CGH_API CUresult cuStreamGetFlags(CUstream hStream, unsigned int* flags) {
    return entry("cuStreamGetFlags", [&]() -> CUresult {
        REQUIRE(flags != nullptr, CUDA_ERROR_INVALID_VALUE);
        Stream* stream = nullptr;
        TRY(find_stream(hStream, &stream));
        TRY(stream->intake().inspect(*stream, Inspection::kForbidden));
        *flags = stream->flags();
        return CUDA_SUCCESS;
    });
}

CGH_API CUresult cuStreamGetPriority(CUstream hStream, int* priority) {
    return entry("cuStreamGetPriority", [&]() -> CUresult {
        REQUIRE(priority != nullptr, CUDA_ERROR_INVALID_VALUE);
        Stream* stream = nullptr;
        TRY(find_stream(hStream, &stream));
        TRY(stream->intake().inspect(*stream, Inspection::kAllowed));
        *priority = stream->priority();
        return CUDA_SUCCESS;
    });
}

CGH_API CUresult cuStreamGetCtx(CUstream hStream, CUcontext* pctx) {
    return entry("cuStreamGetCtx", [&]() -> CUresult {
        REQUIRE(pctx != nullptr, CUDA_ERROR_INVALID_VALUE);
        Stream* stream = nullptr;
        TRY(find_stream(hStream, &stream));
        TRY(stream->intake().inspect(*stream, Inspection::kAllowed));
        *pctx = (green_of(*stream) != nullptr ? green_of(*stream)->inner() : stream->context()).handle();
        return CUDA_SUCCESS;
    });
}

// cuda.h: for a stream of a green context the function returns that green context and "the primary context of the
// associated device in pCtx".
CGH_API CUresult cuStreamGetCtx_v2(CUstream hStream, CUcontext* pCtx, CUgreenCtx* pGreenCtx) {
    return entry("cuStreamGetCtx", [&]() -> CUresult {
        REQUIRE(pCtx != nullptr && pGreenCtx != nullptr, CUDA_ERROR_INVALID_VALUE);
        Stream* stream = nullptr;
        TRY(find_stream(hStream, &stream));
        TRY(stream->intake().inspect(*stream, Inspection::kAllowed));
        GreenContext* const green = green_of(*stream);
        *pCtx = stream->context().handle();
        *pGreenCtx = green != nullptr ? green->handle() : nullptr;
        return CUDA_SUCCESS;
    });
}

CGH_API CUresult cuStreamGetId(CUstream hStream, unsigned long long* streamId) {
    return entry("cuStreamGetId", [&]() -> CUresult {
        REQUIRE(streamId != nullptr, CUDA_ERROR_INVALID_VALUE);
        Stream* stream = nullptr;
        TRY(find_stream(hStream, &stream));
        TRY(stream->intake().inspect(*stream, Inspection::kForbidden));
        *streamId = stream->id();
        return CUDA_SUCCESS;
    });
}

CGH_API CUresult cuStreamWaitEvent(CUstream hStream, CUevent hEvent, unsigned int Flags) {
    return entry("cuStreamWaitEvent", [&]() -> CUresult {
        Stream* stream = nullptr;
        TRY(find_stream(hStream, &stream));
        if (Flags > CU_EVENT_WAIT_EXTERNAL) return stream->intake().refuse(*stream, CUDA_ERROR_INVALID_VALUE);
        const External external = Flags == CU_EVENT_WAIT_EXTERNAL ? External::kYes : External::kNo;
        // "hEvent may be from a different context or device than hStream"
        return stream->intake().wait(*stream, cast<Event>(hEvent), external);
    });
}

CGH_API CUresult cuLaunchHostFunc(CUstream hStream, CUhostFn fn, void* userData) {
    return entry("cuLaunchHostFunc", [&]() -> CUresult {
        REQUIRE(fn != nullptr, CUDA_ERROR_INVALID_VALUE);
        Stream* stream = nullptr;
        TRY(find_stream(hStream, &stream));
        return stream->intake().host_function(*stream, fn, userData);
    });
}

// cuda.h: "This function is slated for eventual deprecation and removal ... Consider using cuLaunchHostFunc()". It
// cannot be captured into a graph.
CGH_API CUresult cuStreamAddCallback(CUstream hStream, CUstreamCallback callback, void* userData, unsigned int flags) {
    return entry("cuStreamAddCallback", [&]() -> CUresult {
        REQUIRE(callback != nullptr && flags == 0, CUDA_ERROR_INVALID_VALUE);
        Stream* stream = nullptr;
        TRY(find_stream(hStream, &stream));
        TRY(stream->intake().inspect(*stream, Inspection::kForbidden));
        stream->push(new CallbackOperation(hStream, callback, userData));
        return CUDA_SUCCESS;
    });
}

CGH_API CUresult cuStreamGetDevice(CUstream hStream, CUdevice* device) {
    return entry("cuStreamGetDevice", [&]() -> CUresult {
        REQUIRE(device != nullptr, CUDA_ERROR_INVALID_VALUE);
        Stream* stream = nullptr;
        TRY(find_stream(hStream, &stream));
        TRY(stream->intake().inspect(*stream, Inspection::kAllowed));
        *device = stream->context().device();
        return CUDA_SUCCESS;
    });
}
