// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "captured_call.hpp"

#include <utility>

#include "core/driver/table.hpp"
#include "core/handles/gil.hpp"

namespace cg {

bool CapturedCall::find_capture(const StreamHandle& stream) {
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
    if (is_forked_child()) return nullptr;  // a forked child has no captures
    const GilRelease released;
    CaptureState state;
    asked_ = ask_capture(stream_, &state);
    if (asked_ == CUDA_ERROR_STREAM_CAPTURE_IMPLICIT || is_refused_here(asked_)) asked_ = CUDA_SUCCESS;
    return state.status == CU_STREAM_CAPTURE_STATUS_ACTIVE ? find_active_capture(state.id) : nullptr;
}

bool CapturedCall::keep_owners(Opaque first, Opaque second) noexcept {
    GraphBox& graph = capture_->box();
    owners_ = graph.owners.prepare(graph.raw, {std::move(first), std::move(second)});
    return owners_.page != nullptr;
}

void CapturedCall::find_node() noexcept {
    asked_ = ask_capture(stream_, &state_);
    // The array is valid only until the next call for the stream. If the capture is another one, then this call's
    // capture was ended, and the other begun, since find_capture(); its array must not be read.
    const bool is_ours =
        asked_ == CUDA_SUCCESS && state_.status == CU_STREAM_CAPTURE_STATUS_ACTIVE && state_.id == capture_->id;
    node_ = is_ours && state_.count == 1 ? state_.tail[0] : nullptr;
}

bool CapturedCall::is_spoiled() const noexcept {
    return asked_ == CUDA_SUCCESS && state_.status == CU_STREAM_CAPTURE_STATUS_INVALIDATED;
}

NodeRecord* CapturedCall::record_node(NodeKind kind) {
    GraphBox& graph = capture_->box();
    const bool has_node = status_ == CUDA_SUCCESS && node_ != nullptr && capture_->active;
    if (has_node) {
        NodeRecord& node = add_node(graph, node_, kind, std::exchange(owners_, {}));
        for (CUgraph raw : inner_) add_inner_graph(node, raw);
        if (!inner_.empty()) node.make_metadata().condition = condition_;
        return &node;
    }
    // A node that was made but not found still needs its owners, so they stay with the graph. The page lives as long as
    // the graph. After another thread has ended the capture, both may be destroyed, so the page is not touched.
    if (status_ != CUDA_SUCCESS && capture_->active) graph.owners.rollback(owners_);
    owners_ = {};
    return nullptr;
}

namespace {

CUresult add_to_capture(CaptureBox& capture, CUstream stream, NodeSpec& spec, CUgraphNode* node) {
    CaptureState state;
    CUresult status = ask_capture(stream, &state);
    if (status != CUDA_SUCCESS) return status;
    if (state.status != CU_STREAM_CAPTURE_STATUS_ACTIVE) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    const CaptureTail tail(state);
    status = make_node({state.graph, tail.nodes.data(), tail.nodes.size(), tail.edges.data()}, spec, node);
    if (status != CUDA_SUCCESS) return status;
    status = driver().cuStreamUpdateCaptureDependencies(stream, node, nullptr, 1, CU_STREAM_SET_CAPTURE_DEPENDENCIES);
    // libcuda 580 on an H200 refuses this with CUDA_ERROR_ILLEGAL_STATE while the graph is captured into.
    if (status != CUDA_SUCCESS && driver().cuGraphDestroyNode(*node) != CUDA_SUCCESS) capture.strays.push_back(*node);
    return status;
}

}  // namespace

CUresult CapturedCall::run_add(NodeSpec& spec) {
    return run([&] {
        CUgraphNode node = nullptr;
        const CUresult status = add_to_capture(*capture_, stream_, spec, &node);
        if (status != CUDA_SUCCESS || spec.params.type != CU_GRAPH_NODE_TYPE_CONDITIONAL) return status;
        const CUDA_CONDITIONAL_NODE_PARAMS& made = spec.params.conditional;
        condition_ = made.handle;
        // The array is destroyed with the node, when another thread ends the capture: after this call at the earliest.
        inner_.assign(made.phGraph_out, made.phGraph_out + made.size);
        return status;
    });
}

}  // namespace cg
