// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The specification of a node: the driver's parameters, whose type all kinds share, and the owners that must live as
// long as the node. One spec creates a node, changes a node of a definition, or changes a node of an executable. The
// read_* functions of graph/nodes/spec.pyx fill it. It lives on the caller's stack and is used for one driver call. No
// function of this header needs the GIL.
#ifndef CUDA_GRAPHS_CORE_GRAPHS_NODE_SPEC_HPP
#define CUDA_GRAPHS_CORE_GRAPHS_NODE_SPEC_HPP

#include <cuda.h>

#include <cstddef>
#include <vector>

#include "core/handles/argument_pack.hpp"
#include "core/resources/module.hpp"
#include "node.hpp"
#include "user_object.hpp"

namespace cg {

// The dependencies of a new node: `count` nodes of `graph`, and the data of the edges from them (null: full edges).
struct Dependencies {
    CUgraph graph;
    const CUgraphNode* after;
    std::size_t count;
    const CUgraphEdgeData* data = nullptr;
};

// Launch attributes of a kernel node. Cluster {0, 0, 0}: no clusters.
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

// Returns the type of a node as the driver names it.
constexpr CUgraphNodeType type_of(NodeKind kind) noexcept {
    switch (kind) {
        case NodeKind::kKernel:
            return CU_GRAPH_NODE_TYPE_KERNEL;
        case NodeKind::kAlloc:
            return CU_GRAPH_NODE_TYPE_MEM_ALLOC;
        case NodeKind::kFree:
            return CU_GRAPH_NODE_TYPE_MEM_FREE;
        case NodeKind::kMemset:
            return CU_GRAPH_NODE_TYPE_MEMSET;
        case NodeKind::kMemcpy:
            return CU_GRAPH_NODE_TYPE_MEMCPY;
        case NodeKind::kChild:
            return CU_GRAPH_NODE_TYPE_GRAPH;
        case NodeKind::kHost:
            return CU_GRAPH_NODE_TYPE_HOST;
        case NodeKind::kEventRecord:
            return CU_GRAPH_NODE_TYPE_EVENT_RECORD;
        case NodeKind::kEventWait:
            return CU_GRAPH_NODE_TYPE_WAIT_EVENT;
        case NodeKind::kIf:
        case NodeKind::kIfElse:
        case NodeKind::kWhile:
        case NodeKind::kSwitch:
        case NodeKind::kConditional:
            return CU_GRAPH_NODE_TYPE_CONDITIONAL;
        case NodeKind::kEntry:
        case NodeKind::kEmpty:
        case NodeKind::kOther:
            break;
    }
    return CU_GRAPH_NODE_TYPE_EMPTY;
}

struct NodeSpec {
    NodeKind kind = NodeKind::kEmpty;
    CUgraphNodeParams params;             // unused fields are zero, as the driver requires
    KernelShape shape{};                  // of a kernel node
    PlacedFunction likely;                // of a kernel node: its kernel in the context that is probably its own
    Owners owners;                        // owners that the node needs beside the driver
    const KernelHandle* lent = nullptr;   // the only owner of a new kernel node, which the caller keeps alive; or null
    std::vector<ParameterUse> uses;       // fields that are values of named parameters
    NodeRules rules;                      // limits and grid of a node with `uses`
    ArgumentPack arguments;               // target of params.kernel.kernelParams of a kernel node
    std::vector<CUmemAccessDesc> access;  // target of params.alloc.accessDescs of an alloc node
    GraphMemoryRef place;                 // of an alloc or free node: the memory, if it is a place
    DeclaredHandle declared;              // declared accesses of a new node; null without any
    void* child = nullptr;                // the child graph of a child graph node, for messages; borrowed

    NodeSpec() noexcept;
    // Starts a spec for a node of this kind. Must be called first.
    void begin(NodeKind what) noexcept {
        kind = what;
        params.type = type_of(what);
    }
};

// Gets the current context; returns CUDA_ERROR_INVALID_CONTEXT when no context is current.
CUresult current_context(CUcontext* context);

// Creates a node; for an alloc or free node of a place an empty one. `spec.params` receives the driver's outputs: the
// address of an alloc node, the bodies of a conditional node.
CUresult make_node(const Dependencies& on, NodeSpec& spec, CUgraphNode* node);

// Changes a node of a definition; changes nothing on failure.
CUresult set_node(CUgraphNode node, NodeSpec& spec);

// Fills a spec, without owners, from a node of the kind that the spec began with. Its pointers point into the node.
// Fields that the driver does not report before CUDA 13.2 (contexts, all fields of conditional nodes) stay zero.
CUresult load_node(CUgraphNode node, NodeSpec& spec);
CUresult get_shape(CUgraphNode node, KernelShape* shape);

enum class AllocKind : int { kDevice, kHost, kManaged };

// Sets the kind, size and location of an alloc node's memory. `peers` are the ordinals of devices with read and write
// access.
void set_allocation(NodeSpec& spec, AllocKind kind, int device, std::size_t size, const std::vector<int>& peers);
AllocKind alloc_kind(const CUmemPoolProps& props) noexcept;

// Access the operands of a copy, whose field depends on the memory type.
void set_source(CUDA_MEMCPY3D& copy, CUdeviceptr address, CUmemorytype type) noexcept;
void set_destination(CUDA_MEMCPY3D& copy, CUdeviceptr address, CUmemorytype type) noexcept;
CUdeviceptr source_of(const CUDA_MEMCPY3D& copy) noexcept;
CUdeviceptr destination_of(const CUDA_MEMCPY3D& copy) noexcept;

}  // namespace cg

#endif
