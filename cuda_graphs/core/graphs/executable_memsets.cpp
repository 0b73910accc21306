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

struct SpecialNodes {
    std::vector<CUgraphNode> memsets;
    std::vector<NodeRecord*> holders;  // of child graphs and bodies
};

void add_special(NodeRecord& node, SpecialNodes& special) {
    if (node.raw == nullptr) return;
    if (node.kind == NodeKind::kMemset) special.memsets.push_back(node.raw);
    if (node.kind == NodeKind::kChild || (node.metadata && !node.metadata->inner.empty()))
        special.holders.push_back(&node);
}

// Counts the driver's nodes, and lists them if some may have no record.
bool list_if_unrecorded(const GraphBox& graph, std::size_t* count, std::vector<CUgraphNode>& nodes) {
    const GilRelease released;
    CU_TRY(driver().cuGraphGetNodes(graph.raw, nullptr, count));
    if (*count != graph.nodes.alive() && *count != graph.counted_nodes) CU_TRY(list_nodes(graph.raw, nodes));
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
    if (!list_if_unrecorded(graph, &count, nodes)) return false;
    if (nodes.empty()) return true;
    graph.counted_nodes = count;
    const auto is_known = [&](CUgraphNode raw) { return graph.nodes.find(raw) != nullptr; };
    nodes.erase(std::remove_if(nodes.begin(), nodes.end(), is_known), nodes.end());
    if (nodes.empty()) return true;
    if (!find_kinds(nodes, kinds)) return false;
    for (std::size_t i = 0; i < nodes.size(); ++i)
        if (kinds[i] == NodeKind::kMemset || kinds[i] == NodeKind::kChild) graph.nodes.add(graph, nodes[i], kinds[i]);
    return true;
}

bool list_special(GraphBox& graph, SpecialNodes& special) {
    if (!record_missing(graph)) return false;
    if (!graph.nodes.may_hold_memsets()) return true;
    graph.nodes.for_each([&](NodeRecord& node) { add_special(node, special); });
    for (NodeRecord* holder : special.holders)
        if (holder->kind == NodeKind::kChild && child_box(*holder) == nullptr) return false;
    return true;
}

// Records the parameters of memset nodes. `names` is empty when the nodes name themselves.
bool add_own(const std::vector<CUgraphNode>& nodes, const Partners& names, MemsetList& memsets) {
    if (nodes.empty()) return true;
    const GilRelease released;
    for (const CUgraphNode node : nodes) {
        NodeSpec spec;
        spec.begin(NodeKind::kMemset);
        CU_TRY(load_node(node, spec));
        const auto name = names.find(node);
        memsets.push_back({name == names.end() ? node : name->second, spec.params.memset});
    }
    return true;
}

bool add_inner(NodeRecord& first, NodeRecord& other, MemsetList& memsets) {
    const std::vector<GraphBox*>& ours = first.make_metadata().inner;
    const std::vector<GraphBox*>& theirs = other.make_metadata().inner;
    if (ours.size() != theirs.size()) return shapes_differ();
    for (std::size_t i = 0; i < ours.size(); ++i)
        if (!list_memsets(*ours[i], *theirs[i], memsets)) return false;
    return true;
}

}  // namespace

bool list_memsets(GraphBox& first, GraphBox& graph, MemsetList& memsets) {
    SpecialNodes special, named;
    if (!list_special(graph, special)) return false;
    if (special.memsets.empty() && special.holders.empty()) return true;
    Partners partners;
    const bool same = &first == &graph;
    if (!same) {
        if (!list_special(first, named)) return false;
        const GilRelease released;
        if (!find_partners(first.raw, graph.raw, partners)) return false;
    }
    if (!add_own(special.memsets, partners, memsets)) return false;
    for (NodeRecord* holder : special.holders) {
        NodeRecord* partner = same ? holder : first.nodes.find(partners[holder->raw]);
        if (partner == nullptr) return shapes_differ();
        if (!add_inner(*partner, *holder, memsets)) return false;
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

CUresult ExecMemsets::replace(CUgraphExec exec, const MemsetList& memsets) {
    CUresult status = CUDA_SUCCESS;
    for (const MemsetParameters& each : memsets) {
        Entry& entry = entries_[each.node];
        entry.params = each.params;
        if (!entry.is_disabled) continue;
        CUresult again = apply(exec, each.node, entry, false);
        if (again != CUDA_SUCCESS) again = apply(exec, each.node, entry, false);  // there is no way to undo the update
        entry.is_disabled = again == CUDA_SUCCESS;
        if (status == CUDA_SUCCESS) status = again;
    }
    return status;
}

bool ExecMemsets::is_disabled(CUgraphNode node) const {
    const auto found = entries_.find(node);
    return found != entries_.end() && found->second.is_disabled;
}

bool ExecMemsets::has_disabled() const noexcept {
    return std::any_of(entries_.begin(), entries_.end(), [](const auto& each) { return each.second.is_disabled; });
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

CUresult ExecMemsets::set_enabled(CUgraphExec exec, CUgraphNode node, bool on) {
    Entry& entry = entries_.at(node);
    if (entry.is_disabled != on) return CUDA_SUCCESS;
    const CUresult status = apply(exec, node, entry, on);
    if (status == CUDA_SUCCESS) entry.is_disabled = !on;
    return status;
}

CUresult ExecMemsets::set(CUgraphExec exec, CUgraphNode node, CUgraphNodeParams& params) {
    const CUresult status = driver().cuGraphExecNodeSetParams(exec, node, &params);
    if (status != CUDA_SUCCESS) return status;
    Entry& entry = entries_[node];
    const CUDA_MEMSET_NODE_PARAMS_v2 before = std::exchange(entry.params, params.memset);
    source_ = {};
    const CUresult again = entry.is_disabled ? apply(exec, node, entry, false) : CUDA_SUCCESS;
    if (again == CUDA_SUCCESS) return again;
    entry.params = before;
    entry.is_disabled = apply(exec, node, entry, false) == CUDA_SUCCESS;
    return again;
}

CUresult ExecTarget::set(CUgraphNode node, CUgraphNodeParams& params) const {
    if (params.type == CU_GRAPH_NODE_TYPE_MEMSET) return memsets.set(raw, node, params);
    return driver().cuGraphExecNodeSetParams(raw, node, &params);
}

}  // namespace cg
