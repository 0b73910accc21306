// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Nodes by kind: add, get and set. Every function fills the CUgraphNodeParams of cuGraphAddNode and uses the kind's row
// in node_kinds.cpp.
#include <cuda.h>

#include <utility>

#include "hostdriver/entry.hpp"
#include "hostdriver/objects/base/arena.hpp"
#include "hostdriver/objects/graphs/graph.hpp"
#include "hostdriver/objects/graphs/node_arguments.hpp"
#include "hostdriver/objects/graphs/node_kinds.hpp"

namespace cgh {
namespace {

struct Dependencies {
    const CUgraphNode* nodes;
    size_t count;
    const CUgraphEdgeData* data = nullptr;
};

CUresult add(CUgraphNode* out, CUgraph handle, const Dependencies& dependencies, CUgraphNodeParams& params) {
    Graph* const graph = cast<Graph>(handle);
    REQUIRE(out != nullptr && graph != nullptr, CUDA_ERROR_INVALID_VALUE);
    Node* node = nullptr;
    TRY(graph->add_node(&node, dependencies.nodes, dependencies.data, dependencies.count, params));
    *out = to_handle(node);
    return CUDA_SUCCESS;
}

// Finds a live node of the given type.
CUresult find_node(CUgraphNode handle, CUgraphNodeType type, Node** out) {
    *out = cast<Node>(handle);
    REQUIRE(*out != nullptr && (*out)->kind->type == type, CUDA_ERROR_INVALID_VALUE);
    return CUDA_SUCCESS;
}

CUresult get(CUgraphNode handle, CUgraphNodeParams& params) {
    Node* node = nullptr;
    TRY(find_node(handle, params.type, &node));
    node->kind->get(*node, params);
    return CUDA_SUCCESS;
}

CUresult set(CUgraphNode handle, CUgraphNodeParams& params) {
    Node* node = nullptr;
    TRY(find_node(handle, params.type, &node));
    return node->kind->set(*node, params);
}

}  // namespace

// ---- any kind -------------------------------------------------------------------------------------------------------

CGH_API CUresult cuGraphAddNode_v2(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                                   const CUgraphEdgeData* dependencyData, size_t numDependencies,
                                   CUgraphNodeParams* nodeParams) {
    return entry("cuGraphAddNode", [&]() -> CUresult {
        REQUIRE(nodeParams != nullptr && has_zero_padding(*nodeParams), CUDA_ERROR_INVALID_VALUE);
        return add(phGraphNode, hGraph, {dependencies, numDependencies, dependencyData}, *nodeParams);
    });
}

CGH_API CUresult cuGraphNodeSetParams(CUgraphNode hNode, CUgraphNodeParams* nodeParams) {
    return entry("cuGraphNodeSetParams", [&]() -> CUresult {
        REQUIRE(nodeParams != nullptr && has_zero_padding(*nodeParams), CUDA_ERROR_INVALID_VALUE);
        return set(hNode, *nodeParams);
    });
}

CGH_API CUresult cuGraphAddEmptyNode(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                                     size_t numDependencies) {
    return entry("cuGraphAddEmptyNode", [&]() -> CUresult {
        CUgraphNodeParams params = of_type(CU_GRAPH_NODE_TYPE_EMPTY);
        return add(phGraphNode, hGraph, {dependencies, numDependencies}, params);
    });
}

// ---- kernel ---------------------------------------------------------------------------------------------------------

CGH_API CUresult cuGraphAddKernelNode_v2(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                                         size_t numDependencies, const CUDA_KERNEL_NODE_PARAMS* nodeParams) {
    return entry("cuGraphAddKernelNode", [&]() -> CUresult {
        REQUIRE(nodeParams != nullptr, CUDA_ERROR_INVALID_VALUE);
        CUgraphNodeParams params = of_kernel(*nodeParams);
        return add(phGraphNode, hGraph, {dependencies, numDependencies}, params);
    });
}

CGH_API CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode hNode, CUDA_KERNEL_NODE_PARAMS* nodeParams) {
    return entry("cuGraphKernelNodeGetParams", [&]() -> CUresult {
        REQUIRE(nodeParams != nullptr, CUDA_ERROR_INVALID_VALUE);
        CUgraphNodeParams params = of_type(CU_GRAPH_NODE_TYPE_KERNEL);
        TRY(get(hNode, params));
        const CUDA_KERNEL_NODE_PARAMS_v3& k = params.kernel;
        *nodeParams = {k.func,      k.gridDimX,       k.gridDimY,     k.gridDimZ, k.blockDimX, k.blockDimY,
                       k.blockDimZ, k.sharedMemBytes, k.kernelParams, k.extra,    k.kern,      k.ctx};
        return CUDA_SUCCESS;
    });
}

