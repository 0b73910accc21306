// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Begin, end and conflicts of captures. Results match those of an H200 (tests/conformance/driver/h200.json, capture/*).
#include "hostdriver/objects/streams/capture.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

#include "hostdriver/entry.hpp"
#include "hostdriver/objects/base/arena.hpp"
#include "hostdriver/objects/devices/context.hpp"
#include "hostdriver/objects/graphs/graph.hpp"
#include "hostdriver/objects/graphs/node_kinds.hpp"
#include "hostdriver/objects/streams/intake.hpp"
#include "hostdriver/objects/streams/stream.hpp"

namespace cgh {
namespace {

// The captures in progress; guarded by the mutex. Never destroyed, because threads may capture while the process exits.
auto& captures = *new std::vector<std::unique_ptr<Capture>>;
std::atomic<std::uint64_t> last_id{0};

constexpr CUgraphEdgeData kDefaultEdge = {};

bool is_mode(CUstreamCaptureMode mode) {
    return mode == CU_STREAM_CAPTURE_MODE_GLOBAL || mode == CU_STREAM_CAPTURE_MODE_THREAD_LOCAL ||
           mode == CU_STREAM_CAPTURE_MODE_RELAXED;
}

bool is_node_of(CUgraphNode handle, const Graph& graph) {
    const Node* const node = cast<Node>(handle);
    return node != nullptr && node->graph == &graph;
}

// Returns whether the next node of a stream may depend on the set. The kind of that node is not known yet.
bool is_valid(const DependencySet& set, const Graph& graph) {
    for (std::size_t i = 0; i < set.nodes.size(); ++i) {
        if (!is_node_of(set.nodes[i], graph)) return false;
        const CUgraphNodeType from = cast<Node>(set.nodes[i])->kind->type;
        if (!is_valid_edge(set.edges[i], from, CU_GRAPH_NODE_TYPE_KERNEL)) return false;
    }
    return true;
}

}  // namespace

// ---- dependency sets ------------------------------------------------------------------------------------------------

void DependencySet::add(CUgraphNode node, const CUgraphEdgeData& edge) {
    const auto known = std::find(nodes.begin(), nodes.end(), node);
    if (known != nodes.end()) {
        CUgraphEdgeData& before = edges[static_cast<std::size_t>(known - nodes.begin())];
        if (!is_default(before)) before = edge;
        return;
    }
    nodes.push_back(node);
    edges.push_back(edge);
}

void DependencySet::add(const DependencySet& other) {
    for (std::size_t i = 0; i < other.nodes.size(); ++i) add(other.nodes[i], other.edges[i]);
}

void DependencySet::set(CUgraphNode node) {
    nodes.assign(1, node);
    edges.assign(1, kDefaultEdge);
}

bool DependencySet::has_edge_data() const {
    return std::any_of(edges.begin(), edges.end(), [](const CUgraphEdgeData& edge) { return !is_default(edge); });
}

// ---- begin ----------------------------------------------------------------------------------------------------------

std::mutex& Capture::mutex() {
    static std::mutex instance;
    return instance;
}

Capture::Capture(Stream& origin, CUstreamCaptureMode mode, Graph& graph, bool owns_graph)
    : id_(last_id.fetch_add(1, std::memory_order_relaxed) + 1),
      mode_(mode),
      thread_(this_thread_number()),
      origin_(origin),
      graph_(to_handle(&graph)),
      graph_uid_(graph.uid()),
      owns_graph_(owns_graph) {}

CUresult Capture::begin(Stream& origin, CUstreamCaptureMode mode) {
    GraphPtr graph = Graph::create(nullptr, GraphOwner::kUser);
    TRY(start(origin, mode, *graph, true, {}));
    graph.release();  // the capture holds the handle; the user may destroy the graph
    return CUDA_SUCCESS;
}

CUresult Capture::begin_to(Stream& origin, CUgraph handle, DependencySet dependencies, CUstreamCaptureMode mode) {
    Graph* const graph = cast<Graph>(handle);
    REQUIRE(graph != nullptr, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(is_valid(dependencies, *graph), CUDA_ERROR_INVALID_VALUE);
    return start(origin, mode, *graph, false, std::move(dependencies));
}

CUresult Capture::start(Stream& origin, CUstreamCaptureMode mode, Graph& graph, bool owns_graph, DependencySet next) {
    REQUIRE(is_mode(mode), CUDA_ERROR_INVALID_VALUE);
    // "Capture may not be initiated if stream is CU_STREAM_LEGACY" (cuda.h, cuStreamBeginCapture).
    if (origin.is_legacy()) return origin.intake().refuse(origin, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    std::lock_guard<std::mutex> lock(mutex());
    REQUIRE(origin.branch == nullptr && !graph.in_capture, CUDA_ERROR_ILLEGAL_STATE);
    std::unique_ptr<Capture> capture(new Capture(origin, mode, graph, owns_graph));
    captures.reserve(captures.size() + 1);  // the push_back below must not fail
    capture->add_branch(origin, std::move(next));
    captures.push_back(std::move(capture));
    all_captures_.fetch_add(1, std::memory_order_seq_cst);
    graph.in_capture = true;
    if (mode != CU_STREAM_CAPTURE_MODE_RELAXED) strict_captures_.fetch_add(1, std::memory_order_seq_cst);
    return CUDA_SUCCESS;
}

void Capture::add_branch(Stream& stream, DependencySet next) {
    branches_.push_back(std::unique_ptr<Branch>(new Branch{*this, &stream, std::move(next)}));
    stream.branch = branches_.back().get();
    stream.set_intake(record_intake());
    if (stream.is_blocking()) stream.context().begin_blocking_capture();
}

void Capture::leave(Stream& stream) {
    stream.branch = nullptr;
    stream.set_intake(run_intake());
    if (stream.is_blocking()) stream.context().end_blocking_capture();
}

// ---- branches -------------------------------------------------------------------------------------------------------

CUresult Capture::find(Stream& stream, Branch** out) {
    *out = stream.branch;
    if (*out == nullptr) return CUDA_SUCCESS;
    return (*out)->capture.invalidated_ ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : CUDA_SUCCESS;
}

Capture* Capture::find(std::uint64_t id) {
    for (const auto& capture : captures)
        if (capture->id_ == id) return capture.get();
    return nullptr;
}

Graph* Capture::graph() {
    Graph* const graph = cast<Graph>(graph_);
    if (graph != nullptr && graph->uid() == graph_uid_) return graph;
    invalidate();
    return nullptr;
}

void Capture::drop_dead(DependencySet& set) {
    const Graph* const ours = graph();
    std::size_t kept = 0;
    for (std::size_t i = 0; i < set.nodes.size(); ++i) {
        if (ours == nullptr || !is_node_of(set.nodes[i], *ours)) continue;
        if (kept != i) {  // another thread may read a set without dead nodes (CaptureInfo)
            set.nodes[kept] = set.nodes[i];
            set.edges[kept] = set.edges[i];
        }
        ++kept;
    }
    set.nodes.resize(kept);
    set.edges.resize(kept);
}

CUresult Capture::join(Stream& stream, const CapturedPoint& point) {
    std::lock_guard<std::mutex> lock(mutex());
    Capture* const capture = find(point.capture_id);
    REQUIRE(capture != nullptr && !capture->invalidated_, CUDA_ERROR_INVALID_VALUE);
    if (stream.is_legacy()) {
        capture->invalidate();
        return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    }
    // The stream is in a capture if another thread added it first.
    REQUIRE(stream.branch == nullptr, CUDA_ERROR_ILLEGAL_STATE);
    capture->add_branch(stream, point.dependencies);
    return CUDA_SUCCESS;
}

void Capture::settle(const DependencySet& set) {
    for (CUgraphNode node : set.nodes) tails_.erase(std::remove(tails_.begin(), tails_.end(), node), tails_.end());
}

void Capture::advance(Branch& branch, CUgraphNode node) {
    settle(branch.next);
    tails_.push_back(node);
    branch.next.set(node);
}

std::size_t Capture::count() {
    std::lock_guard<std::mutex> lock(mutex());
    return captures.size();
}

CUresult Capture::info(Stream& stream, CaptureInfo* out) {
    std::lock_guard<std::mutex> lock(mutex());
    // "if this is called on CU_STREAM_LEGACY while a blocking stream in the same context is capturing, it will return
    // CUDA_ERROR_STREAM_CAPTURE_IMPLICIT [...]. The blocking stream capture is not invalidated" (cuda.h).
    REQUIRE(!stream.is_legacy() || !stream.context().has_blocking_captures(), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    *out = {};
    if (stream.branch == nullptr) return CUDA_SUCCESS;
    Capture& capture = stream.branch->capture;
    capture.drop_dead(stream.branch->next);
    out->status = capture.invalidated_ ? CU_STREAM_CAPTURE_STATUS_INVALIDATED : CU_STREAM_CAPTURE_STATUS_ACTIVE;
    out->id = capture.id_;
    out->graph = capture.graph_;
    const DependencySet& next = stream.branch->next;
    out->nodes = next.nodes.data();
    out->edges = next.edges.data();
    out->count = next.nodes.size();
    out->has_edge_data = next.has_edge_data();
    return CUDA_SUCCESS;
}

CUresult Capture::update(Stream& stream, const DependencySet& dependencies, bool replace) {
    if (stream.is_legacy()) return stream.intake().refuse(stream, CUDA_ERROR_ILLEGAL_STATE);
    std::lock_guard<std::mutex> lock(mutex());
    Branch* branch = nullptr;
    TRY(find(stream, &branch));
    REQUIRE(branch != nullptr, CUDA_ERROR_ILLEGAL_STATE);
    const Graph* const graph = branch->capture.graph();
    REQUIRE(graph != nullptr, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    REQUIRE(is_valid(dependencies, *graph), CUDA_ERROR_INVALID_VALUE);
    // "Nodes that are removed from the dependency set via this API do not result in
    // CUDA_ERROR_STREAM_CAPTURE_UNJOINED" (cuda.h).
    if (replace) branch->capture.settle(branch->next);
    DependencySet next = replace ? DependencySet{} : branch->next;
    next.add(dependencies);
    branch->next = std::move(next);
    return CUDA_SUCCESS;
}

// ---- end ------------------------------------------------------------------------------------------------------------

// Returns whether all captured work was joined: the origin's next node would depend on every tail, directly or through
// edges. Edges that the user added count. A tail whose outgoing edge was removed later counts as joined.
bool Capture::is_joined() {
    const DependencySet& last = origin_.branch->next;
    const auto is_last = [&](CUgraphNode node) {
        return std::find(last.nodes.begin(), last.nodes.end(), node) != last.nodes.end();
    };
    if (std::all_of(tails_.begin(), tails_.end(), is_last)) return true;
    const Graph& ours = *graph();
    std::vector<bool> reached(ours.id_limit(), false);
    std::vector<const Node*> todo;
    const auto reach = [&](const Node* node) {
        if (reached[node->local_id]) return;
        reached[node->local_id] = true;
        todo.push_back(node);
    };
    for (CUgraphNode handle : last.nodes) reach(cast<Node>(handle));
    while (!todo.empty()) {
        const Node* const node = todo.back();
        todo.pop_back();
        for (const Edge& edge : node->dependencies) reach(edge.node);
    }
    return std::all_of(tails_.begin(), tails_.end(), [&](CUgraphNode handle) {
        return !is_node_of(handle, ours) || reached[cast<Node>(handle)->local_id];
    });
}

// Returns the result of ending the capture on its origin.
CUresult Capture::verdict() {
    REQUIRE(graph() != nullptr && !invalidated_, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    REQUIRE(mode_ == CU_STREAM_CAPTURE_MODE_RELAXED || thread_ == this_thread_number(),
            CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
    drop_dead(origin_.branch->next);
    REQUIRE(is_joined(), CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
    return CUDA_SUCCESS;
}

std::unique_ptr<Capture> Capture::close(bool keep_graph, GraphPtr* unwanted) {
    for (const auto& branch : branches_)
        if (branch->stream != nullptr) leave(*branch->stream);
    if (mode_ != CU_STREAM_CAPTURE_MODE_RELAXED) strict_captures_.fetch_sub(1, std::memory_order_seq_cst);
    if (Graph* const ours = graph()) {
        ours->in_capture = false;
        // An H200 destroys the graph of a failed capture, even a graph that the caller passed in. The host driver keeps
        // a graph that is inside another one; on an H200 use of the outer graph then crashes.
        if (!keep_graph && ours->owner() == GraphOwner::kUser) unwanted->reset(ours);
    }
    const auto own =
        std::find_if(captures.begin(), captures.end(), [&](const auto& capture) { return capture.get() == this; });
    std::unique_ptr<Capture> closed = std::move(*own);
    captures.erase(own);
    all_captures_.fetch_sub(1, std::memory_order_seq_cst);
    return closed;
}

CUresult Capture::end(Stream& stream, CUgraph* out) {
    if (stream.is_legacy()) return stream.intake().refuse(stream, CUDA_ERROR_ILLEGAL_STATE);
    GraphPtr unwanted;  // destroyed after unlocking, because that runs destructors of user objects
    std::lock_guard<std::mutex> lock(mutex());
    REQUIRE(stream.branch != nullptr, CUDA_ERROR_ILLEGAL_STATE);
    Capture& capture = stream.branch->capture;
    if (&capture.origin_ != &stream) {
        capture.invalidate();
        return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
    }
    const CUresult result = capture.verdict();
    const CUgraph graph = result == CUDA_SUCCESS ? capture.graph_ : nullptr;
    // A new graph without an `out` argument would leak.
    const bool keep = result == CUDA_SUCCESS && (out != nullptr || !capture.owns_graph_);
    capture.close(keep, &unwanted);
    if (out != nullptr) *out = graph;
    return result;
}

void Capture::forget(Stream& stream) {
    GraphPtr unwanted;
    std::lock_guard<std::mutex> lock(mutex());
    if (stream.branch == nullptr) return;
    Capture& capture = stream.branch->capture;
    if (&capture.origin_ == &stream) {
        capture.close(false, &unwanted);
    } else {
        stream.branch->stream = nullptr;
        leave(stream);
    }
}

// ---- what captures forbid -------------------------------------------------------------------------------------------

CUresult Capture::refuse_captured_event(const CapturedPoint& point) {
    std::lock_guard<std::mutex> lock(mutex());
    Capture* const capture = find(point.capture_id);
    REQUIRE(capture != nullptr && !capture->invalidated_, CUDA_ERROR_INVALID_VALUE);
    capture->invalidate();
    return CUDA_ERROR_CAPTURED_EVENT;
}

CUresult Capture::refuse_elapsed_time(const CapturedPoint& point) {
    std::lock_guard<std::mutex> lock(mutex());
    const Capture* const capture = find(point.capture_id);
    return capture != nullptr && !capture->invalidated_ ? CUDA_ERROR_CAPTURED_EVENT : CUDA_ERROR_INVALID_VALUE;
}

CUresult Capture::refuse_legacy_stream(Context& context) {
    std::lock_guard<std::mutex> lock(mutex());
    for (const auto& capture : captures)
        for (const auto& branch : capture->branches_)
            if (branch->stream != nullptr && branch->stream->is_blocking() && &branch->stream->context() == &context)
                capture->invalidate();
    return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
}

CUresult Capture::refuse_context(const Context& context, const GreenContext* green) {
    std::lock_guard<std::mutex> lock(mutex());
    bool conflicts = false;
    for (const auto& capture : captures)
        for (const auto& branch : capture->branches_) {
            const Stream* const stream = branch->stream;
            if (stream == nullptr || &stream->context() != &context) continue;
            if (green != nullptr && stream->green() != green) continue;
            capture->invalidate();
            conflicts = true;
        }
    return conflicts ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : CUDA_SUCCESS;
}

CUresult Capture::refuse_synchronize(Context& context) {
    if (all_captures_.load(std::memory_order_seq_cst) == 0) return CUDA_SUCCESS;
    std::lock_guard<std::mutex> lock(mutex());
    bool conflicts = false;
    for (const auto& capture : captures) {
        if (&capture->origin_.context() != &context) continue;
        capture->invalidate();
        conflicts = true;
    }
    return conflicts ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : CUDA_SUCCESS;
}

// cuda.h, cuThreadExchangeStreamCaptureMode. In a thread with mode global, its own captures that are not relaxed and
// the global captures of other threads forbid unsafe calls. With mode thread-local only its own captures do, with mode
// relaxed none.
bool Capture::forbids_unsafe_calls() const {
    if (mode_ == CU_STREAM_CAPTURE_MODE_RELAXED) return false;
    if (thread_ == this_thread_number()) return true;
    return thread_state.capture_mode == CU_STREAM_CAPTURE_MODE_GLOBAL && mode_ == CU_STREAM_CAPTURE_MODE_GLOBAL;
}

CUresult Capture::refuse_unsafe_call() {
    if (thread_state.capture_mode == CU_STREAM_CAPTURE_MODE_RELAXED) return CUDA_SUCCESS;
    std::lock_guard<std::mutex> lock(mutex());
    bool forbidden = false;
    for (const auto& capture : captures) {
        if (!capture->forbids_unsafe_calls()) continue;
        capture->invalidate();
        forbidden = true;
    }
    return forbidden ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : CUDA_SUCCESS;
}

}  // namespace cgh
