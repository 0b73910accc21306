// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Detects whether a definition still has the shape (nodes and edges) from which an executable was instantiated. The
// nodes of that shape name the nodes of the executable. After the definition was edited into another shape, even an
// isomorphic one, it no longer shows which nodes a driver pairs with those of the executable.
//
// Instantiating is free of charge: the executable and the definition share an empty snapshot. The snapshot is
// filled in before the next change of the definition, if the executable still exists. Changes through raw handles are
// not detected. The caller holds the GIL.
#ifndef CUDA_GRAPHS_CORE_GRAPHS_DEFINITION_SHAPE_HPP
#define CUDA_GRAPHS_CORE_GRAPHS_DEFINITION_SHAPE_HPP

#include <cuda.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace cg {

struct GraphBox;

// A checksum of the nodes and edges of one graph.
struct GraphChecksum {
    const GraphBox* graph;  // graph of the hierarchy; valid while the hierarchy lives
    std::uint64_t checksum;
};

struct ShapeSnapshot {
    std::vector<GraphChecksum> checksums;  // of all known graphs of the hierarchy; empty until the first change
    bool is_unknown = false;               // a driver query failed
};
using ShapeHandle = std::shared_ptr<ShapeSnapshot>;

// Returns a snapshot of the shape that the hierarchy has now.
ShapeHandle take_snapshot(GraphBox& graph);

// Fills the snapshot of a graph that an executable uses.
void fill_snapshot(GraphBox& graph) noexcept;

// Returns true when the hierarchy has the shape of the snapshot, and then replaces the snapshot by one of its present
// state. Returns false also when a query fails.
bool has_shape(GraphBox& graph, ShapeHandle& shape);

}  // namespace cg

#endif
