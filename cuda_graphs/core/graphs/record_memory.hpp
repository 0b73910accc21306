// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The memory of node records and of their owners. Blocks of graphs that have ended are kept for the next graphs, up to
// 1 MiB. A program that builds graphs again and again then needs no new memory, and the small allocations of libcuda
// stay fast: a request of 1 KiB or more makes glibc join the small free blocks, which it then splits again, under a
// lock, one for each node (15 ns of 460; docs/design/2026-11-added-nodes.md).
#ifndef CUDA_GRAPHS_CORE_GRAPHS_RECORD_MEMORY_HPP
#define CUDA_GRAPHS_CORE_GRAPHS_RECORD_MEMORY_HPP

#include <memory_resource>

namespace cg {

// Returns the memory, which any thread may use and which lives as long as the process.
std::pmr::memory_resource& record_memory();

}  // namespace cg

#endif
