// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// An executable graph: a program that can be launched and whose parameters can be changed between launches.
//
// Launches of one executable run one after another, even on different streams ("Each launch is ordered behind both any
// previous work in hStream and any previous launches of hGraphExec", cuda.h, cuGraphLaunch). A launch holds a reference
// to the program. The executable can therefore be destroyed or changed while launches are in flight, which keep the
// program that they were launched with.
#ifndef CUDA_GRAPHS_HOSTDRIVER_OBJECTS_GRAPHS_GRAPH_EXEC_HPP
#define CUDA_GRAPHS_HOSTDRIVER_OBJECTS_GRAPHS_GRAPH_EXEC_HPP

#include <cuda.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

#include "hostdriver/execution/graph_program.hpp"
#include "hostdriver/objects/base/arena.hpp"
#include "hostdriver/objects/streams/stream.hpp"

namespace cgh {

class Graph;
struct Node;

class GraphExec {
  public:
    static CUresult instantiate(Graph& graph, cuuint64_t flags, GraphExec** out, Refusal* why);
    void destroy();

    // Returns the flags that an H200 reports. The flags for upload and node priorities are not among them.
    cuuint64_t reported_flags() const {
        return flags_ & (CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH | CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH);
    }

    CUresult launch(Stream& stream);
    CUresult upload();

    // Changes the executable node that was instantiated from `node` of the definition.
    CUresult set_params(const Node& node, CUgraphNodeParams& params);
    CUresult set_enabled(const Node& node, bool enabled);
    CUresult get_enabled(const Node& node, bool* enabled);

    // Takes all parameters from a graph with the same topology. A failed update changes nothing.
    CUresult update(const Graph& graph, CUgraphExecUpdateResultInfo* info);

  private:
    friend class Arena<GraphExec>;
    GraphExec(std::shared_ptr<Program> program, cuuint64_t flags, std::shared_ptr<std::atomic<int>> live_executables)
        : flags_(flags), live_executables_(std::move(live_executables)), program_(std::move(program)) {}
    ~GraphExec();

    CUresult claim_memory(const Program& program);
    // Returns the program for changes, copied if a launch still uses it. The caller holds `mutex_`. The replaced
    // program moves to `retired`, which the caller destroys after unlocking.
    Program& writable(std::shared_ptr<Program>* retired);
    CUresult set_child_params(const Node& node, CUgraphNodeParams& params);

    const cuuint64_t flags_;
    const std::shared_ptr<std::atomic<int>> live_executables_;

    std::mutex mutex_;  // guards the fields below; never held while code of the user runs
    std::shared_ptr<Program> program_;
    Target last_launch_;
};

inline CUgraphExec to_handle(GraphExec* exec) {
    return reinterpret_cast<CUgraphExec>(exec);
}

}  // namespace cgh

#endif
