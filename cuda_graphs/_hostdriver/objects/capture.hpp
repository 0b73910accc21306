// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Captures: a graph that grows by what callers hand to streams. A capture begins on one stream, its origin; other
// streams join it by waiting for an event that was recorded inside. Each stream in it is a branch, which knows the
// nodes that its next one will depend on.
//
// An illegal call invalidates the capture: from then on its streams answer with CUDA_ERROR_STREAM_CAPTURE_INVALIDATED
// until it is ended on its origin. One mutex guards every capture of the process and the graphs that they grow, so
// that the streams of a capture may be used from different threads. Nothing that could run foreign code (kernels, user
// objects, host functions) happens while it is held.
#ifndef CUDA_GRAPHS_HOSTDRIVER_OBJECTS_CAPTURE_HPP
#define CUDA_GRAPHS_HOSTDRIVER_OBJECTS_CAPTURE_HPP

#include <cuda.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "node_params.hpp"

namespace cgh {

class Capture;
class Context;
class Stream;

// The nodes that something depends on, each with the data of the edge that will come of it.
struct DependencySet {
    std::vector<CUgraphNode> nodes;
    std::vector<CUgraphEdgeData> edges;  // as many

    void add(CUgraphNode node, const CUgraphEdgeData& edge);  // once; a default edge is the stronger
    void add(const DependencySet& other);
    void set(CUgraphNode node);
    bool has_edge_data() const;
};

// What an event recorded in a capture stands for.
struct CapturedPoint {
    std::uint64_t capture_id;
    DependencySet dependencies;
};

struct Branch {
    Capture& capture;
    Stream* stream;      // null when it was destroyed: what it did is still to be joined
    DependencySet next;  // what the stream's next node depends on
};

// What cuStreamGetCaptureInfo tells of a stream. The arrays are the branch's own: good until it captures more or ends,
// and untouched by questions, of other threads as well.
struct CaptureInfo {
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    std::uint64_t id = 0;
    CUgraph graph = nullptr;
    const CUgraphNode* nodes = nullptr;
    const CUgraphEdgeData* edges = nullptr;
    std::size_t count = 0;
    bool has_edge_data = false;
};

class Capture {
  public:
    // To a new graph, or to `graph` (a handle), where the first nodes depend on `dependencies`.
    static CUresult begin(Stream& origin, CUstreamCaptureMode mode);
    static CUresult begin_to(Stream& origin, CUgraph graph, DependencySet dependencies, CUstreamCaptureMode mode);
    static CUresult end(Stream& origin, CUgraph* out);

    static CUresult info(Stream& stream, CaptureInfo* out);
    static CUresult update(Stream& stream, const DependencySet& dependencies, bool replace);

    // A stream that is in no capture waits for an event that was recorded in one.
    static CUresult join(Stream& stream, const CapturedPoint& point);
    // A stream is about to go.
    static void forget(Stream& stream);

    // For calls that conflict with every capture: each invalidates what it conflicts with. An event keeps its record in
    // a capture that has ended or failed, and is then good for nothing.
    static CUresult refuse_captured_event(const CapturedPoint& point);
    static CUresult refuse_elapsed_time(const CapturedPoint& point);  // invalidates nothing
    static CUresult refuse_legacy_stream(Context& context);
    static CUresult refuse_synchronize(Context& context);
    // Invalidates what streams of the context, or of a green one in it, capture; CUDA_SUCCESS where there is nothing.
    static CUresult refuse_context(const Context& context, const GreenContext* green);
    // "Potentially unsafe API calls" (cuda.h, cuThreadExchangeStreamCaptureMode): what is not ordered by streams, and
    // so would be missing in the graph. CUDA_SUCCESS where no capture forbids them to the calling thread.
    static CUresult check_unsafe_call() {
        return strict_captures_.load(std::memory_order_seq_cst) == 0 ? CUDA_SUCCESS : refuse_unsafe_call();
    }

    static std::size_t count();  // that go on

    std::uint64_t id() const { return id_; }

    // The rest is for the record intake, with the mutex held.
    static std::mutex& mutex();
    // The branch of a stream, or null. CUDA_ERROR_STREAM_CAPTURE_INVALIDATED for one of an invalidated capture.
    static CUresult find(Stream& stream, Branch** out);
    static Capture* find(std::uint64_t id);
    bool invalidated() const { return invalidated_; }
    void invalidate() { invalidated_ = true; }
    // The graph, unless it was destroyed meanwhile; then the capture is invalidated and this is null.
    Graph* graph();
    // `node` was captured on a branch: it takes the place of what it depends on.
    void advance(Branch& branch, CUgraphNode node);
    // What is left of a set: nodes that were destroyed meanwhile are nobody's dependencies.
    void drop_dead(DependencySet& set);

  private:
    Capture(Stream& origin, CUstreamCaptureMode mode, Graph& graph, bool owns_graph);
    static CUresult start(Stream& origin, CUstreamCaptureMode mode, Graph& graph, bool owns_graph, DependencySet next);
    void add_branch(Stream& stream, DependencySet next);
    static void leave(Stream& stream);
    // Takes the capture out of the list and sets its streams free. `graph` is what becomes of a graph that is not kept.
    std::unique_ptr<Capture> close(bool keep_graph, GraphPtr* graph);
    CUresult verdict();
    bool is_joined();
    void settle(const DependencySet& set);
    bool forbids_unsafe_calls() const;
    static CUresult refuse_unsafe_call();

    // Captures that may forbid something: unsafe calls need no lock while there is none.
    static inline std::atomic<std::uint32_t> strict_captures_{0};

    const std::uint64_t id_;
    const CUstreamCaptureMode mode_;
    const std::uint64_t thread_;  // that began it
    Stream& origin_;
    const CUgraph graph_;
    const std::uint64_t graph_uid_;
    const bool owns_graph_;
    bool invalidated_ = false;
    std::vector<std::unique_ptr<Branch>> branches_;
    std::vector<CUgraphNode>
        tails_;  // captured, and before no captured node: what the origin has to lead to in the end
};

}  // namespace cgh

#endif
