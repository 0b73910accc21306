// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Law: A capture that the driver has ended is over for this library too, even if another thread begins the next capture
// of its stream before this library looks. A capture that the driver refused to end goes on.
#include <cstdint>

#include "check.hpp"
#include "core/capture/capture.hpp"
#include "core/driver/table.hpp"
#include "core/resources/context.hpp"
#include "core/resources/stream.hpp"
#include "fake_driver.hpp"

using namespace cg;

namespace {

struct Now {
    CUstreamCaptureStatus status;
    cuuint64_t id;
};

constexpr Now kNone{CU_STREAM_CAPTURE_STATUS_NONE, 0};
constexpr Now kFirst{CU_STREAM_CAPTURE_STATUS_ACTIVE, 1};
constexpr Now kNext{CU_STREAM_CAPTURE_STATUS_ACTIVE, 2};
constexpr Now kNextSpoiled{CU_STREAM_CAPTURE_STATUS_INVALIDATED, 0};

Now now;          // the capture of the stream
Now after_end;    // its capture when cuStreamEndCapture returns
CUresult answer;  // of cuStreamEndCapture

void fake_captures() {
    DriverTable& table = cg::detail::table;
    table.cuStreamBeginCapture = [](CUstream, CUstreamCaptureMode) {
        now = kFirst;
        return CUDA_SUCCESS;
    };
    table.cuStreamIsCapturing = [](CUstream, CUstreamCaptureStatus* status) {
        *status = now.status;
        return CUDA_SUCCESS;
    };
    table.cuStreamGetCaptureInfo = [](CUstream, CUstreamCaptureStatus* status, cuuint64_t* id, CUgraph* graph,
                                      const CUgraphNode** nodes, const CUgraphEdgeData** edges, std::size_t* count) {
        *status = now.status;
        *id = now.id;
        *graph = reinterpret_cast<CUgraph>(static_cast<std::uintptr_t>(now.id));
        *nodes = nullptr;
        *edges = nullptr;
        *count = 0;
        return CUDA_SUCCESS;
    };
    table.cuStreamEndCapture = [](CUstream, CUgraph* graph) {
        now = after_end;
        *graph = nullptr;
        return answer;
    };
}

// Returns true when the capture goes on after its end failed with this answer.
bool goes_on_after(CUresult failure, Now then) {
    fake::reset();
    fake_captures();
    const StreamHandle stream = create_stream(primary_context(0), CU_STREAM_NON_BLOCKING, 0);
    const CaptureHandle capture = create_capture(stream, {});
    CHECK(begin_capture(*capture, CU_STREAM_CAPTURE_MODE_RELAXED) == CUDA_SUCCESS);
    answer = failure;
    after_end = then;
    CHECK(end_capture(*capture) == failure);
    const bool goes_on = capture->active;
    CHECK(capture->ended == !goes_on);
    answer = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    after_end = kNone;  // whatever goes on is ended with the handle
    return goes_on;
}

}  // namespace

TEST(CaptureEnd, FailureThatEndsTheCapture) {
    for (const CUresult failure : {CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD,
                                   CUDA_ERROR_STREAM_CAPTURE_UNJOINED})
        for (const Now then : {kNone, kNext, kNextSpoiled}) CHECK(!goes_on_after(failure, then));
}

TEST(CaptureEnd, FailureThatChangesNothing) {
    CHECK(goes_on_after(CUDA_ERROR_OUT_OF_MEMORY, kFirst));
}
