// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Whether a definition still has the shape that it had when an executable was made of it. The nodes of an executable go
// by the names and the shape of that day: once the definition is edited into another shape, an isomorphic one even, it
// tells no more which node of a third definition is which, nor do its own nodes name those that a driver pairs them
// with.
//
// Instantiating costs nothing: an executable shares a note with the definition, which is filled in before the first
// change that comes after, and only if an executable is still there. Changes through raw handles are not seen.
// With the GIL.
#ifndef CUDA_GRAPHS_HANDLES_GRAPH_SHAPE_HPP
#define CUDA_GRAPHS_HANDLES_GRAPH_SHAPE_HPP

#include <cuda.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace cg {

struct GraphBox;

// Nodes and edges of one graph, summed up.
struct GraphSum {
    const GraphBox* graph;  // of the hierarchy, as long as that is there
    std::uint64_t sum;
};

struct ShapeNote {
    std::vector<GraphSum> sums;  // of all graphs of the hierarchy that are known; empty until something changes
    bool is_lost = false;        // the driver could not be asked
};
using ShapeHandle = std::shared_ptr<ShapeNote>;

// The shape that the hierarchy has now.
ShapeHandle note_shape(GraphBox& graph);

// Nodes or edges of the graph are about to come or go.
void about_to_change(GraphBox& graph) noexcept;

// False also where nobody can tell. Where the shape is that again, the note is one of now.
bool has_shape(GraphBox& graph, ShapeHandle& shape);

}  // namespace cg

#endif
