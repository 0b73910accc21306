// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "node_pairing.hpp"

#include <unordered_set>
#include <utility>

#include "core/handles/error.hpp"
#include "core/handles/gil.hpp"

namespace cg {

bool shapes_differ() {
    return note_error(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, "the definitions have different shapes"), false;
}

namespace {

// Lists the nodes without successors in the order of the driver's list.
bool list_exits(CUgraph graph, std::vector<CUgraphNode>& exits) {
    std::vector<CUgraphNode> nodes;
    Edges edges;
    CU_TRY(list_nodes(graph, nodes));
    CU_TRY(list_edges(graph, edges));
    const std::unordered_set<CUgraphNode> inside(edges.from.begin(), edges.from.end());
    for (const CUgraphNode node : nodes)
        if (inside.count(node) == 0) exits.push_back(node);
    return true;
}

bool list_dependencies(CUgraphNode node, std::vector<CUgraphNode>& dependencies) {
    Edges edges;
    CU_TRY(list_edges_of(node, Direction::kPredecessors, edges));
    dependencies = std::move(edges.from);
    return true;
}

}  // namespace

bool find_partners(CUgraph first, CUgraph other, Partners& partners) {
    std::vector<CUgraphNode> ours, theirs;
    if (!list_exits(first, ours) || !list_exits(other, theirs)) return false;
    std::vector<std::pair<CUgraphNode, CUgraphNode>> to_visit;
    const auto pair_all = [&] {
        if (ours.size() != theirs.size()) return shapes_differ();
        for (std::size_t i = 0; i < ours.size(); ++i) {
            const auto known = partners.emplace(theirs[i], ours[i]);
            if (known.second) to_visit.emplace_back(ours[i], theirs[i]);
            if (known.first->second != ours[i]) return shapes_differ();
        }
        return true;
    };
    if (!pair_all()) return false;
    while (!to_visit.empty()) {
        const auto [mine, yours] = to_visit.back();
        to_visit.pop_back();
        if (!list_dependencies(mine, ours) || !list_dependencies(yours, theirs) || !pair_all()) return false;
    }
    return true;
}

namespace {

bool has_parameters(const NodeRecord& node) noexcept {
    return node.metadata->parameters != nullptr;
}

bool pair_graphs(GraphBox& first, GraphBox& other, std::vector<NodePair>& pairs);

bool pair_inner(NodeRecord& first, NodeRecord& other, std::vector<NodePair>& pairs) {
    if (first.kind == NodeKind::kChild && child_box(first) == nullptr) return false;
    const std::vector<GraphBox*>& theirs = other.metadata->inner;
    const std::vector<GraphBox*>& ours = first.make_metadata().inner;
    if (ours.size() != theirs.size()) return shapes_differ();
    for (std::size_t i = 0; i < ours.size(); ++i)
        if (!pair_graphs(*ours[i], *theirs[i], pairs)) return false;
    return true;
}

bool pair_graphs(GraphBox& first, GraphBox& other, std::vector<NodePair>& pairs) {
    Partners partners;
    bool found = &first == &other;
    if (!found) {
        const GilRelease released;
        found = find_partners(first.raw, other.raw, partners);
    }
    if (!found) return false;
    for (std::size_t i = 0; i < other.nodes.size(); ++i) {
        NodeRecord& node = other.nodes[i];
        if (node.raw == nullptr || !node.metadata) continue;
        NodeRecord* partner = &first == &other ? &node : first.nodes.find(partners[node.raw]);
        if (partner == nullptr) return shapes_differ();
        if (has_parameters(node)) pairs.push_back({partner, &node});
        if (!node.metadata->inner.empty() && !pair_inner(*partner, node, pairs)) return false;
    }
    return true;
}

}  // namespace

bool pair_parameter_nodes(GraphBox& first, GraphBox& other, std::vector<NodePair>& pairs) {
    return pair_graphs(first, other, pairs);
}

}  // namespace cg
