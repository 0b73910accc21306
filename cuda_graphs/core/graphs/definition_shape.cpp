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
CUresult checksum_of(CUgraph graph, std::uint64_t* sum) {
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
bool list_checksums(GraphBox& graph, std::vector<GraphChecksum>& sums) noexcept {
    try {
        const std::vector<GraphBox*> all = list_living(graph);
        sums.reserve(all.size());
        const GilRelease released;
        for (const GraphBox* each : all) {
            sums.push_back({each, 0});
            if (checksum_of(each->raw, &sums.back().checksum) != CUDA_SUCCESS) return false;
        }
        return true;
    } catch (const std::bad_alloc&) {
        return false;
    }
}

// Compares the shapes. A new embedding does not change the graphs around it. A graph without a recorded checksum counts
// by its `changed` flag.
bool are_equal(const std::vector<GraphChecksum>& before, const std::vector<GraphChecksum>& now) noexcept {
    return std::all_of(now.begin(), now.end(), [&](const GraphChecksum& each) {
        const auto known = [&](const GraphChecksum& other) { return other.graph == each.graph; };
        const auto found = std::find_if(before.begin(), before.end(), known);
        return found == before.end() ? !each.graph->changed : found->checksum == each.checksum;
    });
}

}  // namespace

ShapeHandle take_snapshot(GraphBox& graph) {
    std::weak_ptr<ShapeSnapshot>& snapshot = shape_of(graph);
    ShapeHandle shape = snapshot.lock();
    if (!shape) snapshot = shape = std::make_shared<ShapeSnapshot>();
    return shape;
}

void fill_snapshot(GraphBox& graph) noexcept {
    std::weak_ptr<ShapeSnapshot>& snapshot = shape_of(graph);
    if (const ShapeHandle shape = snapshot.lock()) shape->is_unknown = !list_checksums(graph, shape->checksums);
    snapshot.reset();
}

bool has_shape(GraphBox& graph, ShapeHandle& shape) {
    std::weak_ptr<ShapeSnapshot>& snapshot = shape_of(graph);
    if (shape == snapshot.lock()) return true;
    std::vector<GraphChecksum> now;
    if (shape->is_unknown || !list_checksums(graph, now) || !are_equal(shape->checksums, now)) return false;
    shape = take_snapshot(graph);
    return true;
}

}  // namespace cg
