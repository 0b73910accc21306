// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "node_order.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/driver/table.hpp"
#include "core/handles/gil.hpp"
#include "loop_test.hpp"

namespace cg {

namespace {

using Positions = std::unordered_map<CUgraphNode, std::size_t>;

// Sorts the edges that end at one node by the positions of their sources; returns false when they are already sorted.
bool sort_edges(const Edges& edges, const Positions& positions, Edges& sorted) {
    std::vector<std::size_t> order(edges.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto earlier = [&](std::size_t a, std::size_t b) {
        return positions.at(edges.from[a]) < positions.at(edges.from[b]);
    };
    if (std::is_sorted(order.begin(), order.end(), earlier)) return false;
    std::sort(order.begin(), order.end(), earlier);
    for (const std::size_t i : order) sorted.copy(edges, i);
    return true;
}

// Sorts the edges of every node in the order of `nodes`. `inner` gets the nodes that have successors.
CUresult settle_edges(CUgraph graph, const std::vector<CUgraphNode>& nodes, std::unordered_set<CUgraphNode>& inner) {
    Positions positions;
    for (std::size_t i = 0; i < nodes.size(); ++i) positions.emplace(nodes[i], i);
    for (const CUgraphNode node : nodes) {
        Edges edges, sorted;
        CUresult status = list_edges_of(node, Direction::kPredecessors, edges);
        inner.insert(edges.from.begin(), edges.from.end());
        if (status == CUDA_SUCCESS && sort_edges(edges, positions, sorted))
            status = replace_edges(graph, edges, sorted);
        if (status != CUDA_SUCCESS) return status;
    }
    return CUDA_SUCCESS;
}

// Adds and removes a temporary successor of the exit nodes. They become the last exits, in the given order.
CUresult renew_exits(CUgraph graph, const CUgraphNode* exits, std::size_t count) {
    CUgraphNode passing = nullptr;
    CUresult status = driver().cuGraphAddEmptyNode(&passing, graph, exits, count);
    if (status != CUDA_SUCCESS) return status;
    Edges edges;
    for (std::size_t i = 0; i < count; ++i) edges.add(exits[i], passing, edge_data(0, 0, 0));
    status = remove_edges(graph, edges);
    CUresult destroyed = driver().cuGraphDestroyNode(passing);
    if (destroyed != CUDA_SUCCESS) destroyed = driver().cuGraphDestroyNode(passing);  // or a surplus node remains
    return status == CUDA_SUCCESS ? destroyed : status;
}

CUresult holds_memory(const std::vector<CUgraphNode>& nodes, bool* found) {
    for (const CUgraphNode node : nodes) {
        NodeKind kind = NodeKind::kOther;
        const CUresult status = find_kind(node, &kind);
        if (status != CUDA_SUCCESS) return status;
        *found |= kind == NodeKind::kAlloc || kind == NodeKind::kFree;
    }
    return CUDA_SUCCESS;
}

constexpr std::size_t kAtOnce = 64;  // removing an edge takes time in proportion to the edges of its target

CUresult settle(CUgraph graph) {
    std::vector<CUgraphNode> nodes, exits;
    std::unordered_set<CUgraphNode> inner;
    CUresult status = list_nodes(graph, nodes);
    bool fixed = false;
    if (status == CUDA_SUCCESS) status = holds_memory(nodes, &fixed);
    if (fixed) return status;
    if (status == CUDA_SUCCESS) status = settle_edges(graph, nodes, inner);
    if (status != CUDA_SUCCESS) return status;
    for (const CUgraphNode node : nodes)
        if (inner.count(node) == 0) exits.push_back(node);
    if (exits.size() < 2) return CUDA_SUCCESS;
    for (std::size_t i = 0; i < exits.size() && status == CUDA_SUCCESS; i += kAtOnce)
        status = renew_exits(graph, exits.data() + i, std::min(kAtOnce, exits.size() - i));
    return status;
}

}  // namespace

CUresult restore_order(GraphBox& graph) {
    CUresult status = order_all_tests(graph);
    if (status != CUDA_SUCCESS) return status;
    const std::vector<GraphBox*> edited = list_edited(graph);
    if (edited.empty()) return CUDA_SUCCESS;
    {
        const GilRelease released;
        for (GraphBox* each : edited)
            if (status == CUDA_SUCCESS) status = settle(each->raw);
    }
    if (status != CUDA_SUCCESS) return status;
    for (GraphBox* each : edited) each->edited = false;
    return CUDA_SUCCESS;
}

}  // namespace cg
