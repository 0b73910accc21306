// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Labels that users know a node by: its name, the source line that added it, and its declared memory
// accesses. The driver does not know them, so a clone has no labels. copy_labels() copies those of a definition that is
// about to be embedded. give_labels() puts them on the nodes of the clone. Both lists are in the driver's order, which
// a clone shares with its source.
#ifndef CUDA_GRAPHS_CORE_GRAPHS_NODE_LABELS_HPP
#define CUDA_GRAPHS_CORE_GRAPHS_NODE_LABELS_HPP

#include <cuda.h>

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "access.hpp"
#include "core/handles/box.hpp"

namespace cg {

struct GraphBox;
struct GraphLabels;

// An instruction of a code object in the hierarchy's SourceTable. Code 0: unknown.
struct SourceLocation {
    std::uint32_t code = 0;
    std::int32_t instruction = 0;
};

// The code objects that added the nodes of a hierarchy: mostly one or two. Keeping a code object alive prevents the
// reuse of its address.
class SourceTable {
  public:
    // Returns the index of a code object, or 0 when it is not in the table yet.
    std::uint32_t find(const void* code) const noexcept { return code == last_ ? last_index_ : find_older(code); }
    std::uint32_t add(Opaque code);
    const Opaque& operator[](std::uint32_t index) const noexcept { return index == 1 ? first_ : more_[index - 2]; }

  private:
    std::uint32_t find_older(const void* code) const noexcept;

    Opaque first_;  // enough for a small graph
    std::vector<Opaque> more_;
    std::unordered_map<const void*, std::uint32_t> index_;  // of `more_`
    const void* last_ = nullptr;
    std::uint32_t last_index_ = 0;
};

// The labels of one node, except for its source.
struct NodeLabels {
    std::string name;         // name given by the user, in UTF-8; empty without a name
    DeclaredHandle accesses;  // declared accesses of a kernel or a host callback; null without any
};

// Returns the labels of all nodes of a graph, for a clone of it.
std::shared_ptr<const GraphLabels> copy_labels(GraphBox& graph);

// Returns the maximum number of nested levels of graphs inside the labelled graph.
std::uint32_t levels_inside(const GraphLabels& labels) noexcept;

// Puts the nodes of a clone on record with the labels of its source. Does nothing when the nodes do not match the
// labels.
CUresult give_labels(GraphBox& clone, const std::shared_ptr<const GraphLabels>& labels);

}  // namespace cg

#endif
