// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// What the cases of stream capture share: captures that end when they go out of scope, what was captured in words, and
// questions to a stream about its capture.
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
CUresult join(CUstream to, CUstream from);  // `to` waits for all that `from` has captured

// Ends a capture and records the answer and how many nodes and edges came out.
void end(Record& r, const std::string& label, CUstream stream);
// Ends a capture and records the answer and all that came out: nodes in words, edges by the places of their nodes.
void end_and_show(Record& r, const std::string& label, CUstream stream);
void show_graph(Record& r, const std::string& label, CUgraph graph);
// The dependencies of the next node, by their places in the graph, with what is special of the edges.
void show_dependencies(Record& r, const std::string& label, CUstream stream);

// A stream in a capture, until this goes.
class Capturing {
  public:
    explicit Capturing(CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED,
                       unsigned flags = CU_STREAM_NON_BLOCKING);
    ~Capturing();
    Capturing(const Capturing&) = delete;
    operator CUstream() const { return stream_; }  // NOLINT(google-explicit-constructor): as Owned
    // Another stream, drawn into this capture.
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
