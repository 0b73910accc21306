// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Addresses in places (graph_memory.hpp) among the parameters of a node. A node is read with addresses in stand-ins.
// Before the driver gets the node, each of them becomes the use of a parameter, which each executable gives an address,
// or the address of the place's own memory. Kernels may have them anywhere in their arguments, at multiples of 8 bytes.
#ifndef CUDA_GRAPHS_CORE_GRAPHS_PLACE_USES_HPP
#define CUDA_GRAPHS_CORE_GRAPHS_PLACE_USES_HPP

#include <cuda.h>

#include <cstdint>
#include <vector>

#include "core/resources/module.hpp"
#include "definition.hpp"
#include "named_parameter.hpp"
#include "node_spec.hpp"

namespace cg {

// An address in a place. `use` tells where it is; its parameter is null.
struct PlaceWord {
    GraphMemoryRef place;
    ParameterUse use;
};

// Lists the addresses in places. `parameters` are those of the kernel of a kernel node.
std::vector<PlaceWord> list_place_words(const NodeSpec& spec, const std::vector<Parameter>* parameters);

// Removes the uses of parameters that stand for places. The parameters of the node keep the addresses in stand-ins.
void drop_place_uses(std::vector<ParameterUse>& uses);

// Returns true for a copy of rows, whose addresses cannot change in an executable, and for a fill of rows, whose
// placeholder would be as large as the rows.
bool has_fixed_addresses(const NodeSpec& spec) noexcept;

// Copies the arguments of a kernel that were loaded from a node: they are the driver's until the node gets others.
void own_arguments(NodeSpec& spec, const std::vector<Parameter>& parameters);

// Writes the address of a place's own memory.
void write_settled(NodeSpec& spec, const PlaceWord& word, const std::vector<Parameter>* parameters);

// Puts the addresses that a node was read with in place of those of placeholders for places, and the sizes for those of
// all placeholders.
void show_wanted(NodeSpec& loaded, const NodeParameters& parameters) noexcept;

// Returns the nodes of the hierarchy that use the parameter.
std::vector<NodeRecord*> list_users(GraphBox& graph, const NamedParameter& parameter);

}  // namespace cg

#endif