CGH_API CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode hNode, const CUDA_KERNEL_NODE_PARAMS* nodeParams) {
    return entry("cuGraphKernelNodeSetParams", [&]() -> CUresult {
        REQUIRE(nodeParams != nullptr, CUDA_ERROR_INVALID_VALUE);
        CUgraphNodeParams params = of_kernel(*nodeParams);
        return set(hNode, params);
    });
}

CGH_API CUresult cuGraphKernelNodeCopyAttributes(CUgraphNode dst, CUgraphNode src) {
    return entry("cuGraphKernelNodeCopyAttributes", [&]() -> CUresult {
        Node *to = nullptr, *from = nullptr;
        TRY(find_node(dst, CU_GRAPH_NODE_TYPE_KERNEL, &to));
        TRY(find_node(src, CU_GRAPH_NODE_TYPE_KERNEL, &from));
        return copy_attributes(std::get<KernelParams>(from->params), std::get<KernelParams>(to->params));
    });
}

CGH_API CUresult cuGraphKernelNodeGetAttribute(CUgraphNode hNode, CUkernelNodeAttrID attr,
                                               CUkernelNodeAttrValue* value_out) {
    return entry("cuGraphKernelNodeGetAttribute", [&]() -> CUresult {
        Node* node = nullptr;
        TRY(find_node(hNode, CU_GRAPH_NODE_TYPE_KERNEL, &node));
        REQUIRE(value_out != nullptr && is_node_attribute(attr), CUDA_ERROR_INVALID_VALUE);
        *value_out = get_attribute(std::get<KernelParams>(node->params), attr);
        return CUDA_SUCCESS;
    });
}

CGH_API CUresult cuGraphKernelNodeSetAttribute(CUgraphNode hNode, CUkernelNodeAttrID attr,
                                               const CUkernelNodeAttrValue* value) {
    return entry("cuGraphKernelNodeSetAttribute", [&]() -> CUresult {
        Node* node = nullptr;
        TRY(find_node(hNode, CU_GRAPH_NODE_TYPE_KERNEL, &node));
        REQUIRE(value != nullptr, CUDA_ERROR_INVALID_VALUE);
        return set_attribute(std::get<KernelParams>(node->params), attr, *value);
    });
}

// ---- memcpy and memset ----------------------------------------------------------------------------------------------

CGH_API CUresult cuGraphAddMemcpyNode(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                                      size_t numDependencies, const CUDA_MEMCPY3D* copyParams, CUcontext ctx) {
    return entry("cuGraphAddMemcpyNode", [&]() -> CUresult {
        REQUIRE(copyParams != nullptr, CUDA_ERROR_INVALID_VALUE);
        CUgraphNodeParams params = of_memcpy(*copyParams, ctx);
        return add(phGraphNode, hGraph, {dependencies, numDependencies}, params);
    });
}

CGH_API CUresult cuGraphMemcpyNodeGetParams(CUgraphNode hNode, CUDA_MEMCPY3D* nodeParams) {
    return entry("cuGraphMemcpyNodeGetParams", [&]() -> CUresult {
        REQUIRE(nodeParams != nullptr, CUDA_ERROR_INVALID_VALUE);
        CUgraphNodeParams params = of_type(CU_GRAPH_NODE_TYPE_MEMCPY);
        TRY(get(hNode, params));
        *nodeParams = params.memcpy.copyParams;
        return CUDA_SUCCESS;
    });
}

