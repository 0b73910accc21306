// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Shared parts of the cases of stream capture: captures that end when they go out of scope, descriptions of captured
// nodes, and queries about a stream's capture.
#ifndef CONFORMANCE_CAPTURE_RIG_HPP
#define CONFORMANCE_CAPTURE_RIG_HPP

#include <string>
#include <thread>

#include "harness.hpp"

namespace conf {

constexpr auto kGlobal = CU_STREAM_CAPTURE_MODE_GLOBAL, kLocal = CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
               kRelaxed = CU_STREAM_CAPTURE_MODE_RELAXED;

Event untimed();
CUresult begin(CUstream stream, CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED);
CUstreamCaptureStatus status(CUstream stream);
CUresult launch_empty(CUstream stream);
CUgraph graph_of(CUstream capturing);
CUresult join(CUstream to, CUstream from);  // makes `to` wait for all captured work of `from`

// Ends a capture and records the result and the number of nodes and edges.
void end(Record& r, const std::string& label, CUstream stream);
// Ends a capture and records the result and the graph: nodes as texts, edges as indices of their nodes.
void end_and_show(Record& r, const std::string& label, CUstream stream);
void show_graph(Record& r, const std::string& label, CUgraph graph);
// Records the dependencies of the next node, as indices in the graph, with the data of the edges.
void show_dependencies(Record& r, const std::string& label, CUstream stream);

// A stream that is captured for the lifetime of this object.
class Capturing {
  public:
    explicit Capturing(CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED,
                       unsigned flags = CU_STREAM_NON_BLOCKING);
    ~Capturing();
    Capturing(const Capturing&) = delete;
    operator CUstream() const { return stream_; }  // NOLINT(google-explicit-constructor): as Owned
    // Returns another stream that has joined this capture.
    Stream branch() const;

  private:
    Stream stream_;
};

// Runs `work` in another thread, with the context current, and waits for it.
template <class Work>
void elsewhere(Work&& work) {
    const CUcontext ours = context();
    std::thread([&] {
        must(drv.cuCtxSetCurrent(ours), "cuCtxSetCurrent");
        work();
    }).join();
}

}  // namespace conf

#endif
