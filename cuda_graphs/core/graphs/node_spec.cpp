// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "node_spec.hpp"

#include <cstring>

#include "core/driver/table.hpp"
#include "core/handles/leak_report.hpp"

namespace cg {

namespace {

CUgraphNodeType type_of(NodeKind kind) noexcept {
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

}  // namespace

// The parameters are cleared in pieces: g++ clears 256 bytes at once with `rep stos`, which takes 19 ns, the pieces 5
// ns (an Intel Xeon; bare loops of both).
NodeSpec::NodeSpec() noexcept {
    constexpr std::size_t kPiece = 64;
    static_assert(sizeof params % kPiece == 0);
    auto* const bytes = reinterpret_cast<unsigned char*>(&params);
    for (std::size_t at = 0; at < sizeof params; at += kPiece) std::memset(bytes + at, 0, kPiece);
}

void NodeSpec::begin(NodeKind what) noexcept {
    kind = what;
    params.type = type_of(what);
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

CUDA_KERNEL_NODE_PARAMS narrow(const CUDA_KERNEL_NODE_PARAMS_v3& k) noexcept {
    return {k.func,      k.gridDimX,       k.gridDimY,     k.gridDimZ, k.blockDimX, k.blockDimY,
            k.blockDimZ, k.sharedMemBytes, k.kernelParams, k.extra,    k.kern,      k.ctx};
}

// Takes the kernel of the spec, or its function if it is that of the node's context. If the context cannot be asked
// for, it takes the kernel, and the driver finds the function.
CUDA_KERNEL_NODE_PARAMS kernel_of(const NodeSpec& spec) {
    CUDA_KERNEL_NODE_PARAMS kernel = narrow(spec.params.kernel);
    if (spec.likely.function == nullptr) return kernel;
    CUcontext context = kernel.ctx;
    if (context == nullptr) driver().cuCtxGetCurrent(&context);
    if (context == spec.likely.context) kernel.func = spec.likely.function;
    return kernel;
}

CUresult add(const Dependencies& on, NodeSpec& spec, CUgraphNode* node) {
    // The call for kernels takes no edge data, and less time of libcuda.
    if (spec.kind == NodeKind::kKernel && on.data == nullptr) {
        const CUDA_KERNEL_NODE_PARAMS kernel = kernel_of(spec);
        return driver().cuGraphAddKernelNode(node, on.graph, on.after, on.count, &kernel);
    }
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

CUDA_KERNEL_NODE_PARAMS_v3 widen(const CUDA_KERNEL_NODE_PARAMS& k) noexcept {
    return {k.func,      k.gridDimX,       k.gridDimY,     k.gridDimZ, k.blockDimX, k.blockDimY,
            k.blockDimZ, k.sharedMemBytes, k.kernelParams, k.extra,    k.kern,      k.ctx};
}

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
    CUDA_KERNEL_NODE_PARAMS params{};
    const CUresult status = driver().cuGraphKernelNodeGetParams(node, &params);
    if (status != CUDA_SUCCESS) return status;
    spec.params.kernel = widen(params);
    return get_shape(node, &spec.shape);
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
