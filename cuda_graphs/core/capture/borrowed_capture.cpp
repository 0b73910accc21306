// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Captures that foreign code began and will end. "All operations other than destroy and node removal are permitted on
// the graph while the capture sequence is in progress" (cuda.h, cuStreamGetCaptureInfo). So this library adds nodes to
// the graph, and attaches their owners to it as user objects. When the capture is spoiled, the driver destroys the
// graph and the user objects with it.
#include "capture.hpp"
#include "core/driver/table.hpp"
#include "core/handles/gil.hpp"

namespace cg {

CaptureHandle borrow_capture(const StreamHandle& stream, CUresult* status) {
    CaptureState state;
    {
        const GilRelease released;
        CUstreamCaptureStatus now = CU_STREAM_CAPTURE_STATUS_NONE;
        *status = driver().cuStreamIsCapturing(*stream, &now);
        if (*status != CUDA_SUCCESS || now == CU_STREAM_CAPTURE_STATUS_NONE) return nullptr;
        *status = ask_capture(*stream, &state);
    }
    if (*status == CUDA_SUCCESS && state.status != CU_STREAM_CAPTURE_STATUS_ACTIVE)
        *status = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    if (*status != CUDA_SUCCESS) return nullptr;
    CaptureHandle capture = create_capture(stream, {});
    GraphBox& box = capture->box();
    detail::enter(*capture);
    capture->active = true;
    capture->id = state.id;
    capture->thread = std::this_thread::get_id();
    box.raw = state.graph;
    box.capture = capture.get();
    box.owners.begin_capture();
    note_handed_out(box);
    tie_stream(stream, *capture);
    return capture;
}

CUresult return_capture(CaptureBox& capture) noexcept {
    GraphBox& box = capture.box();
    CaptureState state;
    CUresult status = CUDA_SUCCESS;
    {
        const GilRelease released;
        status = ask_capture(*capture.origin, &state);
    }
    detail::retire(capture);
    const bool is_there =
        status == CUDA_SUCCESS && state.status == CU_STREAM_CAPTURE_STATUS_ACTIVE && state.id == capture.id;
    if (is_there) status = box.owners.end_capture(box.raw);
    if (is_there && status == CUDA_SUCCESS) status = share_owners(box);
    if (!is_there) mark_graph_destroyed(box);
    return status;
}

}  // namespace cg
