// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "node_params.hpp"

#include "_driver/table.hpp"

namespace cg {

CUresult current_context(CUcontext* context) {
    const CUresult status = driver().cuCtxGetCurrent(context);
    return status == CUDA_SUCCESS && *context == nullptr ? CUDA_ERROR_INVALID_CONTEXT : status;
}

namespace {

CUresult set_shape(CUgraphNode node, const KernelShape& shape) {
    CUkernelNodeAttrValue value{};
    if (shape.cluster[0] != 0) {
        value.clusterDim.x = shape.cluster[0];
        value.clusterDim.y = shape.cluster[1];
        value.clusterDim.z = shape.cluster[2];
        const CUresult status =
            driver().cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &value);
        if (status != CUDA_SUCCESS) return status;
    }
    if (shape.cooperative == 0) return CUDA_SUCCESS;
    value = {};
    value.cooperative = shape.cooperative;
    return driver().cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value);
}

CUresult add_shaped(NodePlace place, const CUDA_KERNEL_NODE_PARAMS& params, const KernelShape& shape,
                    CUgraphNode* node) {
    const CUresult status =
        driver().cuGraphAddKernelNode(node, place.graph, place.dependencies(), place.count(), &params);
    return status == CUDA_SUCCESS ? set_shape(*node, shape) : status;
}

// The attributes are set once the node exists, and a graph with memory nodes does not let a node go again. So a shape
// that the driver refuses has to show on a graph that can be thrown away.
CUresult try_shape(const CUDA_KERNEL_NODE_PARAMS& params, const KernelShape& shape) {
    CUgraph scratch = nullptr;
    CUgraphNode node = nullptr;
    CUresult status = driver().cuGraphCreate(&scratch, 0);
    if (status != CUDA_SUCCESS) return status;
    status = add_shaped({scratch, nullptr}, params, shape, &node);
    driver().cuGraphDestroy(scratch);
    return status;
}

}  // namespace

CUresult add_kernel(NodePlace place, const CUDA_KERNEL_NODE_PARAMS& params, const KernelShape& shape,
                    CUgraphNode* node) {
    if (!shape.is_plain()) {
        const CUresult status = try_shape(params, shape);
        if (status != CUDA_SUCCESS) return status;
    }
    return add_shaped(place, params, shape, node);
}

CUresult get_kernel_shape(CUgraphNode node, KernelShape* shape) {
    CUkernelNodeAttrValue value{};
    CUresult status = driver().cuGraphKernelNodeGetAttribute(node, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &value);
    if (status != CUDA_SUCCESS) return status;
    shape->cluster[0] = value.clusterDim.x;
    shape->cluster[1] = value.clusterDim.y;
    shape->cluster[2] = value.clusterDim.z;
    value = {};
    status = driver().cuGraphKernelNodeGetAttribute(node, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value);
    shape->cooperative = value.cooperative;
    return status;
}

namespace {

CUmemLocation location_of(AllocKind kind, int device) {
    CUmemLocation location{};
    location.type = kind == AllocKind::kHost ? CU_MEM_LOCATION_TYPE_HOST : CU_MEM_LOCATION_TYPE_DEVICE;
    location.id = kind == AllocKind::kHost ? 0 : device;
    return location;
}

AllocKind kind_of(const CUmemPoolProps& props) {
    if (props.allocType == CU_MEM_ALLOCATION_TYPE_MANAGED) return AllocKind::kManaged;
    return props.location.type == CU_MEM_LOCATION_TYPE_DEVICE ? AllocKind::kDevice : AllocKind::kHost;
}

std::vector<CUmemAccessDesc> access_of(const std::vector<int>& peers) {
    std::vector<CUmemAccessDesc> access;
    for (const int peer : peers)
        access.push_back({location_of(AllocKind::kDevice, peer), CU_MEM_ACCESS_FLAGS_PROT_READWRITE});
    return access;
}

}  // namespace

