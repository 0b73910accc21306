// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// A driver call on a stream that may be captured. In a capture of this library the call makes a node, which keeps the
// owners of the call's operands:
//
//     CapturedCall call;
//     if (call.find_capture(stream)) call.keep_owners(to, from);      // with the GIL
//     call.run(driver().cuMemcpyAsync, *to, *from, size, *stream);    // without the GIL
//     if (call.is_captured()) call.record_node(NodeKind::kMemcpy);    // with the GIL
//
// While the driver call runs, no other thread captures into the same graph through this library. Therefore the tail of
// the stream after the call is the node that the call made. `objects/captured_call.pxd` is the interface for Cython: it
// also writes the ledger and raises the errors.
#ifndef CUDA_GRAPHS_CORE_CAPTURE_CAPTURED_CALL_HPP
#define CUDA_GRAPHS_CORE_CAPTURE_CAPTURED_CALL_HPP

#include <cuda.h>

#include <cstddef>
#include <utility>
#include <vector>

#include "capture.hpp"
#include "core/graphs/node_spec.hpp"
#include "core/handles/lock.hpp"

namespace cg {

class CapturedCall {
  public:
    CapturedCall() noexcept = default;
    CapturedCall(const CapturedCall&) = delete;
    CapturedCall& operator=(const CapturedCall&) = delete;

    // Finds the capture of the stream. Returns false when the stream is in no capture of this library, or when the
    // query fails (`query_status`).
    bool find_capture(const StreamHandle& stream);
    bool is_captured() const noexcept { return capture_ != nullptr; }
    CaptureBox& capture() const noexcept { return *capture_; }

    // Sets the owners that must live as long as the node. Returns false with a noted error on failure.
    bool keep_owners(Opaque first, Opaque second) noexcept;

    // Makes the call `function(args...)`, and finds the node that it made. Returns its status. After another thread has
    // ended the capture, the driver would execute the work, whose owners no node keeps: the call is not made.
    template <class Function, class... Args>
    CUresult run(Function function, Args&&... args) {
        if (!is_captured()) return status_ = function(std::forward<Args>(args)...);
        const Lock alone(capture_->calls);
        has_ended_ = capture_->ended;
        if (has_ended_) return status_ = CUDA_ERROR_ILLEGAL_STATE;
        status_ = function(std::forward<Args>(args)...);
        find_node();
        return status_;
    }
    CUresult status() const noexcept { return status_; }
    // Returns true when `run` made no call, since the capture had ended.
    bool has_ended() const noexcept { return has_ended_; }

    // A `run` that makes the node of a spec after the work that the stream has captured so far. The next work that the
    // stream captures depends on the node.
    CUresult run_add(NodeSpec& spec);

    // Enters the node into the tables of the graph, with its owners and inner graphs. Returns null when the call failed
    // or its node was not found.
    NodeRecord* record_node(NodeKind kind);

    // Returns the status of the query of `find_capture`, or after `run` the status of the query for the node.
    CUresult query_status() const noexcept { return asked_; }
    std::size_t tail_count() const noexcept { return state_.count; }
    // Returns true when the capture was spoiled by the call, or before it.
    bool is_spoiled() const noexcept;

  private:
    CaptureHandle find_joined();
    void find_node() noexcept;

    CaptureHandle capture_;
    CUstream stream_ = nullptr;
    OwnerSlot owners_;
    bool has_ended_ = false;
    CUresult status_ = CUDA_SUCCESS;
    CUresult asked_ = CUDA_SUCCESS;
    CaptureState state_;
    CUgraphNode node_ = nullptr;
    CUgraphConditionalHandle condition_ = 0;  // condition of a conditional node that `run_add` has made
    std::vector<CUgraph> inner_;              // bodies of that node
};

}  // namespace cg

#endif