// The context is unchanged, because the typed setters of definitions have no context parameter.
CGH_API CUresult cuGraphMemcpyNodeSetParams(CUgraphNode hNode, const CUDA_MEMCPY3D* nodeParams) {
    return entry("cuGraphMemcpyNodeSetParams", [&]() -> CUresult {
        REQUIRE(nodeParams != nullptr, CUDA_ERROR_INVALID_VALUE);
        CUgraphNodeParams params = of_type(CU_GRAPH_NODE_TYPE_MEMCPY);
        TRY(get(hNode, params));
        params.memcpy.copyParams = *nodeParams;
        return set(hNode, params);
    });
}

CGH_API CUresult cuGraphAddMemsetNode(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                                      size_t numDependencies, const CUDA_MEMSET_NODE_PARAMS* memsetParams,
                                      CUcontext ctx) {
    return entry("cuGraphAddMemsetNode", [&]() -> CUresult {
        REQUIRE(memsetParams != nullptr, CUDA_ERROR_INVALID_VALUE);
        CUgraphNodeParams params = of_memset(*memsetParams, ctx);
        return add(phGraphNode, hGraph, {dependencies, numDependencies}, params);
    });
}

CGH_API CUresult cuGraphMemsetNodeGetParams(CUgraphNode hNode, CUDA_MEMSET_NODE_PARAMS* nodeParams) {
    return entry("cuGraphMemsetNodeGetParams", [&]() -> CUresult {
        REQUIRE(nodeParams != nullptr, CUDA_ERROR_INVALID_VALUE);
        CUgraphNodeParams params = of_type(CU_GRAPH_NODE_TYPE_MEMSET);
        TRY(get(hNode, params));
        const CUDA_MEMSET_NODE_PARAMS_v2& m = params.memset;
        *nodeParams = {m.dst, m.pitch, m.value, m.elementSize, m.width, m.height};
        return CUDA_SUCCESS;
    });
}

CGH_API CUresult cuGraphMemsetNodeSetParams(CUgraphNode hNode, const CUDA_MEMSET_NODE_PARAMS* nodeParams) {
    return entry("cuGraphMemsetNodeSetParams", [&]() -> CUresult {
        REQUIRE(nodeParams != nullptr, CUDA_ERROR_INVALID_VALUE);
        CUgraphNodeParams before = of_type(CU_GRAPH_NODE_TYPE_MEMSET);
        TRY(get(hNode, before));
        CUgraphNodeParams params = of_memset(*nodeParams, before.memset.ctx);
        return set(hNode, params);
    });
}

// ---- host -----------------------------------------------------------------------------------------------------------

CGH_API CUresult cuGraphAddHostNode(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                                    size_t numDependencies, const CUDA_HOST_NODE_PARAMS* nodeParams) {
    return entry("cuGraphAddHostNode", [&]() -> CUresult {
        REQUIRE(nodeParams != nullptr, CUDA_ERROR_INVALID_VALUE);
        CUgraphNodeParams params = of_host(*nodeParams);
        return add(phGraphNode, hGraph, {dependencies, numDependencies}, params);
    });
}

CGH_API CUresult cuGraphHostNodeGetParams(CUgraphNode hNode, CUDA_HOST_NODE_PARAMS* nodeParams) {
    return entry("cuGraphHostNodeGetParams", [&]() -> CUresult {
        REQUIRE(nodeParams != nullptr, CUDA_ERROR_INVALID_VALUE);
        CUgraphNodeParams params = of_type(CU_GRAPH_NODE_TYPE_HOST);
        TRY(get(hNode, params));
        *nodeParams = {params.host.fn, params.host.userData};
        return CUDA_SUCCESS;
    });
}

