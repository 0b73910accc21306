// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The nodes of a saved graph: adds the rows of the table `graphs` to definitions.
#ifndef CUDA_GRAPHS_LOADER_NODES_HPP
#define CUDA_GRAPHS_LOADER_NODES_HPP

#include "references.hpp"

namespace cgr {

// Adds all nodes to an empty definition, whose parameters are `parameters`. The caller holds the lock of the core.
void add_all_nodes(Tables& tables, const cg::NodeHandle& definition, Parameters& parameters);

}  // namespace cgr

#endif
