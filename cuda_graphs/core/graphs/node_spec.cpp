// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "node_spec.hpp"

#include <cstring>

#include "core/driver/table.hpp"
#include "core/handles/leak_report.hpp"

namespace cg {

// The parameters are cleared in pieces: g++ clears 256 bytes at once with `rep stos`, which takes 19 ns, the pieces 5
// ns (an Intel Xeon; bare loops of both).
NodeSpec::NodeSpec() noexcept {
    constexpr std::size_t kPiece = 64;
    static_assert(sizeof params == 4 * kPiece);
    auto* const bytes = reinterpret_cast<unsigned char*>(&params);
    std::memset(bytes, 0, kPiece);
    std::memset(bytes + kPiece, 0, kPiece);
    std::memset(bytes + 2 * kPiece, 0, kPiece);
    std::memset(bytes + 3 * kPiece, 0, kPiece);
}

CUresult current_context(CUcontext* context) {
    const CUresult status = driver().cuCtxGetCurrent(context);
    return status == CUDA_SUCCESS && *context == nullptr ? CUDA_ERROR_INVALID_CONTEXT : status;
}

CUresult get_shape(CUgraphNode node, KernelShape* shape) {
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

CUresult set_shape(CUgraphNode node, const KernelShape& from, const KernelShape& to) {
    CUkernelNodeAttrValue value{};
    if (!to.has_cluster_of(from)) {
        value.clusterDim.x = to.cluster[0];
        value.clusterDim.y = to.cluster[1];
        value.clusterDim.z = to.cluster[2];
        const CUresult status =
            driver().cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &value);
        if (status != CUDA_SUCCESS) return status;
    }
    if (to.cooperative == from.cooperative) return CUDA_SUCCESS;
    value = {};
    value.cooperative = to.cooperative;
    return driver().cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value);
}

// The calls for kernel nodes take the same structure under the name of an older version.
CUDA_KERNEL_NODE_PARAMS& as_older(CUDA_KERNEL_NODE_PARAMS_v3& kernel) noexcept {
    using Older = CUDA_KERNEL_NODE_PARAMS;
    using Newer = CUDA_KERNEL_NODE_PARAMS_v3;
    static_assert(sizeof(Older) == sizeof(Newer) && offsetof(Older, gridDimX) == offsetof(Newer, gridDimX) &&
                  offsetof(Older, kernelParams) == offsetof(Newer, kernelParams) &&
                  offsetof(Older, ctx) == offsetof(Newer, ctx));
    return reinterpret_cast<Older&>(kernel);
}

// Takes the function of the kernel, if it is that of the node's context, so that the driver need not find it. If the
// context cannot be asked for, the driver finds the function.
void use_function(NodeSpec& spec) {
    if (spec.likely.function == nullptr) return;
    CUcontext context = spec.params.kernel.ctx;
    if (context == nullptr) driver().cuCtxGetCurrent(&context);
    if (context == spec.likely.context) spec.params.kernel.func = spec.likely.function;
}

CUresult add(const Dependencies& on, NodeSpec& spec, CUgraphNode* node) {
    use_function(spec);
    // The call for kernels takes no edge data, and less time of libcuda.
    if (spec.kind == NodeKind::kKernel && on.data == nullptr)
        return driver().cuGraphAddKernelNode(node, on.graph, on.after, on.count, &as_older(spec.params.kernel));
    return driver().cuGraphAddNode(node, on.graph, on.after, on.data, on.count, &spec.params);
}

// A temporary graph on which launch attributes are tried. The driver checks launch attributes against the node, so they
// are set after the node exists. A graph with memory nodes cannot delete a node again. Therefore an invalid attribute
// must fail here first.
class Scratch {
  public:
    Scratch() { status_ = driver().cuGraphCreate(&graph_, 0); }
    ~Scratch() {
        if (graph_ != nullptr) report_leak(driver().cuGraphDestroy(graph_), "cuGraphDestroy");
    }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;

    CUresult add_shaped(NodeSpec& spec, CUgraphNode* node) {
        if (status_ == CUDA_SUCCESS) status_ = add({graph_, nullptr, 0}, spec, node);
        if (status_ == CUDA_SUCCESS) status_ = set_shape(*node, {}, spec.shape);
        return status_;
    }

