// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "loop_test.hpp"

#include <cstddef>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/handles/gil.hpp"

namespace cg {

namespace {

using Nodes = std::unordered_set<CUgraphNode>;

// Returns the test and all nodes that come after it.
Nodes list_from(CUgraphNode test, const Edges& edges) {
    std::unordered_map<CUgraphNode, std::vector<CUgraphNode>> successors;
    for (std::size_t i = 0; i < edges.size(); ++i) successors[edges.from[i]].push_back(edges.to[i]);
    Nodes found{test};
    std::vector<CUgraphNode> waiting{test};
    while (!waiting.empty()) {
        const CUgraphNode node = waiting.back();
        waiting.pop_back();
        for (const CUgraphNode next : successors[node])
            if (found.insert(next).second) waiting.push_back(next);
    }
    return found;
}

// An edge whose target starts with its source, and contains no wait for the end of the source.
bool is_early(const CUgraphEdgeData& data) noexcept {
    return data.from_port != 0 && data.type == 0;
}

CUresult find_missing(CUgraph graph, CUgraphNode test, Edges& missing) {
    std::vector<CUgraphNode> nodes;
    Edges edges;
    CUresult status = list_nodes(graph, nodes);
    if (status == CUDA_SUCCESS) status = list_edges(graph, edges);
    if (status != CUDA_SUCCESS) return status;
    const Nodes later = list_from(test, edges);
    Nodes ordered = later;  // and the nodes with a successor that is ordered before the test, or is the test
    for (std::size_t i = 0; i < edges.size(); ++i)
        if (!is_early(edges.data[i]) && (edges.to[i] == test || later.count(edges.to[i]) == 0))
            ordered.insert(edges.from[i]);
    for (const CUgraphNode node : nodes)
        if (ordered.count(node) == 0) missing.add(node, test, edge_data(0, 0, 0));
    return status;
}

}  // namespace

CUresult order_test(GraphBox& body) {
    if (body.raw == nullptr || body.capture != nullptr || body.test == nullptr || !body.test->is_alive())
        return CUDA_SUCCESS;
    Edges missing;
    CUresult status = CUDA_SUCCESS;
    {
        const GilRelease released;
        status = find_missing(body.raw, body.test->raw, missing);
    }
    if (status != CUDA_SUCCESS || missing.size() == 0) return status;
    about_to_change(body);
    body.edited = true;
    const GilRelease released;
    return add_edges(body.raw, missing);
}

CUresult order_all_tests(GraphBox& graph) {
    CUresult status = CUDA_SUCCESS;
    for (GraphBox* each : list_living(graph))
        if (status == CUDA_SUCCESS) status = order_test(*each);
    return status;
}

}  // namespace cg
