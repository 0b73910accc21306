// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// From the row of a node to its NodeSpec: one function for each kind, as in graph/nodes/spec.pyx.
#ifndef CUDA_GRAPHS_LOADER_SPECS_HPP
#define CUDA_GRAPHS_LOADER_SPECS_HPP

#include "core/graphs/graph_memory.hpp"
#include "references.hpp"

namespace cgr {

// The tables, and the graph that a node is added to.
struct Adding {
    Tables& tables;
    References& references;
    const Row& row;
    std::size_t inner;  // number of graphs inside the node

    // Filled while the row is read.
    std::vector<CUgraphConditionalHandle> conditions;  // among the arguments of a kernel
    cg::Opaque form;                                   // the program's object for the type of an array or value
};

// Each fills a spec that has begun with the kind of the row.
void read_kernel(Adding& adding, cg::NodeSpec& spec);
void read_memset(Adding& adding, cg::NodeSpec& spec);
void read_memcpy(Adding& adding, cg::NodeSpec& spec);
void read_alloc(Adding& adding, cg::NodeSpec& spec);
void read_free(Adding& adding, cg::NodeSpec& spec);
void read_callback(Adding& adding, cg::NodeSpec& spec);
void read_record(Adding& adding, cg::NodeSpec& spec);
void read_wait(Adding& adding, cg::NodeSpec& spec);
void read_conditional(Adding& adding, cg::NodeSpec& spec);

}  // namespace cgr

#endif
