// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "definition_shape.hpp"

#include <algorithm>
#include <cstddef>
#include <new>

#include "core/handles/gil.hpp"
#include "definition.hpp"

namespace cg {

namespace {

std::uint64_t mix(std::uint64_t sum, std::uint64_t value) noexcept {
    constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15;  // 2^64 over the golden ratio
    sum = (sum ^ value) * kOdd;
    return sum ^ (sum >> 32);
}

std::uint64_t number_of(const void* handle) noexcept {
    return static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(handle));
}

// Computes the checksum of a graph. The order of nodes matters, that of edges does not.
CUresult sign(CUgraph graph, std::uint64_t* sum) {
    std::vector<CUgraphNode> nodes;
    Edges edges;
    CUresult status = list_nodes(graph, nodes);
    if (status == CUDA_SUCCESS) status = list_edges(graph, edges);
    *sum = 1;
    for (const CUgraphNode node : nodes) *sum = mix(*sum, number_of(node));
    std::uint64_t all = 0;
    for (std::size_t i = 0; i < edges.size(); ++i) all += mix(mix(1, number_of(edges.from[i])), number_of(edges.to[i]));
    *sum = mix(*sum, all);
    return status;
}

// Computes the checksums of all living graphs; returns false when a query fails.
bool sum_up(GraphBox& graph, std::vector<GraphSum>& sums) noexcept {
    try {
        const std::vector<GraphBox*> all = list_living(graph);
        sums.reserve(all.size());
        const GilRelease released;
        for (const GraphBox* each : all) {
            sums.push_back({each, 0});
            if (sign(each->raw, &sums.back().sum) != CUDA_SUCCESS) return false;
        }
        return true;
    } catch (const std::bad_alloc&) {
        return false;
    }
}

// Compares the shapes. A new embedding does not change the graphs around it. A graph without a noted checksum counts by
// its `changed` flag.
bool is_like(const std::vector<GraphSum>& before, const std::vector<GraphSum>& now) noexcept {
    return std::all_of(now.begin(), now.end(), [&](const GraphSum& each) {
        const auto known = [&](const GraphSum& other) { return other.graph == each.graph; };
        const auto found = std::find_if(before.begin(), before.end(), known);
        return found == before.end() ? !each.graph->changed : found->sum == each.sum;
    });
}

}  // namespace

ShapeHandle note_shape(GraphBox& graph) {
    std::weak_ptr<ShapeNote>& noted = shape_of(graph);
    ShapeHandle shape = noted.lock();
    if (!shape) noted = shape = std::make_shared<ShapeNote>();
    return shape;
}

void about_to_change(GraphBox& graph) noexcept {
    graph.changed = true;
    note_memset_change(graph);
    std::weak_ptr<ShapeNote>& noted = shape_of(graph);
    if (noted.expired()) return;
    if (const ShapeHandle shape = noted.lock()) shape->is_lost = !sum_up(graph, shape->sums);
    noted.reset();
}

bool has_shape(GraphBox& graph, ShapeHandle& shape) {
    std::weak_ptr<ShapeNote>& noted = shape_of(graph);
    if (shape == noted.lock()) return true;
    std::vector<GraphSum> now;
    if (shape->is_lost || !sum_up(graph, now) || !is_like(shape->sums, now)) return false;
    shape = note_shape(graph);
    return true;
}

}  // namespace cg