  private:
    CUgraph graph_ = nullptr;
    CUresult status_;
};

CUresult make_shaped(const Dependencies& on, NodeSpec& spec, CUgraphNode* node) {
    CUgraphNode tried = nullptr;
    CUresult status = Scratch().add_shaped(spec, &tried);
    if (status == CUDA_SUCCESS) status = add(on, spec, node);
    if (status != CUDA_SUCCESS) return status;
    status = set_shape(*node, {}, spec.shape);
    // If the graph keeps the node, set the attributes again, since a complete node is better.
    if (status != CUDA_SUCCESS && driver().cuGraphDestroyNode(*node) != CUDA_SUCCESS)
        status = set_shape(*node, {}, spec.shape);
    return status;
}

}  // namespace

CUresult make_node(const Dependencies& on, NodeSpec& spec, CUgraphNode* node) {
    if (spec.place) {
        NodeSpec marker;
        marker.begin(NodeKind::kEmpty);
        return add(on, marker, node);
    }
    return spec.shape.is_plain() ? add(on, spec, node) : make_shaped(on, spec, node);
}

namespace {

// Changes the shape of a kernel node by way of the plain shape, for which every grid is valid. `copy` is a copy of the
// node.
CUresult reshape(CUgraphNode node, NodeSpec& before, CUgraphNode copy, NodeSpec& after) {
    bool has_params = false;
    CUresult status = set_shape(node, before.shape, {});
    if (status == CUDA_SUCCESS) status = driver().cuGraphNodeSetParams(node, &after.params);
    if (status == CUDA_SUCCESS) {
        has_params = true;
        status = set_shape(node, {}, after.shape);
    }
    if (status == CUDA_SUCCESS) return CUDA_SUCCESS;
    KernelShape now{};
    get_shape(node, &now);
    if (has_params) {
        set_shape(node, now, {});
        now = {};
        if (load_node(copy, before) == CUDA_SUCCESS) driver().cuGraphNodeSetParams(node, &before.params);
    }
    set_shape(node, now, before.shape);
    return status;
}

CUresult set_kernel(CUgraphNode node, NodeSpec& spec) {
    NodeSpec before;
    before.begin(NodeKind::kKernel);
    CUresult status = load_node(node, before);
    if (status != CUDA_SUCCESS) return status;
    if (before.shape == spec.shape) return driver().cuGraphNodeSetParams(node, &spec.params);

    // The scratch graph shows whether the driver accepts the new parameters.
    Scratch scratch;
    CUgraphNode copy = nullptr, tried = nullptr;
    status = scratch.add_shaped(before, &copy);
    if (status == CUDA_SUCCESS) status = scratch.add_shaped(spec, &tried);
    return status == CUDA_SUCCESS ? reshape(node, before, copy, spec) : status;
}

}  // namespace

CUresult set_node(CUgraphNode node, NodeSpec& spec) {
    return spec.kind == NodeKind::kKernel ? set_kernel(node, spec) : driver().cuGraphNodeSetParams(node, &spec.params);
}

namespace {

CUresult load_kernel(CUgraphNode node, NodeSpec& spec) {
    const CUresult status = driver().cuGraphKernelNodeGetParams(node, &as_older(spec.params.kernel));
    return status == CUDA_SUCCESS ? get_shape(node, &spec.shape) : status;
}

CUresult load_memset(CUgraphNode node, NodeSpec& spec) {
    CUDA_MEMSET_NODE_PARAMS params{};
    const CUresult status = driver().cuGraphMemsetNodeGetParams(node, &params);
    spec.params.memset = {params.dst,   params.pitch,  params.value, params.elementSize,
                          params.width, params.height, nullptr};
    return status;
}

CUresult load_host(CUgraphNode node, NodeSpec& spec) {
    CUDA_HOST_NODE_PARAMS params{};
    const CUresult status = driver().cuGraphHostNodeGetParams(node, &params);
    spec.params.host.fn = params.fn;
    spec.params.host.userData = params.userData;
    return status;
}

CUresult load_alloc(CUgraphNode node, NodeSpec& spec) {
    CUDA_MEM_ALLOC_NODE_PARAMS params{};
    const CUresult status = driver().cuGraphMemAllocNodeGetParams(node, &params);
    if (status != CUDA_SUCCESS) return status;
    spec.access.assign(params.accessDescs, params.accessDescs + params.accessDescCount);
    spec.params.alloc = {params.poolProps, spec.access.data(), spec.access.size(), params.bytesize, params.dptr};
    return CUDA_SUCCESS;
}

}  // namespace

