// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "wait.hpp"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <thread>

#include "capture_safe.hpp"
#include "core/driver/table.hpp"
#include "core/handles/error.hpp"
#include "core/handles/registry.hpp"
#include "hostdriver/limited_waits.h"
#include "module.hpp"

namespace cg {

namespace {

using Clock = std::chrono::steady_clock;
using Time = std::chrono::nanoseconds;

constexpr Time kWithoutYield = std::chrono::microseconds(30);  // short waits on an H100 end 0.3 us earlier
constexpr Time kWithoutPause = std::chrono::milliseconds(1);
constexpr Time kLongestPause = std::chrono::microseconds(500);
constexpr int kShareOfPauses = 64;  // a pause takes this part of the time waited so far

// The functions of the host driver; null with libcuda.
struct LimitedWaits {
    decltype(&cghStreamSynchronize) stream;
    decltype(&cghEventSynchronize) event;
    decltype(&cghCtxSynchronize) context;
};

const LimitedWaits& limited_waits() {
    static const LimitedWaits found{
        reinterpret_cast<decltype(LimitedWaits::stream)>(driver_symbol("cghStreamSynchronize")),
        reinterpret_cast<decltype(LimitedWaits::event)>(driver_symbol("cghEventSynchronize")),
        reinterpret_cast<decltype(LimitedWaits::context)>(driver_symbol("cghCtxSynchronize")),
    };
    return found;
}

template <class Query>
CUresult poll(Query query, Time limit, Time without_pause = kWithoutPause) {
    const Clock::time_point begin = Clock::now();
    for (;;) {
        const CUresult status = query();
        if (status != CUDA_ERROR_NOT_READY) return status;
        const Time waited = Clock::now() - begin;
        if (waited >= limit) return CUDA_ERROR_NOT_READY;
        if (waited >= without_pause)
            std::this_thread::sleep_for(std::min({waited / kShareOfPauses, kLongestPause, limit - waited}));
        else if (waited >= kWithoutYield)
            sched_yield();
    }
}

// libcuda writes the output of printf in kernels during a synchronization, not during a query. Therefore a wait that
// was polled ends with one if there may be output. It takes 1.4 us on an H200.
template <class Synchronize>
CUresult end_of_poll(CUresult status, Synchronize synchronize) {
    return status == CUDA_SUCCESS && code_may_print() ? synchronize() : status;
}

CUresult wait_for_stream(CUstream stream, std::uint64_t limit) {
    if (limit == kNoLimit || !driver_is_loaded()) return driver().cuStreamSynchronize(stream);
    if (limited_waits().stream != nullptr) return limited_waits().stream(stream, limit);
    const CUresult status = poll([stream] { return driver().cuStreamQuery(stream); }, Time(limit));
    return end_of_poll(status, [stream] { return driver().cuStreamSynchronize(stream); });
}

CUresult wait_for_event(const EventBox& event, std::uint64_t limit) {
    if (limit == kNoLimit || !driver_is_loaded()) return driver().cuEventSynchronize(event.raw);
    if (limited_waits().event != nullptr) return limited_waits().event(event.raw, limit);
    const CUresult status = poll([&event] { return driver().cuEventQuery(event.raw); }, Time(limit),
                                 event.blocking ? Time(0) : kWithoutPause);
    return end_of_poll(status, [&event] { return driver().cuEventSynchronize(event.raw); });
}

CUresult wait_for_context(const ContextHandle& context, std::uint64_t limit, EventHandle& end) {
    const ContextScope scope(context);
    if (scope.status() != CUDA_SUCCESS) return scope.status();
    if (limit == kNoLimit || !driver_is_loaded()) return driver().cuCtxSynchronize();
    if (limited_waits().context != nullptr) return limited_waits().context(limit);
    if (!end) {
        EventHandle made = create_event(context, false, false);
        if (!made) return take_noted_error().status;
        const CUresult status = driver().cuCtxRecordEvent(raw_of(context), *made);
        if (status == CUDA_ERROR_NOT_SUPPORTED) return driver().cuCtxSynchronize();
        if (status != CUDA_SUCCESS) return status;
        end = std::move(made);
    }
    const CUresult status = poll([&end] { return driver().cuEventQuery(*end); }, Time(limit));
    return status == CUDA_SUCCESS ? driver().cuEventSynchronize(*end) : status;
}

bool is_busy(const StreamHandle& stream) {
    return query_stream(*stream) == CUDA_ERROR_NOT_READY;
}

}  // namespace

CUresult Awaited::wait(std::uint64_t nanoseconds) {
    if (stream) return wait_for_stream(*stream, nanoseconds);
    if (event) return wait_for_event(*box_of<EventBox>(event), nanoseconds);
    return wait_for_context(context, nanoseconds, end);
}

std::vector<StreamHandle> find_busy_streams(const Awaited& awaited) {
    Registry<CUstream>& streams = registry_of_process<CUstream>();
    if (awaited.stream) return {awaited.stream};
    if (awaited.event) {
        const CUstream raw = box_of<EventBox>(awaited.event)->stream.load(std::memory_order_relaxed);
        StreamHandle found = raw != nullptr ? streams.find(raw) : StreamHandle{};
        return found ? std::vector<StreamHandle>{std::move(found)} : std::vector<StreamHandle>{};
    }
    const ContextScope scope(awaited.context);
    std::vector<StreamHandle> busy;
    for (StreamHandle& each : streams.all()) {
        const ContextHandle& context = box_of<StreamBox>(each)->context;
        if ((!context || *context == *awaited.context) && is_busy(each)) busy.push_back(std::move(each));
    }
    return busy;
}

std::string describe_last_launch(const StreamHandle& stream) {
    const std::uintptr_t last = box_of<StreamBox>(stream)->last_launch.load(std::memory_order_relaxed);
    if (last == 0) return {};
    if (last % 2 != 0) {
        char text[40];
        std::snprintf(text, sizeof text, "<Graph handle=%p>", reinterpret_cast<void*>(last - 1));
        return text;
    }
    return std::string("kernel '") + reinterpret_cast<const char*>(last) + "'";
}

}  // namespace cg
