// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// What people know a node by: its name, the line of the program that added it, and the memory that a kernel was said to
// touch. The driver knows nothing of them, so what it
// clones has none: copy_labels() takes those of a definition that is about to be embedded, give_labels() puts them on
// the nodes of the clone. Both lists are in the driver's order, which a clone shares with its source.
#ifndef CUDA_GRAPHS_HANDLES_NODE_LABELS_HPP
#define CUDA_GRAPHS_HANDLES_NODE_LABELS_HPP

#include <cuda.h>

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "box.hpp"

namespace cg {

struct GraphBox;
struct GraphLabels;

// An instruction of a code object of the hierarchy's SourceTable. Code 0: unknown.
struct SourcePlace {
    std::uint32_t code = 0;
    std::int32_t instruction = 0;
};

// The code objects that the nodes of a hierarchy were added by: mostly one or two. Keeping them keeps their addresses
// from meaning others.
class SourceTable {
  public:
    // 0 when it is not here yet.
    std::uint32_t find(const void* code) const noexcept { return code == last_ ? last_index_ : find_older(code); }
    std::uint32_t add(Opaque code);
    const Opaque& operator[](std::uint32_t index) const noexcept { return index == 1 ? first_ : more_[index - 2]; }

  private:
    std::uint32_t find_older(const void* code) const noexcept;

    Opaque first_;  // a small graph needs no more than this one
    std::vector<Opaque> more_;
    std::unordered_map<const void*, std::uint32_t> index_;  // of `more_`
    const void* last_ = nullptr;
    std::uint32_t last_index_ = 0;
};

// Of one node, but for its source.
struct NodeLabels {
    std::string name;  // as the user gave it, in UTF-8; empty: none was given
    Opaque touches;    // of a kernel node: what it was said to read and write; a Python object
};

// The labels of all nodes of a graph, for a clone of it.
std::shared_ptr<const GraphLabels> copy_labels(GraphBox& graph);

// Graphs inside one another that are inside the graph whose labels these are, at most.
std::uint32_t levels_inside(const GraphLabels& labels) noexcept;

// Puts the nodes of a clone on record with the labels of its source. Does nothing when they are not as those were.
CUresult give_labels(GraphBox& clone, const std::shared_ptr<const GraphLabels>& labels);

}  // namespace cg

#endif
