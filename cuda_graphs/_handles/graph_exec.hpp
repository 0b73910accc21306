// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Executable graphs. An executable depends on no definition: what its nodes need, it keeps itself through the user
// objects of the definition (user_object.hpp).
#ifndef CUDA_GRAPHS_HANDLES_GRAPH_EXEC_HPP
#define CUDA_GRAPHS_HANDLES_GRAPH_EXEC_HPP

#include <cuda.h>

#include "box.hpp"
#include "graph.hpp"

namespace cg {

struct GraphExecBox {
    CUgraphExec raw = nullptr;
    Counted<Kind::kGraphExec> counted;

    GraphExecBox() = default;
    ~GraphExecBox();  // a launch in flight is the driver's to finish first
};

using GraphExecHandle = HandleTo<GraphExecBox>;

// Instantiates the definition. `status` and `params->result_out` say why when there is no handle.
GraphExecHandle instantiate(GraphBox& graph, CUDA_GRAPH_INSTANTIATE_PARAMS* params, CUresult* status);

}  // namespace cg

#endif
