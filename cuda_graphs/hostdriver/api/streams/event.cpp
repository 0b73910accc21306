// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Events.
#include "hostdriver/objects/streams/event.hpp"

#include <memory>
#include <utility>

#include "hostdriver/entry.hpp"
#include "hostdriver/execution/wait_limit.hpp"
#include "hostdriver/limited_waits.h"
#include "hostdriver/objects/base/arena.hpp"
#include "hostdriver/objects/devices/context.hpp"
#include "hostdriver/objects/streams/intake.hpp"
#include "hostdriver/sanitizer/findings.hpp"

using namespace cgh;

namespace {

CUresult find_event(CUevent handle, Event** out) {
    *out = cast<Event>(handle);
    return *out != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult record_event(CUevent handle, CUstream stream_handle, unsigned flags) {
    Stream* stream = nullptr;
    TRY(find_stream(stream_handle, &stream));
    if (flags > CU_EVENT_RECORD_EXTERNAL) return stream->intake().refuse(*stream, CUDA_ERROR_INVALID_VALUE);
    const External external = flags == CU_EVENT_RECORD_EXTERNAL ? External::kYes : External::kNo;
    Event* event = nullptr;
    if (find_event(handle, &event) != CUDA_SUCCESS) return stream->intake().refuse(*stream, CUDA_ERROR_INVALID_HANDLE);
    // cuda.h, cuEventRecord: "hEvent and hStream must be from the same context otherwise CUDA_ERROR_INVALID_HANDLE is
    // returned."
    REQUIRE(&event->context() == &stream->context(), CUDA_ERROR_INVALID_HANDLE);
    return stream->intake().record(*stream, *event, external);
}

}  // namespace

CGH_API CUresult cuEventCreate(CUevent* phEvent, unsigned int Flags) {
    return entry("cuEventCreate", [&]() -> CUresult {
        REQUIRE(phEvent != nullptr, CUDA_ERROR_INVALID_VALUE);
        constexpr unsigned known = CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS;
        REQUIRE((Flags & ~known) == 0, CUDA_ERROR_INVALID_VALUE);
        // cuda.h: "CU_EVENT_INTERPROCESS must be specified along with CU_EVENT_DISABLE_TIMING."
        REQUIRE((Flags & CU_EVENT_INTERPROCESS) == 0 || (Flags & CU_EVENT_DISABLE_TIMING) != 0,
                CUDA_ERROR_INVALID_VALUE);
        Context* context = nullptr;
        TRY(current_context(&context));
        std::shared_ptr<SharedRecords> records;
        if ((Flags & CU_EVENT_INTERPROCESS) != 0) TRY(SharedRecords::make(&records));
        Event* event = arena<Event>.create(*context, Flags, std::move(records));
        REQUIRE(event != nullptr, CUDA_ERROR_OUT_OF_MEMORY);
        *phEvent = event->handle();
        return CUDA_SUCCESS;
    });
}

// cuda.h: "An event may be destroyed before it is complete (i.e., while cuEventQuery() would return
// CUDA_ERROR_NOT_READY). In this case, the call does not block on completion of the event".
CGH_API CUresult cuEventDestroy_v2(CUevent hEvent) {
    return entry("cuEventDestroy", [&]() -> CUresult {
        Event* event = nullptr;
        TRY(find_event(hEvent, &event));
        REQUIRE(arena<Event>.kill(event), CUDA_ERROR_INVALID_HANDLE);
        const CUresult status = event->context().status();
        Ref<Event>::adopt(event);
        return status;
    });
}

CGH_API CUresult cuEventRecord(CUevent hEvent, CUstream hStream) {
    return entry("cuEventRecord", [&]() -> CUresult { return record_event(hEvent, hStream, CU_EVENT_RECORD_DEFAULT); });
}

CGH_API CUresult cuEventRecordWithFlags(CUevent hEvent, CUstream hStream, unsigned int flags) {
    return entry("cuEventRecordWithFlags", [&]() -> CUresult { return record_event(hEvent, hStream, flags); });
}

CGH_API CUresult cuEventQuery(CUevent hEvent) {
    return entry("cuEventQuery", [&]() -> CUresult {
        Event* event = nullptr;
        TRY(find_event(hEvent, &event));
        return event->query();
    });
}

namespace {
CUresult synchronize(CUevent handle, WaitLimit* limit) {
    return entry("cuEventSynchronize", [&]() -> CUresult {
        Event* event = nullptr;
        TRY(find_event(handle, &event));
        const CUresult status = event->synchronize(limit);
        return status == CUDA_SUCCESS ? outcome_of(event->context()) : status;
    });
}
}  // namespace

CGH_API CUresult cuEventSynchronize(CUevent hEvent) {
    return synchronize(hEvent, nullptr);
}

CGH_API CUresult cghEventSynchronize(CUevent event, std::uint64_t nanoseconds) {
    WaitLimit limit(nanoseconds);
    return synchronize(event, &limit);
}

CGH_API CUresult cuEventElapsedTime_v2(float* pMilliseconds, CUevent hStart, CUevent hEnd) {
    return entry("cuEventElapsedTime", [&]() -> CUresult {
        Event *start = nullptr, *end = nullptr;
        TRY(find_event(hStart, &start));
        TRY(find_event(hEnd, &end));
        return Event::elapsed(*start, *end, pMilliseconds);
    });
}
