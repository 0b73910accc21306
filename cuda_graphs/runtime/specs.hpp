// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// From the row of a node to its NodeSpec: one function for each kind, as in saving/nodes.py and graph/nodes/spec.pyx.
#ifndef CUDA_GRAPHS_RUNTIME_SPECS_HPP
#define CUDA_GRAPHS_RUNTIME_SPECS_HPP

#include "core/graphs/graph_memory.hpp"
#include "references.hpp"

namespace cgr {

// The tables, and the graph that a node is added to.
struct Adding {
    Tables& tables;
    References& references;
    const Row& row;
    std::size_t inner;  // number of graphs inside the node
};

// Fills a spec that has begun with the kind of the row.
void read_kernel(const Adding& adding, cg::NodeSpec& spec);
void read_memset(const Adding& adding, cg::NodeSpec& spec);
void read_memcpy(const Adding& adding, cg::NodeSpec& spec);
void read_alloc(const Adding& adding, cg::NodeSpec& spec);
void read_free(const Adding& adding, cg::NodeSpec& spec);
void read_callback(const Adding& adding, cg::NodeSpec& spec);
void read_record(const Adding& adding, cg::NodeSpec& spec);
void read_wait(const Adding& adding, cg::NodeSpec& spec);
void read_conditional(const Adding& adding, cg::NodeSpec& spec);

}  // namespace cgr

#endif
