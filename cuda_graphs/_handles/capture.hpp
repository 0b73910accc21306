// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Captures: the work given to a stream becomes nodes of a graph. A capture is shared by the builder that began it and
// by those that were split off; the builder ends it, or its box does. While it lasts the graph is the driver's, which
// destroys it when the capture is spoiled: so what the nodes need is attached when the capture has ended well
// (user_object.hpp).
//
// A capture keeps a ledger: what was done through us, on which line, so that an error can name the call that spoiled
// it. A driver call that may be captured is made inside a CapturedCall.
//
// Not locked: the GIL is held, except where a driver call is made.
#ifndef CUDA_GRAPHS_HANDLES_CAPTURE_HPP
#define CUDA_GRAPHS_HANDLES_CAPTURE_HPP

#include <cuda.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "box.hpp"
#include "graph.hpp"
#include "lock.hpp"
#include "node_spec.hpp"
#include "stream.hpp"

namespace cg {

// Something done through us while capturing.
struct Operation {
    const char* what = "";  // text of the program
    SourcePlace source;
};

// What spoiled a capture.
struct Spoiler {
    CUresult status = CUDA_SUCCESS;  // CUDA_SUCCESS: not known to be spoiled
    bool foreign = false;            // it happened elsewhere: `source` is where it was found
    SourcePlace source;
    std::string what;
};

// A builder that was split off.
struct Fork {
    SourcePlace source;
    StreamHandle stream;
    bool joined = false;
};

struct CaptureBox {
    StreamHandle origin;
    NodeHandle graph;  // the entry node of what is captured into
    bool into_body = false;
    bool active = false;            // the driver was asked to begin it, and has not ended it
    bool ending = false;            // some thread is asking it to
    std::atomic<cuuint64_t> id{0};  // looked for without the GIL
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    std::thread::id thread;  // that began it
    std::weak_ptr<CaptureBox> self;
    std::vector<Operation> ledger;  // the first is its beginning
    std::vector<Fork> forks;
    std::vector<CUgraphNode> strays;  // of calls that failed half way: destroyed when the capture has ended
    Spoiler spoiler;
    std::mutex calls;  // from a call of the driver until it is seen what it made, and while it is asked to end; without
                       // the GIL
    Counted<Kind::kCapture> counted;

    GraphBox& box() const noexcept { return *box_of<NodeRecord>(graph)->graph; }
    bool has_unjoined() const noexcept;
    // A capture that is not relaxed belongs to the thread that began it.
    bool is_foreign_thread() const noexcept {
        return mode != CU_STREAM_CAPTURE_MODE_RELAXED && thread != std::this_thread::get_id();
    }
    bool finish() noexcept;
};

using CaptureHandle = std::shared_ptr<CaptureBox>;

// Nothing has begun. `body` is what to capture into; without one it will be a new graph.
CaptureHandle create_capture(const StreamHandle& origin, const NodeHandle& body);

// Not active when the driver refuses. Active, and to be ended, also when a later step fails.
CUresult begin_capture(CaptureBox& capture, CUstreamCaptureMode mode);

// Ends it; does nothing when it is not active. On success the graph is complete. On failure it is gone, unless the
// capture is still active: then it can be ended again when what is missing has been done.
CUresult end_capture(CaptureBox& capture) noexcept;

// Ends it in whatever state it is in, for what it is worth. The same status.
CUresult abandon_capture(CaptureBox& capture) noexcept;

// The capture of the stream that others began, for a while: work that is given to the stream through us gets into its
// graph with what it needs. Null where nobody captures the stream, or `status` is why it cannot be had.
CaptureHandle borrow_capture(const StreamHandle& stream, CUresult* status);
// It goes on without us. What its nodes need is its graph's from now on, also when the driver has destroyed that.
CUresult return_capture(CaptureBox& capture) noexcept;

// Has later work of one stream wait for what another holds so far.
CUresult order_after(const StreamHandle& stream, const StreamHandle& other);
// The same for streams of one capture, without the GIL. An end of the capture by another thread comes before or after:
// libcuda (580, on an H200) crashes when it comes between.
CUresult order_within(CaptureBox& capture, const StreamHandle& stream, const StreamHandle& other);

// Work given to the stream is that of the capture: found without asking the driver. (Called `tie`, it would lose to
// std::tie, which argument-dependent lookup finds.)
void tie_stream(const StreamHandle& stream, CaptureBox& capture) noexcept;
void untie_stream(const StreamHandle& stream, const CaptureBox& capture) noexcept;

// The captures of the process, for the files of this subject.
namespace detail {
void enter(CaptureBox& capture);
void leave(CaptureBox& capture) noexcept;
void retire(CaptureBox& capture) noexcept;  // it is nobody's any more
}  // namespace detail

// Whether a stream's work may be part of a capture of ours; what is true nearly never.
extern std::atomic<int> active_captures;
inline bool may_be_captured(const StreamHandle& stream) noexcept {
    return active_captures.load(std::memory_order_relaxed) != 0 || box_of<StreamBox>(stream)->capture != nullptr;
}

// All captures that are active now.
std::vector<CaptureHandle> list_active_captures();

// What the driver says of a stream. The arrays are the driver's until its next call for that stream.
struct CaptureState {
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    cuuint64_t id = 0;
    CUgraph graph = nullptr;
    const CUgraphNode* tail = nullptr;  // what work given to the stream now would depend on
    const CUgraphEdgeData* edges = nullptr;
    std::size_t count = 0;
};
CUresult ask_capture(CUstream stream, CaptureState* state) noexcept;

// After which nodes work given to a stream goes, and along which edges.
struct CaptureTail {
    std::vector<CUgraphNode> nodes;
    std::vector<CUgraphEdgeData> edges;

