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

std::atomic<int> active_captures{0};

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

CaptureHandle find_active(cuuint64_t id) {
    const Lock lock(active().mutex);
    if (!lock) return nullptr;
    for (CaptureBox* capture : active().captures)
        if (capture->id == id) return capture->self.lock();
    return nullptr;
}

// Copies the arrays of a state, which are valid only until the next call for the stream.
CaptureTail tail_of(const CaptureState& state) {
    CaptureTail tail;
    tail.nodes.assign(state.tail, state.tail + state.count);
    tail.edges.resize(state.count);
    if (state.edges != nullptr) std::copy_n(state.edges, state.count, tail.edges.begin());
    return tail;
}

CUresult ask_to_begin(const CaptureBox& capture, CUstreamCaptureMode mode) {
    if (driver().cuStreamGetCaptureInfo == nullptr) return CUDA_ERROR_NOT_SUPPORTED;
    if (!capture.into_body) return driver().cuStreamBeginCapture(*capture.origin, mode);
    if (driver().cuStreamBeginCaptureToGraph == nullptr) return CUDA_ERROR_NOT_SUPPORTED;
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

CUresult order_after(const StreamHandle& stream, const StreamHandle& other) {
    const EventHandle here = create_event(box_of<StreamBox>(other)->context, false, false);
    if (!here) return take_noted_error().status;
    const CUresult status = driver().cuEventRecord(*here, *other);
    return status == CUDA_SUCCESS ? driver().cuStreamWaitEvent(*stream, *here, 0) : status;
}

CUresult order_within(CaptureBox& capture, const StreamHandle& stream, const StreamHandle& other) {
    const Lock alone(capture.calls);
    return order_after(stream, other);
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

CUresult ask_capture(CUstream stream, CaptureState* state) noexcept {
    return driver().cuStreamGetCaptureInfo(stream, &state->status, &state->id, &state->graph, &state->tail,
                                           &state->edges, &state->count);
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
    tail = tail_of(state);
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

namespace {

CUresult capture_node(CaptureBox& capture, CUstream stream, NodeSpec& spec, CUgraphNode* node) {
    CaptureState state;
    CUresult status = ask_capture(stream, &state);
    if (status != CUDA_SUCCESS) return status;
    if (state.status != CU_STREAM_CAPTURE_STATUS_ACTIVE) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    const CaptureTail tail = tail_of(state);
    status = make_node({state.graph, tail.nodes.data(), tail.nodes.size(), tail.edges.data()}, spec, node);
    if (status != CUDA_SUCCESS) return status;
    status = driver().cuStreamUpdateCaptureDependencies(stream, node, nullptr, 1, CU_STREAM_SET_CAPTURE_DEPENDENCIES);
    // libcuda 580 on an H200 refuses this with CUDA_ERROR_ILLEGAL_STATE while the graph is captured into.
    if (status != CUDA_SUCCESS && driver().cuGraphDestroyNode(*node) != CUDA_SUCCESS) capture.strays.push_back(*node);
    return status;
}

}  // namespace

CUresult CapturedCall::add(NodeSpec& spec) {
    CUgraphNode node = nullptr;
    const CUresult status = capture_node(*capture_, stream_, spec, &node);
    if (status != CUDA_SUCCESS || spec.params.type != CU_GRAPH_NODE_TYPE_CONDITIONAL) return status;
    const CUDA_CONDITIONAL_NODE_PARAMS& made = spec.params.conditional;
    condition_ = made.handle;
    inner_.assign(made.phGraph_out, made.phGraph_out + made.size);  // the array is destroyed with the node
    return status;
}

bool CapturedCall::find(const StreamHandle& stream) {
    stream_ = *stream;
    const CaptureBox* tied = box_of<StreamBox>(stream)->capture;
    if (tied != nullptr && tied->active)
        capture_ = tied->self.lock();
    else if (active_captures.load() != 0)
        capture_ = find_joined();
    return is_captured();
}

// Finds the capture of a stream that joined it by waiting for one of its events. Two failed queries are no errors here.
// The legacy stream beside a capture is in no capture. A host function cannot query captures, and there the driver
// refuses the call itself.
CaptureHandle CapturedCall::find_joined() {
    if (driver_is_lost()) return nullptr;  // a forked child has no captures
    const GilRelease released;
    CaptureState state;
    asked_ = ask_capture(stream_, &state);
    if (asked_ == CUDA_ERROR_STREAM_CAPTURE_IMPLICIT || is_refused_here(asked_)) asked_ = CUDA_SUCCESS;
    return state.status == CU_STREAM_CAPTURE_STATUS_ACTIVE ? find_active(state.id) : nullptr;
}

bool CapturedCall::keep(Opaque first, Opaque second) noexcept {
    GraphBox& graph = capture_->box();
    owners_ = graph.owners.prepare(graph.raw, std::move(first), std::move(second));
    return owners_.page != nullptr;
}

void CapturedCall::look(CUresult status) noexcept {
    if (!is_captured()) return;
    status_ = status;
    asked_ = ask_capture(stream_, &state_);
    // The array is valid only until the next call for the stream. If the capture is another one, then this call's
    // capture was ended, and the other begun, since find(); its array must not be read.
    const bool is_ours =
        asked_ == CUDA_SUCCESS && state_.status == CU_STREAM_CAPTURE_STATUS_ACTIVE && state_.id == capture_->id;
    node_ = is_ours && state_.count == 1 ? state_.tail[0] : nullptr;
    alone_.reset();
}

bool CapturedCall::has_spoiled() const noexcept {
    return asked_ == CUDA_SUCCESS && state_.status == CU_STREAM_CAPTURE_STATUS_INVALIDATED;
}

NodeRecord* CapturedCall::settle(NodeKind kind) {
    GraphBox& graph = capture_->box();
    const bool has_node = status_ == CUDA_SUCCESS && node_ != nullptr && capture_->active;
    if (has_node) {
        NodeRecord& node = add_node(graph, node_, kind, std::exchange(owners_, {}));
        for (CUgraph raw : inner_) add_inner_graph(node, raw);
        if (!inner_.empty()) node.make_facts().condition = condition_;
        return &node;
    }
    // A node that was made but not found still needs its owners, so they stay with the graph. The page lives as long as
    // the graph. After another thread has ended the capture, both may be destroyed, so the page is not touched.
    if (status_ != CUDA_SUCCESS && capture_->active) graph.owners.rollback(owners_);
    owners_ = {};
    return nullptr;
}

}  // namespace cg
