// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Executable graphs. An executable depends on no definition: it keeps the owners of its nodes itself. A user object
// *on* an executable would cost each launch a microsecond, so it has references of its own instead, and they go when
// its last launch is over. docs/design/2026-11-exec-owners.md says how.
#ifndef CUDA_GRAPHS_HANDLES_GRAPH_EXEC_HPP
#define CUDA_GRAPHS_HANDLES_GRAPH_EXEC_HPP

#include <cuda.h>

#include <mutex>
#include <vector>

#include "box.hpp"
#include "context.hpp"
#include "event.hpp"
#include "graph.hpp"
#include "stream.hpp"

namespace cg {

// Where the end of the last launch can be seen. "Each launch is ordered behind both any previous work in hStream and
// any previous launches of graphExec" (cuda.h, cuGraphLaunch): so the last one stands for all.
struct LastUse {
    StreamHandle stream;  // a stream that lives as long as this, or
    EventHandle event;    // recorded behind the launch, where a stream may go or mean another one elsewhere
    ContextHandle context;
    bool lost = false;  // the event could not be recorded: the end cannot be seen
};

struct GraphExecBox {
    CUgraphExec raw = nullptr;
    std::vector<CUuserObject> kept;  // a reference to each
    std::mutex mutex;                // for the two below, held without the GIL; keeps them in the order of the calls
    LastUse launched;
    LastUse uploaded;
    Counted<Kind::kGraphExec> counted;

    bool finish() noexcept;  // waits for nothing: a launch in flight takes the owners along
};

using GraphExecHandle = HandleTo<GraphExecBox>;

// Instantiates the definition. `status` and `params->result_out` say why when there is no handle. An upload that
// `params` asks for goes to `upload_stream`.
GraphExecHandle instantiate(GraphBox& graph, CUDA_GRAPH_INSTANTIATE_PARAMS* params, const StreamHandle& upload_stream,
                            CUresult* status);

// Without the GIL. Into a capture no executable is launched: the driver refuses it too.
CUresult launch(const GraphExecHandle& exec, const StreamHandle& stream);
CUresult upload(const GraphExecHandle& exec, const StreamHandle& stream);

}  // namespace cg

#endif
