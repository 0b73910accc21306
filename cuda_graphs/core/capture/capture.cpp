// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "capture.hpp"

#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "core/driver/table.hpp"
#include "core/handles/error.hpp"
#include "core/handles/gil.hpp"
#include "core/handles/lock.hpp"
#include "core/resources/event.hpp"

namespace cg {

namespace {

struct Active {
    std::mutex mutex;
    std::vector<CaptureBox*> captures;  // guarded by mutex
};

// Never destroyed: captures may end after static destructors.
Active& active() {
    static auto& all = *new Active;
    return all;
}

CUresult ask_to_begin(const CaptureBox& capture, CUstreamCaptureMode mode) {
    if (!capture.into_body) return driver().cuStreamBeginCapture(*capture.origin, mode);
    return driver().cuStreamBeginCaptureToGraph(*capture.origin, capture.box().raw, nullptr, nullptr, 0, mode);
}

}  // namespace

void detail::enter(CaptureBox& capture) {
    const Lock lock(active().mutex);
    if (!lock) return;
    active().captures.push_back(&capture);
    active_captures.fetch_add(1);
}

void detail::leave(CaptureBox& capture) noexcept {
    const Lock lock(active().mutex);
    if (!lock) return;
    auto& all = active().captures;
    all.erase(std::remove(all.begin(), all.end(), &capture), all.end());
    active_captures.fetch_sub(1);
}

bool CaptureBox::has_unjoined() const noexcept {
    return std::any_of(forks.begin(), forks.end(), [](const Fork& fork) { return !fork.joined; });
}

namespace {
constexpr std::size_t kUsualLength = 64;  // usual number of operations in a ledger
}

CaptureHandle create_capture(const StreamHandle& origin, const NodeHandle& body) {
    CaptureHandle capture = make_box<CaptureBox>();
    capture->origin = origin;
    capture->into_body = static_cast<bool>(body);
    capture->graph = body ? body : create_graph_to_capture();
    capture->self = capture;
    return capture;
}

CUresult begin_capture(CaptureBox& capture, CUstreamCaptureMode mode) {
    GraphBox& box = capture.box();
    CaptureState state;
    CUresult status = CUDA_SUCCESS;
    if (capture.into_body) about_to_change(box);
    detail::enter(capture);
    capture.mode = mode;
    capture.thread = std::this_thread::get_id();
    {
        const GilRelease released;
        status = ask_to_begin(capture, mode);
        capture.active = status == CUDA_SUCCESS;
        if (capture.active) status = ask_capture(*capture.origin, &state);
    }
    if (!capture.active) return detail::leave(capture), status;
    box.capture = &capture;
    box.owners.begin_capture();
    note_handed_out(box);  // by the stream
    tie_stream(capture.origin, capture);
    if (status != CUDA_SUCCESS) return status;
    if (state.status != CU_STREAM_CAPTURE_STATUS_ACTIVE) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    capture.id = state.id;
    capture.ledger.reserve(kUsualLength);
    if (!capture.into_body) box.raw = state.graph;
    return CUDA_SUCCESS;
}

void tie_stream(const StreamHandle& stream, CaptureBox& capture) noexcept {
    box_of<StreamBox>(stream)->capture = &capture;
}

void untie_stream(const StreamHandle& stream, const CaptureBox& capture) noexcept {
    StreamBox& box = *box_of<StreamBox>(stream);
    if (box.capture == &capture) box.capture = nullptr;
}

CUresult order_within(CaptureBox& capture, const StreamHandle& stream, const StreamHandle& other) {
    const Lock alone(capture.calls);
    const EventHandle here = create_event(box_of<StreamBox>(other)->context, false, false);
    if (!here) return take_noted_error().status;
    const CUresult status = driver().cuEventRecord(*here, *other);
    return status == CUDA_SUCCESS ? driver().cuStreamWaitEvent(*stream, *here, 0) : status;
}

std::vector<CaptureHandle> list_active_captures() {
    std::vector<CaptureHandle> found;
    const Lock lock(active().mutex);
    if (!lock) return found;
    found.reserve(active().captures.size());  // no reallocation may drop, and so end, a capture under the mutex
    for (CaptureBox* capture : active().captures)
        if (CaptureHandle handle = capture->self.lock()) found.push_back(std::move(handle));
    return found;
}

CaptureHandle find_active_capture(cuuint64_t id) {
    const Lock lock(active().mutex);
    if (!lock) return nullptr;
    for (CaptureBox* capture : active().captures)
        if (capture->id == id) return capture->self.lock();
    return nullptr;
}

CUresult ask_capture(CUstream stream, CaptureState* state) noexcept {
    return driver().cuStreamGetCaptureInfo(stream, &state->status, &state->id, &state->graph, &state->tail,
                                           &state->edges, &state->count);
}

CaptureTail::CaptureTail(const CaptureState& state) : nodes(state.tail, state.tail + state.count), edges(state.count) {
    if (state.edges != nullptr) std::copy_n(state.edges, state.count, edges.begin());
}

void CaptureTail::add(const CaptureTail& other) {
    for (std::size_t i = 0; i < other.nodes.size(); ++i) {
        if (std::find(nodes.begin(), nodes.end(), other.nodes[i]) != nodes.end()) continue;
        nodes.push_back(other.nodes[i]);
        edges.push_back(other.edges[i]);
    }
}

CUresult get_tail(CUstream stream, CaptureTail& tail) {
    CaptureState state;
    const CUresult status = ask_capture(stream, &state);
    if (status != CUDA_SUCCESS) return status;
    if (state.status != CU_STREAM_CAPTURE_STATUS_ACTIVE) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    tail = CaptureTail(state);
    return CUDA_SUCCESS;
}

CUresult set_tail(CUstream stream, const CaptureTail& tail) {
    CaptureTail now;
    const CUresult status = get_tail(stream, now);
    if (status != CUDA_SUCCESS || now.nodes == tail.nodes) return status;
    CaptureTail copy = tail;  // the driver takes non-const pointers
    return driver().cuStreamUpdateCaptureDependencies(stream, copy.nodes.data(), copy.edges.data(), copy.nodes.size(),
                                                      CU_STREAM_SET_CAPTURE_DEPENDENCIES);
}

CUresult capture_condition(CaptureBox& capture, CUcontext context, unsigned int value, unsigned int flags,
                           CUgraphConditionalHandle* condition) {
    const Lock alone(capture.calls);
    CaptureState state;
    const CUresult status = ask_capture(*capture.origin, &state);
    if (status != CUDA_SUCCESS) return status;
    if (state.status != CU_STREAM_CAPTURE_STATUS_ACTIVE || state.id != capture.id)
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    return driver().cuGraphConditionalHandleCreate(condition, state.graph, context, value, flags);
}

}  // namespace cg
