// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The builders and questions of harness.hpp.
#include "harness.hpp"

#include <chrono>
#include <thread>

#include "kernels.hpp"

namespace conf {

void must(CUresult result, const char* what) {
    if (result != CUDA_SUCCESS) throw SetupFailed{std::string(what) + " " + drv.name(result)};
}

CUdevice device() {
    static const CUdevice device = [] {
        CUdevice found = 0;
        must(drv.cuInit(0), "cuInit");
        must(drv.cuDeviceGet(&found, 0), "cuDeviceGet");
        return found;
    }();
    return device;
}

CUcontext context() {
    static const CUcontext context = [] {
        CUcontext primary = nullptr;
        must(drv.cuDevicePrimaryCtxRetain(&primary, device()), "cuDevicePrimaryCtxRetain");
        must(drv.cuCtxSetCurrent(primary), "cuCtxSetCurrent");
        return primary;
    }();
    return context;
}

CUlibrary library() {
    static const CUlibrary library = [] {
        CUlibrary loaded = nullptr;
        must(drv.cuLibraryLoadData(&loaded, kPtx, nullptr, nullptr, 0, nullptr, nullptr, 0), "cuLibraryLoadData");
        return loaded;
    }();
    return library;
}

CUfunction kernel(const char* name) {
    CUkernel found = nullptr;
    must(drv.cuLibraryGetKernel(&found, library(), name), "cuLibraryGetKernel");
    return reinterpret_cast<CUfunction>(found);
}

Graph new_graph() {
    CUgraph graph = nullptr;
    must(drv.cuGraphCreate(&graph, 0), "cuGraphCreate");
    return {graph, [](CUgraph g) { drv.cuGraphDestroy(g); }};
}

Graph new_clone(CUgraph graph) {
    CUgraph clone = nullptr;
    must(drv.cuGraphClone(&clone, graph), "cuGraphClone");
    return {clone, [](CUgraph g) { drv.cuGraphDestroy(g); }};
}

Exec new_exec(CUgraph graph, unsigned long long flags) {
    CUgraphExec exec = nullptr;
    must(drv.cuGraphInstantiateWithFlags(&exec, graph, flags), "cuGraphInstantiate");
    return {exec, [](CUgraphExec e) { drv.cuGraphExecDestroy(e); }};
}

Stream new_stream(unsigned flags) {
    CUstream stream = nullptr;
    must(drv.cuStreamCreateWithPriority(&stream, flags, 0), "cuStreamCreate");
    return {stream, [](CUstream s) { drv.cuStreamDestroy(s); }};
}

Event new_event(unsigned flags) {
    CUevent event = nullptr;
    must(drv.cuEventCreate(&event, flags), "cuEventCreate");
    return {event, [](CUevent e) { drv.cuEventDestroy(e); }};
}

Ints::Ints(size_t count, int value) {
    must(drv.cuMemAlloc(&pointer_, count * 4), "cuMemAlloc");
    for (size_t i = 0; i < count; ++i) must(drv.cuMemcpyHtoD(pointer_ + i * 4, &value, 4), "cuMemcpyHtoD");
    wait_for_what_was_copied();
}

Ints::~Ints() {
    drv.cuMemFree(pointer_);
}

int Ints::get(size_t index) const {
    int value = 0;
    must(drv.cuMemcpyDtoH(&value, pointer_ + index * 4, 4), "cuMemcpyDtoH");
    return value;
}

void Ints::set(int value, size_t index) {
    must(drv.cuMemcpyHtoD(pointer_ + index * 4, &value, 4), "cuMemcpyHtoD");
    wait_for_what_was_copied();
}

void wait_for_what_was_copied() {
    must(drv.cuStreamSynchronize(CU_STREAM_LEGACY), "cuStreamSynchronize");
}

Pinned::Pinned(size_t count) {
    must(drv.cuMemAllocHost(&pointer_, count * 4), "cuMemAllocHost");
    for (size_t i = 0; i < count; ++i) (*this)[i] = 0;
}

Pinned::~Pinned() {
    drv.cuMemFreeHost(pointer_);
}

CUDA_KERNEL_NODE_PARAMS kernel_params(CUfunction function, void** arguments, unsigned grid, unsigned block) {
    CUDA_KERNEL_NODE_PARAMS params{};
    params.kern = reinterpret_cast<CUkernel>(function);
    params.gridDimX = grid;
    params.blockDimX = block;
    params.gridDimY = params.gridDimZ = params.blockDimY = params.blockDimZ = 1;
    params.kernelParams = arguments;
    return params;
}

CUDA_MEMSET_NODE_PARAMS memset_params(CUdeviceptr dst, unsigned value, unsigned element, size_t width, size_t height,
                                      size_t pitch) {
    CUDA_MEMSET_NODE_PARAMS params{};
    params.dst = dst;
    params.value = value;
    params.elementSize = element;
    params.width = width;
    params.height = height;
    params.pitch = pitch;
    return params;
}

CUDA_MEMCPY3D copy_params(CUdeviceptr dst, CUdeviceptr src, size_t bytes) {
    CUDA_MEMCPY3D params{};
    params.srcMemoryType = params.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    params.srcDevice = src;
    params.dstDevice = dst;
    params.WidthInBytes = bytes;
    params.Height = params.Depth = 1;
    return params;
}

CUDA_MEMCPY3D copy_to_host_params(void* dst, CUdeviceptr src, size_t bytes) {
    CUDA_MEMCPY3D params = copy_params(0, src, bytes);
    params.dstMemoryType = CU_MEMORYTYPE_HOST;
    params.dstDevice = 0;
    params.dstHost = dst;
    return params;
}

CUDA_MEM_ALLOC_NODE_PARAMS alloc_params(size_t bytes) {
    CUDA_MEM_ALLOC_NODE_PARAMS params{};
    params.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    params.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    params.poolProps.location.id = device();
    params.bytesize = bytes;
    return params;
}

CUgraphNodeParams conditional_params(CUgraphConditionalHandle handle, CUgraphConditionalNodeType type, unsigned size) {
    CUgraphNodeParams params{};
    params.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
    params.conditional.handle = handle;
    params.conditional.type = type;
    params.conditional.size = size;
    params.conditional.ctx = context();
    return params;
}

CUgraphNode empty_node(CUgraph graph, const Nodes& after) {
    CUgraphNode node = nullptr;
    must(drv.cuGraphAddEmptyNode(&node, graph, after.data(), after.size()), "cuGraphAddEmptyNode");
    return node;
}

namespace {
CUgraphNode kernel_node(CUgraph graph, const char* name, void** arguments, const Nodes& after) {
    CUgraphNode node = nullptr;
    const CUDA_KERNEL_NODE_PARAMS params = kernel_params(kernel(name), arguments);
    must(drv.cuGraphAddKernelNode(&node, graph, after.data(), after.size(), &params), "cuGraphAddKernelNode");
    return node;
}
}  // namespace

CUgraphNode plain_kernel_node(CUgraph graph, const Nodes& after, const char* name) {
    return kernel_node(graph, name, nullptr, after);
}

CUgraphNode set_int_node(CUgraph graph, CUdeviceptr target, int value, const Nodes& after) {
    void* arguments[] = {&target, &value};
    return kernel_node(graph, "set_int", arguments, after);
}

CUgraphNode mul_add_node(CUgraph graph, CUdeviceptr target, int factor, int term, const Nodes& after) {
    void* arguments[] = {&target, &factor, &term};
    return kernel_node(graph, "mul_add", arguments, after);
}

CUgraphNode set_condition_node(CUgraph graph, CUgraphConditionalHandle handle, unsigned value, const Nodes& after) {
    void* arguments[] = {&handle, &value};
    return kernel_node(graph, "set_condition", arguments, after);
}

CUgraphNode count_up_node(CUgraph graph, CUdeviceptr counter, CUgraphConditionalHandle handle, unsigned end,
                          const Nodes& after) {
    void* arguments[] = {&counter, &handle, &end};
    return kernel_node(graph, "count_up", arguments, after);
}

CUgraphNode wait_flag_node(CUgraph graph, CUdeviceptr flag, const Nodes& after) {
    uint64_t limit = 5000000000u;
    void* arguments[] = {&flag, &limit};
    return kernel_node(graph, "wait_flag", arguments, after);
}

CUgraphNode memset_node(CUgraph graph, CUdeviceptr dst, unsigned value, const Nodes& after) {
    CUgraphNode node = nullptr;
    const CUDA_MEMSET_NODE_PARAMS params = memset_params(dst, value);
    must(drv.cuGraphAddMemsetNode(&node, graph, after.data(), after.size(), &params, context()),
         "cuGraphAddMemsetNode");
    return node;
}

CUgraphNode copy_node(CUgraph graph, CUdeviceptr dst, CUdeviceptr src, size_t bytes, const Nodes& after) {
    CUgraphNode node = nullptr;
    const CUDA_MEMCPY3D params = copy_params(dst, src, bytes);
    must(drv.cuGraphAddMemcpyNode(&node, graph, after.data(), after.size(), &params, context()),
         "cuGraphAddMemcpyNode");
    return node;
}

CUgraphNode host_node(CUgraph graph, CUhostFn function, void* data, const Nodes& after) {
    CUgraphNode node = nullptr;
    const CUDA_HOST_NODE_PARAMS params{function, data};
    must(drv.cuGraphAddHostNode(&node, graph, after.data(), after.size(), &params), "cuGraphAddHostNode");
    return node;
}

CUgraphNode child_node(CUgraph graph, CUgraph child, const Nodes& after) {
    CUgraphNode node = nullptr;
    must(drv.cuGraphAddChildGraphNode(&node, graph, after.data(), after.size(), child), "cuGraphAddChildGraphNode");
    return node;
}

CUgraphNode record_node(CUgraph graph, CUevent event, const Nodes& after) {
    CUgraphNode node = nullptr;
    must(drv.cuGraphAddEventRecordNode(&node, graph, after.data(), after.size(), event), "cuGraphAddEventRecordNode");
    return node;
}

CUgraphNode wait_node(CUgraph graph, CUevent event, const Nodes& after) {
    CUgraphNode node = nullptr;
    must(drv.cuGraphAddEventWaitNode(&node, graph, after.data(), after.size(), event), "cuGraphAddEventWaitNode");
    return node;
}

CUgraphNode alloc_node(CUgraph graph, size_t bytes, CUdeviceptr* address, const Nodes& after) {
    CUgraphNode node = nullptr;
    CUDA_MEM_ALLOC_NODE_PARAMS params = alloc_params(bytes);
    must(drv.cuGraphAddMemAllocNode(&node, graph, after.data(), after.size(), &params), "cuGraphAddMemAllocNode");
    *address = params.dptr;
    return node;
}

CUgraphNode free_node(CUgraph graph, CUdeviceptr address, const Nodes& after) {
    CUgraphNode node = nullptr;
    must(drv.cuGraphAddMemFreeNode(&node, graph, after.data(), after.size(), address), "cuGraphAddMemFreeNode");
    return node;
}

CUgraphConditionalHandle new_handle(CUgraph graph) {
    CUgraphConditionalHandle handle = 0;
    must(drv.cuGraphConditionalHandleCreate(&handle, graph, context(), 0, 0), "cuGraphConditionalHandleCreate");
    return handle;
}

CUgraphConditionalHandle new_handle(CUgraph graph, unsigned default_value) {
    CUgraphConditionalHandle handle = 0;
    must(drv.cuGraphConditionalHandleCreate(&handle, graph, context(), default_value, CU_GRAPH_COND_ASSIGN_DEFAULT),
         "cuGraphConditionalHandleCreate");
    return handle;
}

Conditional conditional_node(CUgraph graph, CUgraphConditionalHandle handle, CUgraphConditionalNodeType type,
                             unsigned size, const Nodes& after) {
    Conditional made{};
    CUgraphNodeParams params = conditional_params(handle, type, size);
    must(drv.cuGraphAddNode(&made.node, graph, after.data(), nullptr, after.size(), &params),
         "cuGraphAddNode conditional");
    made.bodies.assign(params.conditional.phGraph_out, params.conditional.phGraph_out + size);
    return made;
}

void ask_instantiate(Record& r, const std::string& label, CUgraph graph, unsigned long long flags) {
    CUDA_GRAPH_INSTANTIATE_PARAMS params{};
    params.flags = flags;
    params.result_out = CUDA_GRAPH_INSTANTIATE_SUCCESS;
    CUgraphExec exec = nullptr;
    const CUresult result = drv.cuGraphInstantiateWithParams(&exec, graph, &params);
    r(label, result);
    r(label + " result_out", params.result_out);
    r(label + " names a node", params.hErrNode_out != nullptr);
    if (result == CUDA_SUCCESS) drv.cuGraphExecDestroy(exec);
}

void run(CUgraphExec exec) {
    const Stream stream = new_stream();
    must(drv.cuGraphLaunch(exec, stream), "cuGraphLaunch");
    must(drv.cuStreamSynchronize(stream), "cuStreamSynchronize");
}

void run_graph(CUgraph graph) {
    const Exec exec = new_exec(graph);
    run(exec);
}

size_t node_count(CUgraph graph) {
    size_t count = 0;
    must(drv.cuGraphGetNodes(graph, nullptr, &count), "cuGraphGetNodes");
    return count;
}

size_t edge_count(CUgraph graph) {
    size_t count = 0;
    must(drv.cuGraphGetEdges(graph, nullptr, nullptr, nullptr, &count), "cuGraphGetEdges");
    return count;
}

bool eventually(const std::function<bool()>& done) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(2);
    while (std::chrono::steady_clock::now() < end) {
        if (done()) return true;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return done();
}

}  // namespace conf
