// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The end of captures. When cuStreamEndCapture fails, the driver destroys the captured graph, even if it is the body of
// a conditional node that still refers to it. Destroying that node, its graph, or a graph around it then crashes the
// process (libcuda 580 on an H200). The same happens when the stream that captures a body is destroyed instead, or when
// a graph is destroyed while a body in it is being captured. Therefore, in this order:
//
//   * Causes that would make the end of a body's capture fail are refused or mended before the driver is called.
//   * Before a capture that will fail is ended, the captures of its bodies are ended.
//   * When the end of a body's capture failed, the graphs around it are poisoned: never used again, and leaked.
//   * The capture of a poisoned graph is made to end successfully. If that is impossible, its stream is abandoned.
#include <memory>
#include <utility>

#include "capture.hpp"
#include "core/driver/table.hpp"
#include "core/handles/gil.hpp"
#include "core/handles/lock.hpp"

namespace cg {

void detail::retire(CaptureBox& capture) noexcept {
    capture.active = false;
    leave(capture);
    untie_stream(capture.origin, capture);
    if (capture.box().capture == &capture) capture.box().capture = nullptr;
}

namespace {

using detail::retire;

// Sets `sound` to true when the capture is active and has not been spoiled.
CUresult ask_sound(const CaptureBox& capture, bool* sound) noexcept {
    const GilRelease released;
    CUstreamCaptureStatus now = CU_STREAM_CAPTURE_STATUS_NONE;
    const CUresult status = driver().cuStreamIsCapturing(*capture.origin, &now);
    *sound = status == CUDA_SUCCESS && now == CU_STREAM_CAPTURE_STATUS_ACTIVE;
    return status;
}

// Returns true when the capture is still active after cuStreamEndCapture failed. If it was ended, another thread may
// have begun the next capture of the stream already: that one has another id. If the driver gives no id, the failure
// decides: a spoiled capture, one of another thread, or one with unjoined forks is over.
bool goes_on_after(CUresult failure, const CaptureBox& capture) noexcept {
    CUstreamCaptureStatus now = CU_STREAM_CAPTURE_STATUS_NONE;
    const CUresult status = driver().cuStreamIsCapturing(*capture.origin, &now);
    if (status == CUDA_SUCCESS && now == CU_STREAM_CAPTURE_STATUS_NONE) return false;
    CaptureState state;
    const bool is_told = status == CUDA_SUCCESS && now == CU_STREAM_CAPTURE_STATUS_ACTIVE &&
                         ask_capture(*capture.origin, &state) == CUDA_SUCCESS;
    if (is_told && state.status != CU_STREAM_CAPTURE_STATUS_INVALIDATED)
        return state.status == CU_STREAM_CAPTURE_STATUS_ACTIVE && state.id == capture.id;
    return failure != CUDA_ERROR_STREAM_CAPTURE_INVALIDATED && failure != CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD &&
           failure != CUDA_ERROR_STREAM_CAPTURE_UNJOINED && !is_shut_down(status);
}

CUresult join_forks(CaptureBox& capture) noexcept {
    for (std::size_t i = 0; i < capture.forks.size(); ++i) {  // other threads may add some while the GIL is released
        const StreamHandle stream = capture.forks[i].stream;
        if (capture.forks[i].joined || !stream) continue;
        CUresult status = CUDA_SUCCESS;
        {
            const GilRelease released;
            status = order_within(capture, capture.origin, stream);
        }
        if (status != CUDA_SUCCESS) return status;
        capture.forks[i].joined = true;
    }
    return CUDA_SUCCESS;
}

// Joins the forks, without which the end would fail. On failure the capture is still sound, and a later try may
// succeed.
CUresult make_joined(CaptureBox& capture, bool* sound) noexcept {
    const CUresult status = *sound ? join_forks(capture) : CUDA_SUCCESS;
    if (status == CUDA_SUCCESS) return status;
    const CUresult asked = ask_sound(capture, sound);
    if (must_retry(asked)) return asked;
    return *sound ? status : CUDA_SUCCESS;
}

void end_bodies(CaptureBox& capture) {
    for (CaptureBox* inner : list_inner_captures(capture.box())) {
        const CaptureHandle alive = inner->self.lock();
        if (alive) abandon_capture(*alive);
    }
}

// Destroys a graph that is not the capture's: either the capture's graph was never learnt, or foreign code ended the
// capture and began another.
CUresult drop_other(CaptureBox& capture, CUgraph ended) noexcept {
    GraphBox& box = capture.box();
    const bool was_known = box.raw != nullptr;
    box.is_abandoned = true;
    if (was_known && !capture.into_body) mark_graph_destroyed(box);
    const GilRelease released;
    const CUresult status = driver().cuGraphDestroy(ended);
    return status == CUDA_SUCCESS && was_known ? CUDA_ERROR_STREAM_CAPTURE_UNMATCHED : status;
}

CUresult destroy_strays(CaptureBox& capture) noexcept {
    const GilRelease released;
    CUresult status = CUDA_SUCCESS;
    for (CUgraphNode node : std::exchange(capture.strays, {}))
        if (status == CUDA_SUCCESS) status = driver().cuGraphDestroyNode(node);
    return status;
}

CUresult take_graph(CaptureBox& capture, CUgraph ended) noexcept {
    GraphBox& box = capture.box();
    if (ended != box.raw) return drop_other(capture, ended);
    if (is_poisoned(box)) {
        if (!capture.into_body) mark_graph_destroyed(box);
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    }
    if (!capture.into_body) own_root(box);
    CUresult status = destroy_strays(capture);
    if (status == CUDA_SUCCESS) status = box.owners.end_capture(box.raw);
    if (status != CUDA_SUCCESS) box.is_abandoned = true;  // it has a stray node, or its nodes lack their owners
    return status;
}

void lose_graph(CaptureBox& capture) noexcept {
    GraphBox* box = &capture.box();
    if (capture.into_body) poison(*box);
    mark_graph_destroyed(*box);
    for (NodeRecord* holder = box->holder; holder != nullptr; holder = holder->graph->holder)
        holder->graph->is_abandoned = true;
}

// Gives up the capture and its stream, which stays in its state for ever.
CUresult leave_alone(CaptureBox& capture) noexcept {
    box_of<StreamBox>(capture.origin)->owned = false;
    retire(capture);
    mark_graph_destroyed(capture.box());
    return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
}

CUresult ask_to_end(CaptureBox& capture) noexcept {
    CUgraph ended = nullptr;
    CUresult status = CUDA_SUCCESS;
    bool goes_on = false;
    {
        const GilRelease released;
        const Lock alone(capture.calls);  // waits while a call looks for the node that it made
        status = driver().cuStreamEndCapture(*capture.origin, &ended);
        goes_on = status != CUDA_SUCCESS && goes_on_after(status, capture);
        capture.ended = !goes_on;
    }
    if (goes_on) return status;
    retire(capture);
    if (status == CUDA_SUCCESS) return take_graph(capture, ended);
    lose_graph(capture);
    return status;
}

CUresult end_safely(CaptureBox& capture, bool sound) {
    if (!sound || capture.has_unjoined()) end_bodies(capture);
    if (is_poisoned(capture.box())) {
        if (!sound && !capture.into_body) return leave_alone(capture);
        const CUresult status = make_joined(capture, &sound);
        if (status != CUDA_SUCCESS) return status;
    }
    return ask_to_end(capture);
}

// Calls `end` once. Refuses when the state of the capture cannot be queried, as inside a host function, since the steps
// depend on it.
template <class End>
CUresult once(CaptureBox& capture, End end) {
    if (!capture.active) return CUDA_SUCCESS;
    if (in_host_function()) return CUDA_ERROR_NOT_PERMITTED;
    if (std::exchange(capture.ending, true)) return CUDA_ERROR_ILLEGAL_STATE;  // another thread is ending it
    bool sound = false;
    const CUresult asked = ask_sound(capture, &sound);
    const CUresult status = must_retry(asked) ? asked : end(sound);
    capture.ending = false;
    return status;
}

}  // namespace

CUresult end_capture(CaptureBox& capture) noexcept {
    return once(capture, [&](bool sound) {
        if (capture.is_foreign_thread()) return CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
        if (capture.into_body && capture.has_unjoined() && sound) return CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
        return end_safely(capture, sound);
    });
}

CUresult abandon_capture(CaptureBox& capture) noexcept {
    if (is_forked_child()) return CUDA_SUCCESS;  // a forked child has no captures
    return once(capture, [&](bool sound) {
        // A body's capture of another thread: that thread ends it when it next creates or closes an object.
        if (capture.into_body && capture.is_foreign_thread() && sound) return CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
        const CUresult status = capture.into_body ? make_joined(capture, &sound) : CUDA_SUCCESS;
        return status == CUDA_SUCCESS ? end_safely(capture, sound) : status;
    });
}

bool CaptureBox::finish() noexcept {
    if (!active) return true;
    const GilAcquire python;
    if (!python) return true;  // at interpreter exit the stream and its capture end with the process
    const CUresult status = abandon_capture(*this);
    return !active || !must_retry(status);
}

}  // namespace cg
