// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "graph_exec.hpp"

#include <memory>

#include "_driver/table.hpp"
#include "deferred.hpp"
#include "gil.hpp"

namespace cg {

GraphExecBox::~GraphExecBox() {
    if (raw == nullptr) return;
    {
        const GilRelease released;
        driver().cuGraphExecDestroy(raw);
    }
    drain_deferred();
}

GraphExecHandle instantiate(GraphBox& graph, CUDA_GRAPH_INSTANTIATE_PARAMS* params, CUresult* status) {
    auto exec = std::make_shared<GraphExecBox>();
    seal_owners(graph);
    {
        const GilRelease released;
        *status = driver().cuGraphInstantiateWithParams(&exec->raw, graph.raw, params);
    }
    // Some failures are told by the result alone.
    if (*status != CUDA_SUCCESS || params->result_out != CUDA_GRAPH_INSTANTIATE_SUCCESS) return {};
    return handle_of(std::move(exec));
}

}  // namespace cg
