// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "hostdriver/objects/graphs/owning_kinds.hpp"

#include <utility>

#include "hostdriver/entry.hpp"
#include "hostdriver/objects/base/arena.hpp"
#include "hostdriver/objects/devices/context.hpp"
#include "hostdriver/objects/devices/device.hpp"
#include "hostdriver/objects/graphs/graph.hpp"
#include "hostdriver/objects/memory/graph_memory.hpp"

namespace cgh {
namespace {

CUresult move_child(Node& node, Graph& child) {
    REQUIRE(!node.graph->is_or_is_inside(child), CUDA_ERROR_INVALID_VALUE);
    REQUIRE(child.owner() == GraphOwner::kUser, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(!child.has_conditional_nodes(), kKindRefused);
    REQUIRE(child.live_executables()->load() == 0 || !child.has_memory_nodes(), kSecondExecRefused);
    node.params.emplace<ChildParams>(ChildParams{GraphPtr(&child)});
    child.adopt_into(node);
    return CUDA_SUCCESS;
}

constexpr int kManagedType = 2;  // CU_MEM_ALLOCATION_TYPE_MANAGED, since CUDA 13

CUresult find_memory_context(const CUmemPoolProps& properties, Context** out) {
    const bool pinned = properties.allocType == CU_MEM_ALLOCATION_TYPE_PINNED;
    const bool managed = static_cast<int>(properties.allocType) == kManagedType;
    REQUIRE(pinned || managed, CUDA_ERROR_INVALID_VALUE);
    switch (properties.location.type) {
        case CU_MEM_LOCATION_TYPE_DEVICE: {
            Device* device = nullptr;
            REQUIRE(find_device(properties.location.id, &device) == CUDA_SUCCESS, CUDA_ERROR_INVALID_VALUE);
            *out = &device->context();
            return (*out)->status();
        }
        // An H200 with CUDA 13.0 rejects these locations with the same error.
        case CU_MEM_LOCATION_TYPE_HOST:
        case CU_MEM_LOCATION_TYPE_HOST_NUMA:
        case CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT:
            return CUDA_ERROR_NOT_SUPPORTED;
        default:
            return CUDA_ERROR_INVALID_VALUE;
    }
}

// "Allowed values are 1 for CU_GRAPH_COND_TYPE_WHILE, 1 or 2 for CU_GRAPH_COND_TYPE_IF, or any value greater than
// zero for CU_GRAPH_COND_TYPE_SWITCH" (cuda.h).
bool is_size(CUgraphConditionalNodeType type, unsigned size) {
    switch (type) {
        case CU_GRAPH_COND_TYPE_IF:
            return size == 1 || size == 2;
        case CU_GRAPH_COND_TYPE_WHILE:
            return size == 1;
        case CU_GRAPH_COND_TYPE_SWITCH:
            return size >= 1;
        default:
            return false;
    }
}

}  // namespace

// ---- child graphs ---------------------------------------------------------------------------------------------------

namespace {

// "The child graph is cloned in this call. [...] If childGraph contains allocation nodes, free nodes, or
// conditional nodes, this call will return an error" (cuda.h, cuGraphAddChildGraphNode).
CUresult embed(Node& node, Graph& child, CUgraphChildGraphNodeOwnership ownership) {
    REQUIRE(ownership == CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE || ownership == CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE,
            CUDA_ERROR_NOT_SUPPORTED);
    if (ownership == CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE) return move_child(node, child);
    GraphPtr copy;
    TRY(child.clone(&copy, &node, GraphOwner::kChildNode));
    node.params.emplace<ChildParams>(ChildParams{std::move(copy)});
    return CUDA_SUCCESS;
}

}  // namespace

CUresult ChildKind::create(Node& node, CUgraphNodeParams& params) {
    Graph* const child = cast<Graph>(params.graph.graph);
    REQUIRE(child != nullptr, CUDA_ERROR_INVALID_VALUE);
    // A graph must not contain itself, directly or through another graph.
    REQUIRE(!node.graph->is_or_is_inside(*child), CUDA_ERROR_INVALID_VALUE);
    return embed(node, *child, params.graph.ownership);
}

// The new child may be the graph that contains the node, of which a copy is made, but not a graph inside a node. This
// matches an H200 with CUDA 13.0.
CUresult ChildKind::set(Node& node, CUgraphNodeParams& params) {
    Graph* const child = cast<Graph>(params.graph.graph);
    REQUIRE(child != nullptr, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(child->owner() == GraphOwner::kUser, CUDA_ERROR_NOT_SUPPORTED);
    REQUIRE(!node.graph->has_memory_nodes(), kMemoryGraphRefused);
    return embed(node, *child, params.graph.ownership);
}

void ChildKind::get(Node& node, CUgraphNodeParams& params) {
    params.graph.graph = to_handle(std::get<ChildParams>(node.params).graph.get());
    // "Invalid ownership flag. Set when params are queried to prevent accidentally reusing the driver-owned graph
    // object" (cuda.h, which names the value -1 only since 13.1).
    params.graph.ownership = static_cast<CUgraphChildGraphNodeOwnership>(-1);
}

CUresult ChildKind::copy(const Node& from, Node& to) {
    GraphPtr twin;
    TRY(std::get<ChildParams>(from.params).graph->clone(&twin, &to, GraphOwner::kChildNode));
    to.params.emplace<ChildParams>(ChildParams{std::move(twin)});
    return CUDA_SUCCESS;
}

std::vector<Graph*> ChildKind::embedded(const Node& node) {
    const auto* const child = std::get_if<ChildParams>(&node.params);
    return child == nullptr ? std::vector<Graph*>{} : std::vector<Graph*>{child->graph.get()};
}

// ---- allocations ----------------------------------------------------------------------------------------------------

CUresult AllocKind::create(Node& node, CUgraphNodeParams& params) {
    CUDA_MEM_ALLOC_NODE_PARAMS_v2& in = params.alloc;
    REQUIRE(in.bytesize != 0, CUDA_ERROR_INVALID_VALUE);
    // "handleTypes must be CU_MEM_HANDLE_TYPE_NONE. IPC is not supported" (cuda.h).
    REQUIRE(in.poolProps.handleTypes == CU_MEM_HANDLE_TYPE_NONE, CUDA_ERROR_NOT_SUPPORTED);
    REQUIRE(in.accessDescCount == 0 || in.accessDescs != nullptr, CUDA_ERROR_INVALID_VALUE);
    for (size_t i = 0; i < in.accessDescCount; ++i) {
        Device* peer = nullptr;
        TRY(find_device(in.accessDescs[i].location.id, &peer));
    }
    Context* context = nullptr;
    TRY(find_memory_context(in.poolProps, &context));
    std::shared_ptr<GraphAllocation> memory = GraphAllocation::create(*context, in.bytesize);
    REQUIRE(memory != nullptr, CUDA_ERROR_OUT_OF_MEMORY);
    auto& fresh = node.params.emplace<AllocParams>();
    fresh.properties = in.poolProps;
    fresh.access.assign(in.accessDescs, in.accessDescs + in.accessDescCount);
    in.dptr = memory->address();
    fresh.allocation = OwnedAllocation(std::move(memory), node);
    return CUDA_SUCCESS;
}

// "Modifying parameters is not supported for node types CU_GRAPH_NODE_TYPE_MEM_ALLOC and
// CU_GRAPH_NODE_TYPE_MEM_FREE" (cuda.h, cuGraphNodeSetParams).
CUresult AllocKind::set(Node&, CUgraphNodeParams&) {
    return CUDA_ERROR_NOT_SUPPORTED;
}

void AllocKind::get(Node& node, CUgraphNodeParams& params) {
    const auto& alloc = std::get<AllocParams>(node.params);
    params.alloc.poolProps = alloc.properties;
    params.alloc.accessDescs = alloc.access.empty() ? nullptr : alloc.access.data();
    params.alloc.accessDescCount = alloc.access.size();
    params.alloc.bytesize = alloc.allocation.get()->bytes();
    params.alloc.dptr = alloc.allocation.get()->address();
}

// ---- frees ----------------------------------------------------------------------------------------------------------

// "CUDA_ERROR_INVALID_VALUE is returned when trying to free an allocation twice in the same graph, an address that
// was not returned by an allocation node, an invalid address" (cuda.h, cuGraphAddMemFreeNode).
CUresult FreeKind::create(Node& node, CUgraphNodeParams& params) {
    std::shared_ptr<GraphAllocation> memory = GraphAllocation::find(params.free.dptr);
    REQUIRE(memory != nullptr, CUDA_ERROR_INVALID_VALUE);
    const Graph& root = node.graph->root();
    const bool inside = memory->node != nullptr && &memory->node->graph->root() == &root;
    TRY(memory->claim_free(root.uid(), inside));
    node.params.emplace<FreeParams>(FreeParams{FreeClaim(std::move(memory), root.uid())});
    return CUDA_SUCCESS;
}

CUresult FreeKind::set(Node&, CUgraphNodeParams&) {
    return CUDA_ERROR_NOT_SUPPORTED;
}

void FreeKind::get(Node& node, CUgraphNodeParams& params) {
    params.free.dptr = std::get<FreeParams>(node.params).claim.allocation()->address();
}

// ---- conditionals ---------------------------------------------------------------------------------------------------

CUresult ConditionalKind::create(Node& node, CUgraphNodeParams& params) {
    CUDA_CONDITIONAL_NODE_PARAMS& in = params.conditional;
    // "The conditional handle must be associated with a conditional node in this graph or one of its children"
    // (cuda.h, cuGraphConditionalHandleCreate).
    ConditionPtr condition = node.graph->find_condition(in.handle);
    REQUIRE(condition != nullptr && !condition->attached, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(is_size(in.type, in.size), CUDA_ERROR_INVALID_VALUE);
    // "ctx: Must match context used to create the handle and all body nodes" (cuda.h).
    REQUIRE(cast<Context>(in.ctx) != nullptr, CUDA_ERROR_INVALID_CONTEXT);
    REQUIRE(in.ctx == condition->context(), CUDA_ERROR_INVALID_VALUE);

    ConditionalParams fresh;
    fresh.type = in.type;
    fresh.context = in.ctx;
    for (unsigned i = 0; i < in.size; ++i) {
        fresh.bodies.push_back(Graph::create(&node, GraphOwner::kConditional));
        fresh.bodies.back()->body_index = i;
        fresh.handles.push_back(to_handle(fresh.bodies.back().get()));
    }
    condition->attached = true;
    fresh.condition = std::move(condition);
    // "CUDA-owned array populated with conditional node child graphs during creation of the node" (cuda.h).
    in.phGraph_out = fresh.handles.data();
    node.params.emplace<ConditionalParams>(std::move(fresh));
    return CUDA_SUCCESS;
}

CUresult ConditionalKind::set(Node&, CUgraphNodeParams&) {
    return CUDA_ERROR_NOT_SUPPORTED;
}

void ConditionalKind::get(Node& node, CUgraphNodeParams& params) {
    auto& conditional = std::get<ConditionalParams>(node.params);
    params.conditional.handle = conditional.condition->handle();
    params.conditional.type = conditional.type;
    params.conditional.size = static_cast<unsigned>(conditional.bodies.size());
    params.conditional.phGraph_out = conditional.handles.data();
    params.conditional.ctx = conditional.context;
}

std::vector<Graph*> ConditionalKind::embedded(const Node& node) {
    std::vector<Graph*> graphs;
    if (const auto* const conditional = std::get_if<ConditionalParams>(&node.params)) {
        for (const GraphPtr& body : conditional->bodies) graphs.push_back(body.get());
    }
    return graphs;
}

}  // namespace cgh
