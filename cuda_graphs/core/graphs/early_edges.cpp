// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "early_edges.hpp"

namespace cg {

namespace {

CUresult list_own(CUgraphNode node, const std::unordered_set<CUgraphNode>& sources, Edges& own, Edges& early) {
    own = early = Edges();
    const CUresult status = list_edges_of(node, Direction::kPredecessors, own);
    for (std::size_t i = 0; i < own.size(); ++i) {
        early.copy(own, i);
        const CUgraphEdgeData& data = own.data[i];
        const bool is_full = data.from_port == 0 && data.to_port == 0 && data.type == 0;
        if (is_full && sources.count(own.from[i]) != 0)
            early.data.back() =
                edge_data(CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC, 0, CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC);
    }
    return status;
}

}  // namespace

void EarlyEdges::add(const NodeRecord& source, const NodeRecord& target) {
    if (targets_.empty() || targets_.back().node != target.raw) {
        Target made{target.graph, target.raw, {}, {}, {}};
        targets_.push_back(std::move(made));
    }
    targets_.back().sources.insert(source.raw);
}

void EarlyEdges::mark() noexcept {
    for (const Target& each : targets_) each.graph->edited = true;
}

CUresult EarlyEdges::begin() {
    for (Target& each : targets_) {
        CUresult status = list_own(each.node, each.sources, each.own, each.early);
        if (status == CUDA_SUCCESS) status = replace_edges(each.graph->raw, each.own, each.early);
        if (status != CUDA_SUCCESS) {
            const CUresult ended = end();
            return ended == CUDA_SUCCESS ? status : ended;
        }
        ++done_;
    }
    return CUDA_SUCCESS;
}

CUresult EarlyEdges::end() {
    CUresult status = CUDA_SUCCESS;
    for (; done_ > 0; --done_) {
        const Target& each = targets_[done_ - 1];
        CUresult replaced = replace_edges(each.graph->raw, each.early, each.own);
        if (replaced != CUDA_SUCCESS) replaced = replace_edges(each.graph->raw, each.early, each.own);
        if (status == CUDA_SUCCESS) status = replaced;
    }
    return status;
}

}  // namespace cg
