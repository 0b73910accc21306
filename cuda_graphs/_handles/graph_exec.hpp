// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Executable graphs. An executable depends on no definition: it keeps the owners of its nodes itself. A user object
// *on* an executable would cost each launch a microsecond, so it has references of its own instead, and they go when
// its last launch is over. docs/design/2026-11-exec-owners.md says how.
#ifndef CUDA_GRAPHS_HANDLES_GRAPH_EXEC_HPP
#define CUDA_GRAPHS_HANDLES_GRAPH_EXEC_HPP

#include <cuda.h>

#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "box.hpp"
#include "context.hpp"
#include "event.hpp"
#include "exec_parameters.hpp"
#include "graph.hpp"
#include "stream.hpp"

namespace cg {

// Where the end of the last launch can be seen. "Each launch is ordered behind both any previous work in hStream and
// any previous launches of graphExec" (cuda.h, cuGraphLaunch): so the last one stands for all.
struct LastUse {
    StreamHandle stream;  // a stream that lives as long as this, or
    EventHandle event;    // recorded behind the launch, where a stream may go or mean another one elsewhere
    ContextHandle context;
    bool lost = false;       // the event could not be recorded: the end cannot be seen
    bool is_shared = false;  // with parked owners: the event is not recorded again
};

// Owners of values that were replaced, and the end of the last launch that may use them.
struct ParkedOwners {
    LastUse end;
    std::vector<Opaque> owners;
};

struct GraphExecBox {
    CUgraphExec raw = nullptr;
    std::vector<CUuserObject> kept;  // a reference to each
    std::mutex mutex;                // for what follows, held without the GIL; keeps it in the order of the calls
    LastUse launched;
    LastUse uploaded;
    std::unique_ptr<ExecParameters> parameters;  // null without any
    std::deque<ParkedOwners> parked;             // the oldest first
    Counted<Kind::kGraphExec> counted;

    bool finish() noexcept;  // waits for nothing: a launch in flight takes the owners along
};

using GraphExecHandle = HandleTo<GraphExecBox>;

// Instantiates the definition that `definition` is the entry of. `status` and `params->result_out` say why when there
// is no handle. An upload that `params` asks for goes to `upload_stream`.
GraphExecHandle instantiate(const NodeHandle& definition, CUDA_GRAPH_INSTANTIATE_PARAMS* params,
                            const StreamHandle& upload_stream, CUresult* status);

// Without the GIL. Into a capture no executable is launched: the driver refuses it too. A launch first sets parameters;
// with a `problem` nothing was set and nothing launched.
CUresult launch(const GraphExecHandle& exec, const StreamHandle& stream, ParameterChanges& changes,
                ParameterProblem* problem);
CUresult upload(const GraphExecHandle& exec, const StreamHandle& stream);

// Sets parameters: all, or none and a `problem`. Without the GIL.
bool set_parameters(const GraphExecHandle& exec, ParameterChanges& changes, ParameterProblem* problem);

// The present values, in the order of the indices. Without the GIL.
void list_parameters(const GraphExecHandle& exec, std::vector<PresentParameter>& values);

}  // namespace cg

#endif
