// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Stream captures. A capture adds the work that callers push to streams to a graph. It begins on its origin stream;
// other streams join it by waiting for an event that was recorded in the capture. Each captured stream is a branch,
// which holds the nodes that the stream's next node depends on.
//
// An illegal call invalidates the capture. Its streams then return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED until the
// capture is ended on its origin. One mutex guards all captures of the process and their graphs, so different threads
// may use the streams of a capture. No code of the program (kernels, user objects, host functions) runs while the mutex
// is held.
#ifndef CUDA_GRAPHS_HOSTDRIVER_OBJECTS_STREAMS_CAPTURE_HPP
#define CUDA_GRAPHS_HOSTDRIVER_OBJECTS_STREAMS_CAPTURE_HPP

#include <cuda.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "hostdriver/objects/graphs/node_params.hpp"

namespace cgh {

class Capture;
class Context;
class Stream;

// A set of nodes to depend on, each with the data of the future edge.
struct DependencySet {
    std::vector<CUgraphNode> nodes;
    std::vector<CUgraphEdgeData> edges;  // same size as `nodes`

    // Adds a node once. If the node is in the set with a default edge, that edge stays; otherwise `edge` replaces it.
    void add(CUgraphNode node, const CUgraphEdgeData& edge);
    void add(const DependencySet& other);
    void set(CUgraphNode node);
    bool has_edge_data() const;
};

// The point in a capture at which an event was recorded.
struct CapturedPoint {
    std::uint64_t capture_id;
    DependencySet dependencies;
};

struct Branch {
    Capture& capture;
    Stream* stream;      // null after the stream was destroyed; its work must still be joined
    DependencySet next;  // dependencies of the stream's next node
};

// The result of cuStreamGetCaptureInfo. The arrays belong to the branch. They are valid until the branch captures more
// work or ends; queries from any thread leave them unchanged.
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
    // Begins a capture into a new graph, or into `graph` (a handle), where the first nodes depend on `dependencies`.
    static CUresult begin(Stream& origin, CUstreamCaptureMode mode);
    static CUresult begin_to(Stream& origin, CUgraph graph, DependencySet dependencies, CUstreamCaptureMode mode);
    static CUresult end(Stream& origin, CUgraph* out);

    static CUresult info(Stream& stream, CaptureInfo* out);
    static CUresult update(Stream& stream, const DependencySet& dependencies, bool replace);

    // Adds a stream to a capture, because it waits for an event that was recorded in the capture.
    static CUresult join(Stream& stream, const CapturedPoint& point);
    // Removes a stream that is about to be destroyed from its capture. Removing the origin ends the capture.
    static void forget(Stream& stream);

    // The refuse functions return the error of a call that conflicts with captures, and invalidate those captures. An
    // event keeps its record of a capture that has ended or failed, and cannot be used until it is recorded again.
    static CUresult refuse_captured_event(const CapturedPoint& point);
    static CUresult refuse_elapsed_time(const CapturedPoint& point);  // invalidates no capture
    static CUresult refuse_legacy_stream(Context& context);
    static CUresult refuse_synchronize(Context& context);
    // Invalidates the captures of the context's streams, or of the streams of a green context in it. Returns
    // CUDA_SUCCESS if there are none.
    static CUresult refuse_context(const Context& context, const GreenContext* green);
    // Checks a "potentially unsafe API call" (cuda.h, cuThreadExchangeStreamCaptureMode): a call that is not ordered by
    // streams and would be missing in the graph. Returns CUDA_SUCCESS if no capture forbids such calls to the calling
    // thread.
    static CUresult check_unsafe_call() {
        return strict_captures_.load(std::memory_order_seq_cst) == 0 ? CUDA_SUCCESS : refuse_unsafe_call();
    }

    static std::size_t count();  // number of captures in progress

    std::uint64_t id() const { return id_; }

    // The functions below are for the record intake. The caller holds the mutex.
    static std::mutex& mutex();
    // Writes the branch of a stream, or null. Returns CUDA_ERROR_STREAM_CAPTURE_INVALIDATED if its capture is
    // invalidated.
    static CUresult find(Stream& stream, Branch** out);
    static Capture* find(std::uint64_t id);
    bool invalidated() const { return invalidated_; }
    void invalidate() { invalidated_ = true; }
    // Returns the graph. If the graph was destroyed, invalidates the capture and returns null.
    Graph* graph();
    // Makes `node`, which was captured on a branch, the only dependency of the branch's next node.
    void advance(Branch& branch, CUgraphNode node);
    // Removes destroyed nodes from a set.
    void drop_dead(DependencySet& set);

  private:
    Capture(Stream& origin, CUstreamCaptureMode mode, Graph& graph, bool owns_graph);
    static CUresult start(Stream& origin, CUstreamCaptureMode mode, Graph& graph, bool owns_graph, DependencySet next);
    void add_branch(Stream& stream, DependencySet next);
    static void leave(Stream& stream);
    // Removes the capture from the list and releases its streams. A graph that is not kept is moved to `graph`.
    std::unique_ptr<Capture> close(bool keep_graph, GraphPtr* graph);
    CUresult verdict();
    bool is_joined();
    void settle(const DependencySet& set);
    bool forbids_unsafe_calls() const;
    static CUresult refuse_unsafe_call();

    // Number of captures that are not relaxed. Unsafe calls need no lock while it is 0.
    static inline std::atomic<std::uint32_t> strict_captures_{0};
    // Number of captures in progress. Synchronising a context needs no lock while it is 0.
    static inline std::atomic<std::uint32_t> all_captures_{0};

    const std::uint64_t id_;
    const CUstreamCaptureMode mode_;
    const std::uint64_t thread_;  // thread that began the capture
    Stream& origin_;
    const CUgraph graph_;
    const std::uint64_t graph_uid_;
    const bool owns_graph_;
    bool invalidated_ = false;
    std::vector<std::unique_ptr<Branch>> branches_;
    // Captured nodes without a captured successor. The origin must depend on all of them at the end.
    std::vector<CUgraphNode> tails_;
};

}  // namespace cgh

#endif