CUresult add_alloc(NodePlace place, Allocation& allocation, CUgraphNode* node) {
    const std::vector<CUmemAccessDesc> access = access_of(allocation.peers);
    const bool managed = allocation.kind == AllocKind::kManaged;
    CUDA_MEM_ALLOC_NODE_PARAMS params{};
    params.poolProps.allocType = managed ? CU_MEM_ALLOCATION_TYPE_MANAGED : CU_MEM_ALLOCATION_TYPE_PINNED;
    params.poolProps.location = location_of(allocation.kind, allocation.device);
    params.accessDescs = access.empty() ? nullptr : access.data();
    params.accessDescCount = access.size();
    params.bytesize = allocation.size;
    const CUresult status =
        driver().cuGraphAddMemAllocNode(node, place.graph, place.dependencies(), place.count(), &params);
    allocation.address = params.dptr;
    return status;
}

CUresult get_alloc(CUgraphNode node, Allocation& allocation) {
    CUDA_MEM_ALLOC_NODE_PARAMS params{};
    const CUresult status = driver().cuGraphMemAllocNodeGetParams(node, &params);
    if (status != CUDA_SUCCESS) return status;
    allocation.kind = kind_of(params.poolProps);
    allocation.device = params.poolProps.location.id;
    allocation.size = params.bytesize;
    allocation.address = params.dptr;
    for (std::size_t i = 0; i < params.accessDescCount; ++i)
        allocation.peers.push_back(params.accessDescs[i].location.id);
    return CUDA_SUCCESS;
}

namespace {

void set_operand(CUdeviceptr address, CUmemorytype type, CUdeviceptr* device, const void** host) {
    if (type == CU_MEMORYTYPE_HOST)
        *host = reinterpret_cast<const void*>(address);
    else
        *device = address;
}

CUdeviceptr operand(CUmemorytype type, CUdeviceptr device, const void* host) {
    return type == CU_MEMORYTYPE_HOST ? reinterpret_cast<CUdeviceptr>(host) : device;
}

}  // namespace

CUresult add_copy(NodePlace place, const LinearCopy& copy, CUcontext context, CUgraphNode* node) {
    CUDA_MEMCPY3D params{};
    const void* to_host = nullptr;
    params.srcMemoryType = copy.from_type;
    params.dstMemoryType = copy.to_type;
    set_operand(copy.from, copy.from_type, &params.srcDevice, &params.srcHost);
    set_operand(copy.to, copy.to_type, &params.dstDevice, &to_host);
    params.dstHost = const_cast<void*>(to_host);
    params.WidthInBytes = copy.size;
    params.Height = 1;
    params.Depth = 1;
    return driver().cuGraphAddMemcpyNode(node, place.graph, place.dependencies(), place.count(), &params, context);
}

CUresult get_copy(CUgraphNode node, LinearCopy* copy) {
    CUDA_MEMCPY3D params{};
    const CUresult status = driver().cuGraphMemcpyNodeGetParams(node, &params);
    copy->to = operand(params.dstMemoryType, params.dstDevice, params.dstHost);
    copy->to_type = params.dstMemoryType;
    copy->from = operand(params.srcMemoryType, params.srcDevice, params.srcHost);
    copy->from_type = params.srcMemoryType;
    copy->size = params.WidthInBytes;
    return status;
}

CUresult add_conditional(NodePlace place, CUgraphConditionalHandle condition, CUcontext context,
                         CUgraphConditionalNodeType type, unsigned int size, CUgraphNode* node,
                         std::vector<CUgraph>& bodies) {
    CUgraphNodeParams params{};
    params.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
    params.conditional.handle = condition;
    params.conditional.type = type;
    params.conditional.size = size;
    params.conditional.ctx = context;
    const CUresult status =
        driver().cuGraphAddNode(node, place.graph, place.dependencies(), nullptr, place.count(), &params);
    // The array is the driver's and lives as long as the node.
    if (status == CUDA_SUCCESS) bodies.assign(params.conditional.phGraph_out, params.conditional.phGraph_out + size);
    return status;
}

}  // namespace cg
