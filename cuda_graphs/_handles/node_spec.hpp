// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// What a node is made from: the driver's parameters, whose type all kinds share, and who must live for them. One spec
// makes a node, changes a node of a definition, and changes a node of an executable. It is filled by the read_*
// functions of graph/spec.pyx, lives on the caller's stack, and is used for one call of the driver. Nothing here needs
// the GIL.
#ifndef CUDA_GRAPHS_HANDLES_NODE_SPEC_HPP
#define CUDA_GRAPHS_HANDLES_NODE_SPEC_HPP

#include <cuda.h>

#include <cstddef>
#include <vector>

#include "argument_pack.hpp"
#include "graph_node.hpp"
#include "user_object.hpp"

namespace cg {

// Where a node goes: into `graph`, after `count` nodes, along edges with `data` (null: full edges).
struct NodePlace {
    CUgraph graph;
    const CUgraphNode* after;
    std::size_t count;
    const CUgraphEdgeData* data = nullptr;
};

// Launch attributes of a kernel node. Cluster {0, 0, 0}: none.
struct KernelShape {
    unsigned int cluster[3];
    int cooperative;

    bool is_plain() const noexcept { return cluster[0] == 0 && cooperative == 0; }
    bool has_cluster_of(const KernelShape& other) const noexcept {
        return cluster[0] == other.cluster[0] && cluster[1] == other.cluster[1] && cluster[2] == other.cluster[2];
    }
    bool operator==(const KernelShape& other) const noexcept {
        return has_cluster_of(other) && cooperative == other.cooperative;
    }
};

struct NodeSpec {
    NodeKind kind = NodeKind::kEmpty;
    CUgraphNodeParams params{};           // what is not used must be zero, for the driver
    KernelShape shape{};                  // of a kernel node
    Owners owners;                        // what the node needs beside the driver
    std::vector<ParameterUse> uses;       // which fields are values of named parameters
    ArgumentPack arguments;               // of a kernel node: what params.kernel.kernelParams points into
    std::vector<CUmemAccessDesc> access;  // of an alloc node: what params.alloc.accessDescs points to
    void* child = nullptr;                // of a child graph node: whom messages name, borrowed

    // To be called first.
    void begin(NodeKind what) noexcept;
};

// The context that is current; CUDA_ERROR_INVALID_CONTEXT when none is.
CUresult current_context(CUcontext* context);

// Makes a node. `spec.params` gets what the driver gives back: the address of an alloc node, the bodies of a
// conditional one.
CUresult make_node(const NodePlace& place, NodeSpec& spec, CUgraphNode* node);

// Changes a node of a definition; nothing on failure.
CUresult set_node(CUgraphNode node, NodeSpec& spec);

// Fills a spec from a node of the kind that the spec began with; without owners. Pointers in it are into the node. What
// the driver does not tell before CUDA 13.2 (contexts, anything of conditional nodes) stays zero.
CUresult load_node(CUgraphNode node, NodeSpec& spec);
CUresult get_shape(CUgraphNode node, KernelShape* shape);

enum class AllocKind : int { kDevice, kHost, kManaged };

// What an alloc node allocates where. `peers` are the ordinals of devices with read and write access.
void set_allocation(NodeSpec& spec, AllocKind kind, int device, std::size_t size, const std::vector<int>& peers);
AllocKind alloc_kind(const CUmemPoolProps& props) noexcept;

// The operands of a copy: where one lies depends on its type.
void set_source(CUDA_MEMCPY3D& copy, CUdeviceptr address, CUmemorytype type) noexcept;
void set_destination(CUDA_MEMCPY3D& copy, CUdeviceptr address, CUmemorytype type) noexcept;
CUdeviceptr source_of(const CUDA_MEMCPY3D& copy) noexcept;
CUdeviceptr destination_of(const CUDA_MEMCPY3D& copy) noexcept;

}  // namespace cg

#endif
