// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "node_labels.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "core/handles/error.hpp"
#include "core/handles/gil.hpp"
#include "definition.hpp"

namespace cg {

struct CopiedLabels {
    NodeKind kind = NodeKind::kOther;
    NodeLabels labels;
    Opaque code;
    std::int32_t instruction = 0;
    std::shared_ptr<const GraphLabels> inner;  // labels of an embedded graph
};

struct GraphLabels {
    std::vector<CopiedLabels> nodes;
    std::uint32_t levels_inside = 0;
};

std::uint32_t levels_inside(const GraphLabels& labels) noexcept {
    return labels.levels_inside;
}

std::uint32_t SourceTable::find_older(const void* code) const noexcept {
    if (code == first_.get()) return 1;
    const auto found = index_.find(code);
    return found == index_.end() ? 0 : found->second;
}

std::uint32_t SourceTable::add(Opaque code) {
    last_ = code.get();
    if (!first_) {
        first_ = std::move(code);
        return last_index_ = 1;
    }
    more_.push_back(std::move(code));
    return last_index_ = index_[last_] = static_cast<std::uint32_t>(more_.size() + 1);
}

namespace {

CUresult list_unlocked(const GraphBox& graph, std::vector<CUgraphNode>& nodes) {
    const GilRelease released;
    return list_nodes(graph.raw, nodes);
}

CopiedLabels copy_of(const NodeRecord& node) {
    CopiedLabels copy;
    copy.kind = node.kind;
    if (node.source.code != 0) copy.code = (*node.graph->sources)[node.source.code];
    copy.instruction = node.source.instruction;
    if (!node.metadata) return copy;
    copy.labels = node.metadata->labels;
    if (node.kind != NodeKind::kChild) return copy;
    copy.inner =
        node.metadata->inner.empty() ? node.metadata->inner_labels : copy_labels(*node.metadata->inner.front());
    return copy;
}

void give(NodeRecord& node, const CopiedLabels& copy) {
    if (copy.code) {
        SourceTable& sources = *node.graph->sources;
        const std::uint32_t known = sources.find(copy.code.get());
        node.source = {known != 0 ? known : sources.add(copy.code), copy.instruction};
    }
    if (copy.labels.name.empty() && !copy.labels.accesses && !copy.inner) return;
    NodeMetadata& metadata = node.make_metadata();
    metadata.labels = copy.labels;
    metadata.inner_labels = copy.inner;
}

bool same_kinds(const std::vector<CUgraphNode>& nodes, const std::vector<CopiedLabels>& copies, CUresult& status) {
    const GilRelease released;
    if (nodes.size() != copies.size()) return false;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        NodeKind kind = NodeKind::kOther;
        status = find_kind(nodes[i], &kind);
        if (status != CUDA_SUCCESS || (copies[i].kind != NodeKind::kOther && copies[i].kind != kind)) return false;
    }
    return true;
}

}  // namespace

std::shared_ptr<const GraphLabels> copy_labels(GraphBox& graph) {
    auto labels = std::make_shared<GraphLabels>();
    std::vector<CUgraphNode> nodes;
    const CUresult status = list_unlocked(graph, nodes);
    if (status != CUDA_SUCCESS) return note_error(status, "cuGraphGetNodes"), nullptr;
    labels->nodes.reserve(nodes.size());
    for (CUgraphNode raw : nodes) {
        const NodeRecord* const node = graph.nodes.find(raw);
        labels->nodes.push_back(node != nullptr ? copy_of(*node) : CopiedLabels{});
        const bool has_inner =
            node != nullptr && node->kind == NodeKind::kChild && node->metadata && !node->metadata->inner.empty();
        const auto& inner = labels->nodes.back().inner;
        if (has_inner && !inner) return nullptr;  // copy_labels has noted the error
        const std::uint32_t levels = inner ? 1 + inner->levels_inside : node != nullptr ? levels_inside(*node) : 0;
        labels->levels_inside = std::max(labels->levels_inside, levels);
    }
    return labels;
}

CUresult give_labels(GraphBox& clone, const std::shared_ptr<const GraphLabels>& labels) {
    const std::vector<CopiedLabels>& copies = labels->nodes;
    std::vector<CUgraphNode> nodes;
    CUresult status = list_unlocked(clone, nodes);
    if (status != CUDA_SUCCESS || !same_kinds(nodes, copies, status)) return status;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        if (copies[i].kind == NodeKind::kOther) continue;
        NodeRecord* const known = clone.nodes.find(nodes[i]);  // another thread may have recorded it meanwhile
        give(known != nullptr ? *known : add_node(clone, nodes[i], copies[i].kind, OwnerSlot{}), copies[i]);
    }
    return CUDA_SUCCESS;
}

}  // namespace cg
