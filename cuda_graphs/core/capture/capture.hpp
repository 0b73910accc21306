// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Captures: the work given to a stream becomes nodes of a graph. The builder that began a capture shares it with the
// builders that were split off. The builder ends the capture, or the destructor of its box does. During a capture the
// driver owns the graph, and destroys it when the capture is spoiled. Therefore the owners of the nodes are attached to
// the graph only after the capture has ended successfully (user_object.hpp).
//
// A capture keeps a ledger of the operations made through this library and their source lines, so that an error can
// name the call that spoiled it. A driver call that may be captured is made by a CapturedCall (captured_call.hpp).
//
// There is no lock: callers hold the GIL, except during driver calls.
#ifndef CUDA_GRAPHS_CORE_CAPTURE_CAPTURE_HPP
#define CUDA_GRAPHS_CORE_CAPTURE_CAPTURE_HPP

#include <cuda.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "core/graphs/definition.hpp"
#include "core/handles/box.hpp"
#include "core/resources/stream.hpp"

namespace cg {

// An operation made through this library during a capture.
struct Operation {
    const char* what = "";  // name of the operation, a string literal
    SourceLocation source;
};

// The operation that spoiled a capture.
struct Spoiler {
    CUresult status = CUDA_SUCCESS;  // CUDA_SUCCESS: not known to be spoiled
    bool foreign = false;            // made outside this library: `source` is where it was detected
    SourceLocation source;
    std::string what;
};

// A builder that was split off from another builder.
struct Fork {
    SourceLocation source;
    StreamHandle stream;
    bool joined = false;
};

struct CaptureBox {
    StreamHandle origin;
    NodeHandle graph;  // entry node of the graph that is captured into
    bool into_body = false;
    bool active = false;            // begun and not ended yet
    bool ending = false;            // a thread is ending the capture
    std::atomic<cuuint64_t> id{0};  // read without the GIL
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    std::thread::id thread;  // thread that began the capture
    std::weak_ptr<CaptureBox> self;
    std::vector<Operation> ledger;  // the first operation is the beginning of the capture
    std::vector<Fork> forks;
    std::vector<CUgraphNode> strays;  // nodes of calls that failed half way, destroyed after the capture
    Spoiler spoiler;
    // Held without the GIL: from a driver call until its node is found, and while the capture is ended.
    std::mutex calls;
    bool ended = false;  // by this library: the driver executes the calls of its streams. Guarded by `calls`
    Counted<Kind::kCapture> counted;

    GraphBox& box() const noexcept { return *box_of<NodeRecord>(graph)->graph; }
    bool has_unjoined() const noexcept;
    // Returns true when the capture belongs to another thread: a capture that is not relaxed belongs to the thread that
    // began it.
    bool is_foreign_thread() const noexcept {
        return mode != CU_STREAM_CAPTURE_MODE_RELAXED && thread != std::this_thread::get_id();
    }
    bool finish() noexcept;
};

using CaptureHandle = std::shared_ptr<CaptureBox>;

// Creates a capture that has not begun. It captures into the graph of `body`, or into a new graph without a body.
CaptureHandle create_capture(const StreamHandle& origin, const NodeHandle& body);

// Begins the capture. The capture stays inactive when the driver refuses. It is active, and must be ended, also when a
// later step fails.
CUresult begin_capture(CaptureBox& capture, CUstreamCaptureMode mode);

// Ends the capture; does nothing when it is not active. On success the graph is complete. On failure the graph is
// destroyed, unless the capture is still active: then it can be ended again after the cause is mended.
CUresult end_capture(CaptureBox& capture) noexcept;

// Ends the capture in any state, for a capture without an owner. Joins the forks of a body's capture first. Returns a
// status like end_capture.
CUresult abandon_capture(CaptureBox& capture) noexcept;

// Returns a temporary capture for a stream that foreign code is capturing. Work given to the stream through this
// library then becomes nodes of the foreign graph, with their owners. Returns null when the stream is not being
// captured, or on failure, which `status` gives.
CaptureHandle borrow_capture(const StreamHandle& stream, CUresult* status);
// Detaches from a borrowed capture, which continues. The owners of its nodes belong to the graph from now on. They are
// released if the driver has destroyed the graph.
CUresult return_capture(CaptureBox& capture) noexcept;

// Makes later work of `stream` wait for the work that `other`, a stream of the same capture, has captured so far. Call
// it without the GIL. An end of the capture by another thread comes before or after: libcuda (580, on an H200) crashes
// when it comes between.
CUresult order_within(CaptureBox& capture, const StreamHandle& stream, const StreamHandle& other);

// Associates the stream with the capture, so that its work is recognised without a driver call. (A function called
// `tie` would lose to std::tie, which argument-dependent lookup finds.)
void tie_stream(const StreamHandle& stream, CaptureBox& capture) noexcept;
void untie_stream(const StreamHandle& stream, const CaptureBox& capture) noexcept;

// Functions for the source files of this folder only.
namespace detail {
void enter(CaptureBox& capture);
void leave(CaptureBox& capture) noexcept;
void retire(CaptureBox& capture) noexcept;  // removes the capture from all records
}  // namespace detail

// Returns all captures that are active now.
std::vector<CaptureHandle> list_active_captures();

// Returns the active capture with the driver's number `id`, or null.
CaptureHandle find_active_capture(cuuint64_t id);

// The driver's capture information of a stream. The arrays belong to the driver and are valid until its next call for
// that stream.
struct CaptureState {
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    cuuint64_t id = 0;
    CUgraph graph = nullptr;
    const CUgraphNode* tail = nullptr;  // dependencies of the next captured work
    const CUgraphEdgeData* edges = nullptr;
    std::size_t count = 0;
};
CUresult ask_capture(CUstream stream, CaptureState* state) noexcept;

// The nodes that the next work of a stream depends on, and the data of the edges from them.
struct CaptureTail {
    std::vector<CUgraphNode> nodes;
    std::vector<CUgraphEdgeData> edges;

    CaptureTail() = default;
    explicit CaptureTail(const CaptureState& state);

    void add(const CaptureTail& other);
};
CUresult get_tail(CUstream stream, CaptureTail& tail);
CUresult set_tail(CUstream stream, const CaptureTail& tail);

// Creates a condition of the captured graph (cuGraphConditionalHandleCreate), unless the capture has ended meanwhile.
// Called without the GIL.
CUresult capture_condition(CaptureBox& capture, CUcontext context, unsigned int value, unsigned int flags,
                           CUgraphConditionalHandle* condition);

}  // namespace cg

#endif
