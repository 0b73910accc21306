// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Memory for work in the bodies of conditional nodes. Bodies take no alloc nodes, so the alloc node belongs to the
// graph around the outermost conditional node, and that node depends on it.
#ifndef CUDA_GRAPHS_CORE_CAPTURE_BODY_MEMORY_HPP
#define CUDA_GRAPHS_CORE_CAPTURE_BODY_MEMORY_HPP

#include <cuda.h>

#include <cstddef>

#include "capture.hpp"
#include "core/resources/memory.hpp"

namespace cg {

// Returns the capture of the graph around the outermost conditional node; null when that graph is not being captured.
// `conditional` gets that node. Called with the GIL.
CaptureHandle find_outermost_capture(const CaptureBox& body, CUgraphNode* conditional);

// Adds an alloc node without predecessors to the graph that `outer` captures, and an edge from it to the conditional
// node. The memory is freed in the order of the captured stream. Returns the alloc node in `node`. Called without the
// GIL.
CUresult allocate_before(CaptureBox& outer, CUgraphNode conditional, std::size_t size, PointerHandle* memory,
                         CUgraphNode* node);

}  // namespace cg

#endif
