// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "executable_memsets.hpp"

#include <algorithm>
#include <utility>

#include "core/driver/table.hpp"
#include "core/handles/error.hpp"
#include "core/handles/gil.hpp"
#include "node_pairing.hpp"
#include "node_spec.hpp"

namespace cg {

namespace {

struct Insides {
    std::vector<CUgraphNode> memsets;
    std::vector<NodeRecord*> holders;  // of child graphs and bodies
};

void sort_in(NodeRecord& node, Insides& insides) {
    if (node.raw == nullptr) return;
    if (node.kind == NodeKind::kMemset) insides.memsets.push_back(node.raw);
    if (node.kind == NodeKind::kChild || (node.facts && !node.facts->inner.empty())) insides.holders.push_back(&node);
}

// Counts the driver's nodes, and lists them if some may have no record.
bool list_if_other(const GraphBox& graph, std::size_t* count, std::vector<CUgraphNode>& nodes) {
    const GilRelease released;
    CU_TRY(driver().cuGraphGetNodes(graph.raw, nullptr, count));
    if (*count != graph.nodes.alive() && *count != graph.looked_at) CU_TRY(list_nodes(graph.raw, nodes));
    return true;
}

bool find_kinds(const std::vector<CUgraphNode>& nodes, std::vector<NodeKind>& kinds) {
    const GilRelease released;
    kinds.resize(nodes.size());
    for (std::size_t i = 0; i < nodes.size(); ++i) CU_TRY(find_kind(nodes[i], &kinds[i]));
    return true;
}

// Records the memset and child nodes that have no record yet: clones and captures create nodes without records.
bool record_missing(GraphBox& graph) {
    std::size_t count = 0;
    std::vector<CUgraphNode> nodes;
    std::vector<NodeKind> kinds;
    if (!list_if_other(graph, &count, nodes)) return false;
    if (nodes.empty()) return true;
    graph.looked_at = count;
    const auto is_known = [&](CUgraphNode raw) { return graph.nodes.find(raw) != nullptr; };
    nodes.erase(std::remove_if(nodes.begin(), nodes.end(), is_known), nodes.end());
    if (nodes.empty()) return true;
    if (!find_kinds(nodes, kinds)) return false;
    for (std::size_t i = 0; i < nodes.size(); ++i)
        if (kinds[i] == NodeKind::kMemset || kinds[i] == NodeKind::kChild) graph.nodes.add(graph, nodes[i], kinds[i]);
    return true;
}

bool list_insides(GraphBox& graph, Insides& insides) {
    if (!record_missing(graph)) return false;
    if (!graph.nodes.with_more()) return true;
    graph.nodes.for_each([&](NodeRecord& node) { sort_in(node, insides); });
    for (NodeRecord* holder : insides.holders)
        if (holder->kind == NodeKind::kChild && child_box(*holder) == nullptr) return false;
    return true;
}

// Records the parameters of memset nodes. `names` is empty when the nodes name themselves.
bool note_own(const std::vector<CUgraphNode>& nodes, const Partners& names, NotedMemsets& noted) {
    if (nodes.empty()) return true;
    const GilRelease released;
    for (const CUgraphNode node : nodes) {
        NodeSpec spec;
        spec.begin(NodeKind::kMemset);
        CU_TRY(load_node(node, spec));
        const auto name = names.find(node);
        noted.push_back({name == names.end() ? node : name->second, spec.params.memset});
    }
    return true;
}

bool note_inside(NodeRecord& first, NodeRecord& other, NotedMemsets& noted) {
    const std::vector<GraphBox*>& ours = first.make_facts().inner;
    const std::vector<GraphBox*>& theirs = other.make_facts().inner;
    if (ours.size() != theirs.size()) return shapes_differ();
    for (std::size_t i = 0; i < ours.size(); ++i)
        if (!note_memsets(*ours[i], *theirs[i], noted)) return false;
    return true;
}

}  // namespace

bool note_memsets(GraphBox& first, GraphBox& graph, NotedMemsets& noted) {
    Insides insides, named;
    if (!list_insides(graph, insides)) return false;
    if (insides.memsets.empty() && insides.holders.empty()) return true;
    Partners partners;
    const bool same = &first == &graph;
    if (!same) {
        if (!list_insides(first, named)) return false;
        const GilRelease released;
        if (!find_partners(first.raw, graph.raw, partners)) return false;
    }
    if (!note_own(insides.memsets, partners, noted)) return false;
    for (NodeRecord* holder : insides.holders) {
        NodeRecord* partner = same ? holder : first.nodes.find(partners[holder->raw]);
        if (partner == nullptr) return shapes_differ();
        if (!note_inside(*partner, *holder, noted)) return false;
    }
    return true;
}

namespace {

bool is_flat(const CUDA_MEMSET_NODE_PARAMS_v2& params) noexcept {
    return params.height <= 1;
}

constexpr std::size_t kLargestElement = 4;

}  // namespace

CUresult ExecMemsets::apply(CUgraphExec exec, CUgraphNode node, const Entry& entry, bool on) {
    CUgraphNodeParams params{};
    params.type = CU_GRAPH_NODE_TYPE_MEMSET;
    params.memset = entry.params;
    if (params.memset.ctx == nullptr) params.memset.ctx = entry.context;
    if (!on) {
        params.memset.dst = *entry.scratch;
        if (is_flat(entry.params)) params.memset.width = 1;
    }
    return driver().cuGraphExecNodeSetParams(exec, node, &params);
}

CUresult ExecMemsets::take_over(CUgraphExec exec, const NotedMemsets& noted) {
    CUresult status = CUDA_SUCCESS;
    for (const NotedMemset& each : noted) {
        Entry& entry = entries_[each.node];
        entry.params = each.params;
        if (!entry.off) continue;
        CUresult again = apply(exec, each.node, entry, false);
        if (again != CUDA_SUCCESS) again = apply(exec, each.node, entry, false);  // there is no way to undo the update
        entry.off = again == CUDA_SUCCESS;
        if (status == CUDA_SUCCESS) status = again;
    }
    return status;
}

bool ExecMemsets::is_off(CUgraphNode node) const {
    const auto found = entries_.find(node);
    return found != entries_.end() && found->second.off;
}

bool ExecMemsets::has_off() const noexcept {
    return std::any_of(entries_.begin(), entries_.end(), [](const auto& each) { return each.second.off; });
}

PointerHandle ExecMemsets::scratch(CUgraphNode node) const {
    return entries_.at(node).scratch;
}

std::size_t ExecMemsets::scratch_size(CUgraphNode node) const {
    const CUDA_MEMSET_NODE_PARAMS_v2& params = entries_.at(node).params;
    return is_flat(params) ? kLargestElement : params.pitch * params.height;
}

void ExecMemsets::give_scratch(CUgraphNode node, PointerHandle scratch, CUcontext context) {
    Entry& entry = entries_.at(node);
    entry.scratch = std::move(scratch);
    entry.context = context;
}

std::vector<Opaque> ExecMemsets::all_scratch() const {
    std::vector<Opaque> all;
    for (const auto& [node, entry] : entries_)
        if (entry.scratch) all.push_back(entry.scratch);
    return all;
}

CUresult ExecMemsets::turn(CUgraphExec exec, CUgraphNode node, bool on) {
    Entry& entry = entries_.at(node);
    if (entry.off != on) return CUDA_SUCCESS;
    const CUresult status = apply(exec, node, entry, on);
    if (status == CUDA_SUCCESS) entry.off = !on;
    return status;
}

CUresult ExecMemsets::set(CUgraphExec exec, CUgraphNode node, CUgraphNodeParams& params) {
    const CUresult status = driver().cuGraphExecNodeSetParams(exec, node, &params);
    if (status != CUDA_SUCCESS) return status;
    Entry& entry = entries_[node];
    const CUDA_MEMSET_NODE_PARAMS_v2 before = std::exchange(entry.params, params.memset);
    source_ = {};
    const CUresult again = entry.off ? apply(exec, node, entry, false) : CUDA_SUCCESS;
    if (again == CUDA_SUCCESS) return again;
    entry.params = before;
    entry.off = apply(exec, node, entry, false) == CUDA_SUCCESS;
    return again;
}

CUresult ExecTarget::set(CUgraphNode node, CUgraphNodeParams& params) const {
    if (params.type == CU_GRAPH_NODE_TYPE_MEMSET) return memsets.set(raw, node, params);
    return driver().cuGraphExecNodeSetParams(raw, node, &params);
}

}  // namespace cg