CGH_API CUresult cuGraphHostNodeSetParams(CUgraphNode hNode, const CUDA_HOST_NODE_PARAMS* nodeParams) {
    return entry("cuGraphHostNodeSetParams", [&]() -> CUresult {
        REQUIRE(nodeParams != nullptr, CUDA_ERROR_INVALID_VALUE);
        CUgraphNodeParams params = of_host(*nodeParams);
        return set(hNode, params);
    });
}

// ---- child graph ----------------------------------------------------------------------------------------------------

CGH_API CUresult cuGraphAddChildGraphNode(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                                          size_t numDependencies, CUgraph childGraph) {
    return entry("cuGraphAddChildGraphNode", [&]() -> CUresult {
        CUgraphNodeParams params = of_child(childGraph);
        return add(phGraphNode, hGraph, {dependencies, numDependencies}, params);
    });
}

CGH_API CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode hNode, CUgraph* phGraph) {
    return entry("cuGraphChildGraphNodeGetGraph", [&]() -> CUresult {
        REQUIRE(phGraph != nullptr, CUDA_ERROR_INVALID_VALUE);
        CUgraphNodeParams params = of_type(CU_GRAPH_NODE_TYPE_GRAPH);
        TRY(get(hNode, params));
        *phGraph = params.graph.graph;
        return CUDA_SUCCESS;
    });
}

// ---- events ---------------------------------------------------------------------------------------------------------

CGH_API CUresult cuGraphAddEventRecordNode(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                                           size_t numDependencies, CUevent event) {
    return entry("cuGraphAddEventRecordNode", [&]() -> CUresult {
        CUgraphNodeParams params = of_record(event);
        return add(phGraphNode, hGraph, {dependencies, numDependencies}, params);
    });
}

CGH_API CUresult cuGraphEventRecordNodeGetEvent(CUgraphNode hNode, CUevent* event_out) {
    return entry("cuGraphEventRecordNodeGetEvent", [&]() -> CUresult {
        REQUIRE(event_out != nullptr, CUDA_ERROR_INVALID_VALUE);
        CUgraphNodeParams params = of_type(CU_GRAPH_NODE_TYPE_EVENT_RECORD);
        TRY(get(hNode, params));
        *event_out = params.eventRecord.event;
        return CUDA_SUCCESS;
    });
}

CGH_API CUresult cuGraphEventRecordNodeSetEvent(CUgraphNode hNode, CUevent event) {
    return entry("cuGraphEventRecordNodeSetEvent", [&]() -> CUresult {
        CUgraphNodeParams params = of_record(event);
        return set(hNode, params);
    });
}

CGH_API CUresult cuGraphAddEventWaitNode(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                                         size_t numDependencies, CUevent event) {
    return entry("cuGraphAddEventWaitNode", [&]() -> CUresult {
        CUgraphNodeParams params = of_wait(event);
        return add(phGraphNode, hGraph, {dependencies, numDependencies}, params);
    });
}

CGH_API CUresult cuGraphEventWaitNodeGetEvent(CUgraphNode hNode, CUevent* event_out) {
    return entry("cuGraphEventWaitNodeGetEvent", [&]() -> CUresult {
        REQUIRE(event_out != nullptr, CUDA_ERROR_INVALID_VALUE);
        CUgraphNodeParams params = of_type(CU_GRAPH_NODE_TYPE_WAIT_EVENT);
        TRY(get(hNode, params));
        *event_out = params.eventWait.event;
        return CUDA_SUCCESS;
    });
}

CGH_API CUresult cuGraphEventWaitNodeSetEvent(CUgraphNode hNode, CUevent event) {
    return entry("cuGraphEventWaitNodeSetEvent", [&]() -> CUresult {
        CUgraphNodeParams params = of_wait(event);
        return set(hNode, params);
    });
}

// ---- memory operations ----------------------------------------------------------------------------------------------

