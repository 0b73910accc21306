// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "body_memory.hpp"

#include "core/driver/table.hpp"
#include "core/handles/lock.hpp"

namespace cg {

CaptureHandle find_outermost_capture(const CaptureBox& body, CUgraphNode* conditional) {
    const GraphBox* graph = &body.box();
    for (; graph->holder != nullptr; graph = graph->holder->graph) *conditional = graph->holder->raw;
    const CaptureBox* found = graph->capture;
    return found != nullptr && found->active ? found->self.lock() : nullptr;
}

// cuStreamGetCaptureInfo permits all changes of a captured graph except the removal of nodes.
CUresult allocate_before(CaptureBox& outer, CUgraphNode conditional, std::size_t size, PointerHandle* memory,
                         CUgraphNode* node) {
    const CUstream stream = *outer.origin;
    const Lock alone(outer.calls);
    CaptureTail before, alloc;
    CUresult status = get_tail(stream, before);
    if (status == CUDA_SUCCESS) status = set_tail(stream, CaptureTail());
    if (status != CUDA_SUCCESS) return status;
    status = allocate_in_graph(size, outer.origin, memory);
    if (status == CUDA_SUCCESS) status = get_tail(stream, alloc);
    const CUresult restored = set_tail(stream, before);
    if (status == CUDA_SUCCESS) status = restored;
    if (status != CUDA_SUCCESS) return status;
    *node = alloc.nodes.front();
    return driver().cuGraphAddDependencies(outer.box().raw, node, &conditional, nullptr, 1);
}

}  // namespace cg