CUresult load_node(CUgraphNode node, NodeSpec& spec) {
    CUgraphNodeParams& params = spec.params;
    switch (spec.kind) {
        case NodeKind::kKernel:
            return load_kernel(node, spec);
        case NodeKind::kAlloc:
            return load_alloc(node, spec);
        case NodeKind::kFree:
            return driver().cuGraphMemFreeNodeGetParams(node, &params.free.dptr);
        case NodeKind::kMemset:
            return load_memset(node, spec);
        case NodeKind::kMemcpy:
            return driver().cuGraphMemcpyNodeGetParams(node, &params.memcpy.copyParams);
        case NodeKind::kChild:
            return driver().cuGraphChildGraphNodeGetGraph(node, &params.graph.graph);
        case NodeKind::kHost:
            return load_host(node, spec);
        case NodeKind::kEventRecord:
            return driver().cuGraphEventRecordNodeGetEvent(node, &params.eventRecord.event);
        case NodeKind::kEventWait:
            return driver().cuGraphEventWaitNodeGetEvent(node, &params.eventWait.event);
        default:
            return CUDA_SUCCESS;
    }
}

namespace {

CUmemLocation location_of(AllocKind kind, int device) {
    CUmemLocation location{};
    location.type = kind == AllocKind::kHost ? CU_MEM_LOCATION_TYPE_HOST : CU_MEM_LOCATION_TYPE_DEVICE;
    location.id = kind == AllocKind::kHost ? 0 : device;
    return location;
}

}  // namespace

void set_allocation(NodeSpec& spec, AllocKind kind, int device, std::size_t size, const std::vector<int>& peers) {
    for (const int peer : peers)
        spec.access.push_back({location_of(AllocKind::kDevice, peer), CU_MEM_ACCESS_FLAGS_PROT_READWRITE});
    CUDA_MEM_ALLOC_NODE_PARAMS_v2& alloc = spec.params.alloc;
    alloc.poolProps.allocType =
        kind == AllocKind::kManaged ? CU_MEM_ALLOCATION_TYPE_MANAGED : CU_MEM_ALLOCATION_TYPE_PINNED;
    alloc.poolProps.location = location_of(kind, device);
    alloc.accessDescs = spec.access.empty() ? nullptr : spec.access.data();
    alloc.accessDescCount = spec.access.size();
    alloc.bytesize = size;
}

AllocKind alloc_kind(const CUmemPoolProps& props) noexcept {
    if (props.allocType == CU_MEM_ALLOCATION_TYPE_MANAGED) return AllocKind::kManaged;
    return props.location.type == CU_MEM_LOCATION_TYPE_DEVICE ? AllocKind::kDevice : AllocKind::kHost;
}

void set_source(CUDA_MEMCPY3D& copy, CUdeviceptr address, CUmemorytype type) noexcept {
    const bool host = type == CU_MEMORYTYPE_HOST;
    copy.srcMemoryType = type;
    copy.srcHost = host ? reinterpret_cast<const void*>(address) : nullptr;
    copy.srcDevice = host ? 0 : address;
}

void set_destination(CUDA_MEMCPY3D& copy, CUdeviceptr address, CUmemorytype type) noexcept {
    const bool host = type == CU_MEMORYTYPE_HOST;
    copy.dstMemoryType = type;
    copy.dstHost = host ? reinterpret_cast<void*>(address) : nullptr;
    copy.dstDevice = host ? 0 : address;
}

CUdeviceptr source_of(const CUDA_MEMCPY3D& copy) noexcept {
    return copy.srcMemoryType == CU_MEMORYTYPE_HOST ? reinterpret_cast<CUdeviceptr>(copy.srcHost) : copy.srcDevice;
}

CUdeviceptr destination_of(const CUDA_MEMCPY3D& copy) noexcept {
    return copy.dstMemoryType == CU_MEMORYTYPE_HOST ? reinterpret_cast<CUdeviceptr>(copy.dstHost) : copy.dstDevice;
}

}  // namespace cg