CGH_API CUresult cuGraphAddBatchMemOpNode(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                                          size_t numDependencies, const CUDA_BATCH_MEM_OP_NODE_PARAMS* nodeParams) {
    return entry("cuGraphAddBatchMemOpNode", [&]() -> CUresult {
        REQUIRE(nodeParams != nullptr, CUDA_ERROR_INVALID_VALUE);
        CUgraphNodeParams params = of_batch(*nodeParams);
        return add(phGraphNode, hGraph, {dependencies, numDependencies}, params);
    });
}

CGH_API CUresult cuGraphBatchMemOpNodeGetParams(CUgraphNode hNode, CUDA_BATCH_MEM_OP_NODE_PARAMS* nodeParams_out) {
    return entry("cuGraphBatchMemOpNodeGetParams", [&]() -> CUresult {
        REQUIRE(nodeParams_out != nullptr, CUDA_ERROR_INVALID_VALUE);
        CUgraphNodeParams params = of_type(CU_GRAPH_NODE_TYPE_BATCH_MEM_OP);
        TRY(get(hNode, params));
        *nodeParams_out = {params.memOp.ctx, params.memOp.count, params.memOp.paramArray, params.memOp.flags};
        return CUDA_SUCCESS;
    });
}

CGH_API CUresult cuGraphBatchMemOpNodeSetParams(CUgraphNode hNode, const CUDA_BATCH_MEM_OP_NODE_PARAMS* nodeParams) {
    return entry("cuGraphBatchMemOpNodeSetParams", [&]() -> CUresult {
        REQUIRE(nodeParams != nullptr, CUDA_ERROR_INVALID_VALUE);
        CUgraphNodeParams params = of_batch(*nodeParams);
        return set(hNode, params);
    });
}

// ---- memory ---------------------------------------------------------------------------------------------------------

CGH_API CUresult cuGraphAddMemAllocNode(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                                        size_t numDependencies, CUDA_MEM_ALLOC_NODE_PARAMS* nodeParams) {
    return entry("cuGraphAddMemAllocNode", [&]() -> CUresult {
        REQUIRE(nodeParams != nullptr, CUDA_ERROR_INVALID_VALUE);
        CUgraphNodeParams params = of_alloc(*nodeParams);
        TRY(add(phGraphNode, hGraph, {dependencies, numDependencies}, params));
        nodeParams->dptr = params.alloc.dptr;
        return CUDA_SUCCESS;
    });
}

CGH_API CUresult cuGraphMemAllocNodeGetParams(CUgraphNode hNode, CUDA_MEM_ALLOC_NODE_PARAMS* params_out) {
    return entry("cuGraphMemAllocNodeGetParams", [&]() -> CUresult {
        REQUIRE(params_out != nullptr, CUDA_ERROR_INVALID_VALUE);
        CUgraphNodeParams params = of_type(CU_GRAPH_NODE_TYPE_MEM_ALLOC);
        TRY(get(hNode, params));
        const CUDA_MEM_ALLOC_NODE_PARAMS_v2& a = params.alloc;
        *params_out = {a.poolProps, a.accessDescs, a.accessDescCount, a.bytesize, a.dptr};
        return CUDA_SUCCESS;
    });
}

CGH_API CUresult cuGraphAddMemFreeNode(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                                       size_t numDependencies, CUdeviceptr dptr) {
    return entry("cuGraphAddMemFreeNode", [&]() -> CUresult {
        CUgraphNodeParams params = of_type(CU_GRAPH_NODE_TYPE_MEM_FREE);
        params.free.dptr = dptr;
        return add(phGraphNode, hGraph, {dependencies, numDependencies}, params);
    });
}

CGH_API CUresult cuGraphMemFreeNodeGetParams(CUgraphNode hNode, CUdeviceptr* dptr_out) {
    return entry("cuGraphMemFreeNodeGetParams", [&]() -> CUresult {
        REQUIRE(dptr_out != nullptr, CUDA_ERROR_INVALID_VALUE);
        CUgraphNodeParams params = of_type(CU_GRAPH_NODE_TYPE_MEM_FREE);
        TRY(get(hNode, params));
        *dptr_out = params.free.dptr;
        return CUDA_SUCCESS;
    });
}

}  // namespace cgh