    void add(const CaptureTail& other);
};
CUresult get_tail(CUstream stream, CaptureTail& tail);
CUresult set_tail(CUstream stream, const CaptureTail& tail);

// A condition of the graph that is captured into: cuGraphConditionalHandleCreate, unless the capture has ended
// meanwhile. Without the GIL.
CUresult capture_condition(CaptureBox& capture, CUcontext context, unsigned int value, unsigned int flags,
                           CUgraphConditionalHandle* condition);

// One driver call on a stream that may be captured. With the GIL: find, keep; without: start, the call, look; with:
// settle. Between start and look no other thread captures into the same graph through us, so that the end of the
// stream's work is what this call made.
class CapturedCall {
  public:
    CapturedCall() noexcept = default;
    CapturedCall(const CapturedCall&) = delete;
    CapturedCall& operator=(const CapturedCall&) = delete;

    // False: the stream is in no capture of ours, and there is nothing more to do; or `asked` says why nobody knows.
    bool find(const StreamHandle& stream);
    bool is_captured() const noexcept { return capture_ != nullptr; }
    CaptureBox& capture() const noexcept { return *capture_; }

    // Who must live as long as the node. False and a noted error on failure.
    bool keep(Opaque first, Opaque second) noexcept;

    void start() {
        if (is_captured()) alone_.emplace(capture_->calls);
    }

    // A driver call: makes the node of a spec after what the stream has captured so far; what the stream captures next
    // comes after the node.
    CUresult add(NodeSpec& spec);

    // Which node the call has made, if it has.
    void look(CUresult status) noexcept;

    // Puts the node on record with its owners and the graphs inside it; null when the call failed, or when its node
    // cannot be told.
    NodeRecord* settle(NodeKind kind);

    // For a test: as if the node could not be told.
    void lose_node() noexcept { node_ = nullptr; }

    // After find: why nobody knows. After look: why there is no node though the call went well.
    CUresult asked() const noexcept { return asked_; }
    std::size_t tail_count() const noexcept { return state_.count; }
    bool has_spoiled() const noexcept;

  private:
    CaptureHandle find_joined();

    CaptureHandle capture_;
    std::optional<Lock> alone_;  // of the capture, so it goes before it
    CUstream stream_ = nullptr;
    OwnerSlot owners_;
    CUresult status_ = CUDA_SUCCESS;
    CUresult asked_ = CUDA_SUCCESS;
    CaptureState state_;
    CUgraphNode node_ = nullptr;
    CUgraphConditionalHandle condition_ = 0;  // of a conditional node that `add` has made
    std::vector<CUgraph> inner_;              // its bodies
};

}  // namespace cg

#endif
