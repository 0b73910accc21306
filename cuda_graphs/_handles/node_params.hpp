// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Node kinds whose driver parameters are structs worth naming: filled, added and read back here, so that the Python
// side deals in plain values. Nothing here needs the GIL.
#ifndef CUDA_GRAPHS_HANDLES_NODE_PARAMS_HPP
#define CUDA_GRAPHS_HANDLES_NODE_PARAMS_HPP

#include <cuda.h>

#include <cstddef>
#include <vector>

namespace cg {

// Where a node goes: into `graph`, after the node `after` (null: after nothing).
struct NodePlace {
    CUgraph graph;
    CUgraphNode after;

    const CUgraphNode* dependencies() const noexcept { return after == nullptr ? nullptr : &after; }
    std::size_t count() const noexcept { return after == nullptr ? 0 : 1; }
};

// The context that is current; CUDA_ERROR_INVALID_CONTEXT when none is.
CUresult current_context(CUcontext* context);

// Launch attributes of a kernel node. Cluster {0, 0, 0}: none.
struct KernelShape {
    unsigned int cluster[3];
    int cooperative;

    bool is_plain() const noexcept { return cluster[0] == 0 && cooperative == 0; }
};

CUresult add_kernel(NodePlace place, const CUDA_KERNEL_NODE_PARAMS& params, const KernelShape& shape,
                    CUgraphNode* node);
CUresult get_kernel_shape(CUgraphNode node, KernelShape* shape);

enum class AllocKind : int { kDevice, kHost, kManaged };

struct Allocation {
    AllocKind kind;
    int device;
    std::size_t size;
    std::vector<int> peers;  // devices with read and write access
    CUdeviceptr address;     // out
};

CUresult add_alloc(NodePlace place, Allocation& allocation, CUgraphNode* node);
CUresult get_alloc(CUgraphNode node, Allocation& allocation);

struct LinearCopy {
    CUdeviceptr to;
    CUmemorytype to_type;
    CUdeviceptr from;
    CUmemorytype from_type;
    std::size_t size;
};

CUresult add_copy(NodePlace place, const LinearCopy& copy, CUcontext context, CUgraphNode* node);
// The first row of a copy in more dimensions.
CUresult get_copy(CUgraphNode node, LinearCopy* copy);

// `bodies` gets the graphs that the driver made.
CUresult add_conditional(NodePlace place, CUgraphConditionalHandle condition, CUcontext context,
                         CUgraphConditionalNodeType type, unsigned int size, CUgraphNode* node,
                         std::vector<CUgraph>& bodies);

}  // namespace cg

#endif
