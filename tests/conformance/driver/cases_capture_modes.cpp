// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Stream capture: the potentially unsafe calls, and the threads for which each mode forbids them. There is one case per
// call. Every line is one capture: "mode, calling thread: answer, status of the capture after the call".
#include <array>
#include <memory>

#include "capture_rig.hpp"
#include "cases.hpp"
#include "kernels.hpp"

namespace conf {
namespace {

// The objects that the calls use. They are made before the capture begins, because making them may be forbidden inside.
struct Things {
    Stream other = new_stream();  // in no capture
    Stream doomed = new_stream();
    Event outside = new_event(CU_EVENT_DISABLE_TIMING);  // recorded on `other`, complete
    Event start = new_event(), stop = new_event();       // the same, with timing
    Event spare = new_event(CU_EVENT_DISABLE_TIMING);
    Ints words{256};
    Pinned pinned{256};
    CUdeviceptr device = 0, pooled = 0;
    void* page_locked = nullptr;
    std::unique_ptr<std::byte[]> pageable{new std::byte[1 << 16]};
    void* registered = pageable.get() + 4096 - reinterpret_cast<uintptr_t>(pageable.get()) % 4096;
    void* unregistered = static_cast<std::byte*>(registered) + 8192;
    CUmemoryPool pool = nullptr;
    CUlibrary code = nullptr;
    Graph graph = new_graph();
    Graph copied = new_graph();
    CUgraphExec exec = nullptr, dead_exec = nullptr;
    CUuserObject user_object = nullptr;

    explicit Things(bool with_code) {
        must(drv.cuEventRecord(outside, other), "record");
        must(drv.cuEventRecord(start, other), "record");
        must(drv.cuEventRecord(stop, other), "record");
        must(drv.cuMemAlloc(&device, 64), "alloc");
        must(drv.cuMemAllocAsync(&pooled, 64, other), "alloc");
        must(drv.cuMemAllocHost(&page_locked, 64), "alloc");
        must(drv.cuMemHostRegister(registered, 4096, 0), "register");
        CUmemPoolProps props{};
        props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
        props.location = {CU_MEM_LOCATION_TYPE_DEVICE, device_number()};
        must(drv.cuMemPoolCreate(&pool, &props), "pool");
        if (with_code) must(drv.cuLibraryLoadData(&code, kPtx, nullptr, nullptr, 0, nullptr, nullptr, 0), "load");
        plain_kernel_node(graph);
        exec = new_exec(graph).release();
        dead_exec = new_exec(graph).release();
        must(drv.cuUserObjectCreate(
                 &user_object, nullptr, [](void*) {}, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC),
             "object");
        must(drv.cuStreamSynchronize(other), "synchronize");
    }
    // Runs after the capture. The driver refuses objects that a call has freed; these refusals are not recorded.
    ~Things() {
        drv.cuMemFree(device);
        drv.cuMemFree(pooled);
        drv.cuMemFreeHost(page_locked);
        drv.cuMemHostUnregister(registered);
        drv.cuMemHostUnregister(unregistered);
        drv.cuMemPoolDestroy(pool);
        if (code != nullptr) drv.cuLibraryUnload(code);
        drv.cuGraphExecDestroy(exec);
        drv.cuGraphExecDestroy(dead_exec);
    }
    static int device_number() { return conf::device(); }
};

struct Question {
    const char* name;
    CUresult (*call)(Things& things, CUstream capturing);
};

CUresult of_stream(CUresult made, CUstream stream) {
    if (made == CUDA_SUCCESS) drv.cuStreamDestroy(stream);
    return made;
}

CUgraphNode node_of(CUgraph graph) {
    CUgraphNode node = nullptr;
    size_t one = 1;
    must(drv.cuGraphGetNodes(graph, &node, &one), "nodes");
    return node;
}

// clang-format off
const Question kQuestions[] = {
    {"cuMemAlloc", [](Things&, CUstream) { CUdeviceptr p = 0; return drv.cuMemAlloc(&p, 64); }},
    {"cuMemAllocManaged", [](Things&, CUstream) { CUdeviceptr p = 0; return drv.cuMemAllocManaged(&p, 64, CU_MEM_ATTACH_GLOBAL); }},
    {"cuMemFree", [](Things& t, CUstream) { return drv.cuMemFree(t.device); }},
    {"cuMemFree/pooled", [](Things& t, CUstream) { return drv.cuMemFree(t.pooled); }},
    {"cuMemFree/null", [](Things&, CUstream) { return drv.cuMemFree(0); }},
    {"cuMemFree/garbage", [](Things&, CUstream) { return drv.cuMemFree(kGarbage); }},
    {"cuMemAllocHost", [](Things&, CUstream) { void* p = nullptr; return drv.cuMemAllocHost(&p, 64); }},
    {"cuMemHostAlloc", [](Things&, CUstream) { void* p = nullptr; return drv.cuMemHostAlloc(&p, 64, 0); }},
    {"cuMemFreeHost", [](Things& t, CUstream) { return drv.cuMemFreeHost(t.page_locked); }},
    {"cuMemFreeHost/null", [](Things&, CUstream) { return drv.cuMemFreeHost(nullptr); }},
    {"cuMemHostRegister", [](Things& t, CUstream) { return drv.cuMemHostRegister(t.unregistered, 4096, 0); }},
    {"cuMemHostUnregister", [](Things& t, CUstream) { return drv.cuMemHostUnregister(t.registered); }},
    {"cuMemHostGetDevicePointer", [](Things& t, CUstream) { CUdeviceptr p; return drv.cuMemHostGetDevicePointer(&p, t.page_locked, 0); }},
    {"cuMemHostGetFlags", [](Things& t, CUstream) { unsigned f; return drv.cuMemHostGetFlags(&f, t.page_locked); }},
    {"cuMemGetInfo", [](Things&, CUstream) { size_t a, b; return drv.cuMemGetInfo(&a, &b); }},
    {"cuMemGetAddressRange", [](Things& t, CUstream) { CUdeviceptr a; size_t n; return drv.cuMemGetAddressRange(&a, &n, t.device); }},
    {"cuPointerGetAttribute", [](Things& t, CUstream) { CUmemorytype k; return drv.cuPointerGetAttribute(&k, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, t.device); }},
    {"cuMemcpy", [](Things& t, CUstream) { return drv.cuMemcpy(t.words, t.device, 64); }},
    {"cuMemcpy/0 bytes", [](Things& t, CUstream) { return drv.cuMemcpy(t.words, t.device, 0); }},
    {"cuMemcpyHtoD", [](Things& t, CUstream) { int x[16] = {}; return drv.cuMemcpyHtoD(t.words, x, 64); }},
    {"cuMemcpyDtoH", [](Things& t, CUstream) { int x[16]; return drv.cuMemcpyDtoH(x, t.words, 64); }},
    {"cuMemcpyDtoH/pinned", [](Things& t, CUstream) { return drv.cuMemcpyDtoH(t.pinned.data(), t.words, 64); }},
    {"cuMemcpyDtoD", [](Things& t, CUstream) { return drv.cuMemcpyDtoD(t.words, t.device, 64); }},
    {"cuMemcpy2D", [](Things& t, CUstream) {
        CUDA_MEMCPY2D c{}; c.srcMemoryType = c.dstMemoryType = CU_MEMORYTYPE_DEVICE; c.srcDevice = t.device; c.dstDevice = t.words;
        c.srcPitch = c.dstPitch = 16; c.WidthInBytes = 16; c.Height = 2; return drv.cuMemcpy2D(&c); }},
    {"cuMemsetD8", [](Things& t, CUstream) { return drv.cuMemsetD8(t.words, 0, 64); }},
    {"cuMemsetD32", [](Things& t, CUstream) { return drv.cuMemsetD32(t.words, 0, 16); }},
    {"cuMemsetD32/pinned", [](Things& t, CUstream) { return drv.cuMemsetD32(t.pinned.address(), 0, 16); }},
    {"cuMemcpyAsync/legacy", [](Things& t, CUstream) { return drv.cuMemcpyAsync(t.words, t.device, 64, nullptr); }},
    {"cuMemcpyHtoDAsync/pageable, elsewhere", [](Things& t, CUstream) { int x[16] = {}; return drv.cuMemcpyHtoDAsync(t.words, x, 64, t.other); }},
    {"cuMemcpyDtoHAsync/pageable, elsewhere", [](Things& t, CUstream) { int x[16]; return drv.cuMemcpyDtoHAsync(x, t.words, 64, t.other); }},
    {"cuMemsetD32Async/legacy", [](Things& t, CUstream) { return drv.cuMemsetD32Async(t.words, 0, 16, nullptr); }},
    {"cuMemsetD32Async/elsewhere", [](Things& t, CUstream) { return drv.cuMemsetD32Async(t.words, 0, 16, t.other); }},
    {"cuLaunchKernel/legacy", [](Things&, CUstream) { return launch_empty(nullptr); }},
    {"cuLaunchKernel/per thread", [](Things&, CUstream) { return launch_empty(CU_STREAM_PER_THREAD); }},
    {"cuLaunchKernel/elsewhere", [](Things& t, CUstream) { return launch_empty(t.other); }},
    {"cuLaunchHostFunc/elsewhere", [](Things& t, CUstream) { return drv.cuLaunchHostFunc(t.other, [](void*) {}, nullptr); }},
    {"cuMemAllocAsync/elsewhere", [](Things& t, CUstream) { CUdeviceptr p = 0; return drv.cuMemAllocAsync(&p, 64, t.other); }},
    {"cuMemAllocFromPoolAsync/elsewhere", [](Things& t, CUstream) { CUdeviceptr p = 0; return drv.cuMemAllocFromPoolAsync(&p, 64, t.pool, t.other); }},
    {"cuMemAllocAsync/legacy", [](Things&, CUstream) { CUdeviceptr p = 0; return drv.cuMemAllocAsync(&p, 64, nullptr); }},
    {"cuMemFreeAsync/null, elsewhere", [](Things& t, CUstream) { return drv.cuMemFreeAsync(0, t.other); }},
    {"cuMemFreeAsync/elsewhere", [](Things& t, CUstream) { return drv.cuMemFreeAsync(t.pooled, t.other); }},
    {"cuDeviceGetDefaultMemPool", [](Things&, CUstream) { CUmemoryPool p; return drv.cuDeviceGetDefaultMemPool(&p, device()); }},
    {"cuDeviceGetMemPool", [](Things&, CUstream) { CUmemoryPool p; return drv.cuDeviceGetMemPool(&p, device()); }},
    {"cuDeviceSetMemPool", [](Things&, CUstream) { CUmemoryPool p; drv.cuDeviceGetDefaultMemPool(&p, device()); return drv.cuDeviceSetMemPool(device(), p); }},
    {"cuMemPoolCreate", [](Things&, CUstream) {
        CUmemPoolProps props{}; props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED; props.location = {CU_MEM_LOCATION_TYPE_DEVICE, device()};
        CUmemoryPool p = nullptr; return drv.cuMemPoolCreate(&p, &props); }},
    {"cuMemPoolDestroy", [](Things& t, CUstream) { return drv.cuMemPoolDestroy(t.pool); }},
    {"cuMemPoolGetAttribute", [](Things& t, CUstream) { cuuint64_t v; return drv.cuMemPoolGetAttribute(t.pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &v); }},
    {"cuMemPoolSetAttribute", [](Things& t, CUstream) { cuuint64_t v = 0; return drv.cuMemPoolSetAttribute(t.pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &v); }},
    {"cuMemPoolTrimTo", [](Things& t, CUstream) { return drv.cuMemPoolTrimTo(t.pool, 0); }},
    {"cuMemPoolGetAccess", [](Things& t, CUstream) { CUmemAccess_flags f; CUmemLocation l{CU_MEM_LOCATION_TYPE_DEVICE, device()}; return drv.cuMemPoolGetAccess(&f, t.pool, &l); }},
    {"cuMemPoolSetAccess", [](Things& t, CUstream) { CUmemAccessDesc d{{CU_MEM_LOCATION_TYPE_DEVICE, device()}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE}; return drv.cuMemPoolSetAccess(t.pool, &d, 1); }},
    {"cuDeviceGetGraphMemAttribute", [](Things&, CUstream) { cuuint64_t v; return drv.cuDeviceGetGraphMemAttribute(device(), CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &v); }},
    {"cuDeviceSetGraphMemAttribute", [](Things&, CUstream) { cuuint64_t v = 0; return drv.cuDeviceSetGraphMemAttribute(device(), CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &v); }},
    {"cuDeviceGraphMemTrim", [](Things&, CUstream) { return drv.cuDeviceGraphMemTrim(device()); }},
    {"cuStreamCreate", [](Things&, CUstream) { CUstream s = nullptr; const CUresult made = drv.cuStreamCreate(&s, CU_STREAM_NON_BLOCKING); return of_stream(made, s); }},
    {"cuStreamCreate/blocking", [](Things&, CUstream) { CUstream s = nullptr; const CUresult made = drv.cuStreamCreate(&s, 0); return of_stream(made, s); }},
    {"cuStreamDestroy/elsewhere", [](Things& t, CUstream) { return drv.cuStreamDestroy(t.doomed.release()); }},
    {"cuStreamQuery/elsewhere", [](Things& t, CUstream) { return drv.cuStreamQuery(t.other); }},
    {"cuStreamQuery/legacy", [](Things&, CUstream) { return drv.cuStreamQuery(nullptr); }},
    {"cuStreamSynchronize/elsewhere", [](Things& t, CUstream) { return drv.cuStreamSynchronize(t.other); }},
    {"cuStreamSynchronize/legacy", [](Things&, CUstream) { return drv.cuStreamSynchronize(nullptr); }},
    {"cuStreamWaitEvent/elsewhere", [](Things& t, CUstream) { return drv.cuStreamWaitEvent(t.other, t.outside, 0); }},
    {"cuStreamGetFlags/elsewhere", [](Things& t, CUstream) { unsigned f; return drv.cuStreamGetFlags(t.other, &f); }},
    {"cuStreamBeginCapture/elsewhere", [](Things& t, CUstream) {
        const CUresult begun = begin(t.other, CU_STREAM_CAPTURE_MODE_RELAXED); CUgraph g = nullptr;
        if (begun == CUDA_SUCCESS) { drv.cuStreamEndCapture(t.other, &g); drv.cuGraphDestroy(g); }
        return begun; }},
    {"cuEventCreate", [](Things&, CUstream) { CUevent e = nullptr; return drv.cuEventCreate(&e, CU_EVENT_DISABLE_TIMING); }},
    {"cuEventDestroy", [](Things& t, CUstream) { return drv.cuEventDestroy(t.spare.release()); }},
    {"cuEventRecord/elsewhere", [](Things& t, CUstream) { return drv.cuEventRecord(t.spare, t.other); }},
    {"cuEventQuery", [](Things& t, CUstream) { return drv.cuEventQuery(t.outside); }},
    {"cuEventQuery/never recorded", [](Things& t, CUstream) { return drv.cuEventQuery(t.spare); }},
    {"cuEventQuery/captured", [](Things& t, CUstream capturing) { drv.cuEventRecord(t.spare, capturing); return drv.cuEventQuery(t.spare); }},
    {"cuEventQuery/null", [](Things&, CUstream) { return drv.cuEventQuery(nullptr); }},
    {"cuStreamQuery/per thread", [](Things&, CUstream) { return drv.cuStreamQuery(CU_STREAM_PER_THREAD); }},
    {"cuEventSynchronize", [](Things& t, CUstream) { return drv.cuEventSynchronize(t.outside); }},
    {"cuEventElapsedTime", [](Things& t, CUstream) { float ms; return drv.cuEventElapsedTime(&ms, t.start, t.stop); }},
    {"cuCtxSynchronize", [](Things&, CUstream) { return drv.cuCtxSynchronize(); }},
    {"cuCtxSetCurrent", [](Things&, CUstream) { return drv.cuCtxSetCurrent(context()); }},
    {"cuCtxGetDevice", [](Things&, CUstream) { CUdevice d; return drv.cuCtxGetDevice(&d); }},
    {"cuCtxGetStreamPriorityRange", [](Things&, CUstream) { int a, b; return drv.cuCtxGetStreamPriorityRange(&a, &b); }},
    {"cuDevicePrimaryCtxRetain", [](Things&, CUstream) {
        CUcontext c = nullptr; const CUresult got = drv.cuDevicePrimaryCtxRetain(&c, device());
        if (got == CUDA_SUCCESS) drv.cuDevicePrimaryCtxRelease(device());
        return got; }},
    {"cuDeviceGetAttribute", [](Things&, CUstream) { int v; return drv.cuDeviceGetAttribute(&v, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device()); }},
    {"cuDeviceTotalMem", [](Things&, CUstream) { size_t v; return drv.cuDeviceTotalMem(&v, device()); }},
    {"cuLibraryLoadData", [](Things&, CUstream) {
        CUlibrary l = nullptr; return drv.cuLibraryLoadData(&l, kPtx, nullptr, nullptr, 0, nullptr, nullptr, 0); }},
    {"cuLibraryGetKernel", [](Things& t, CUstream) { CUkernel k; return drv.cuLibraryGetKernel(&k, t.code, "empty"); }},
    {"cuLibraryGetModule", [](Things& t, CUstream) { CUmodule m; return drv.cuLibraryGetModule(&m, t.code); }},
    {"cuLibraryUnload", [](Things& t, CUstream) { const CUresult gone = drv.cuLibraryUnload(t.code); if (gone == CUDA_SUCCESS) t.code = nullptr; return gone; }},
    {"cuKernelGetFunction", [](Things& t, CUstream) {
        CUkernel k = nullptr; CUfunction f = nullptr;
        const CUresult got = drv.cuLibraryGetKernel(&k, t.code, "empty");
        return got != CUDA_SUCCESS ? got : drv.cuKernelGetFunction(&f, k); }},
    {"cuModuleUnload", [](Things&, CUstream) {
        CUmodule m = nullptr; const CUresult made = drv.cuModuleLoadData(&m, kPtx);
        return made != CUDA_SUCCESS ? made : drv.cuModuleUnload(m); }},
    {"cuModuleLoadData", [](Things&, CUstream) { CUmodule m = nullptr; return drv.cuModuleLoadData(&m, kPtx); }},
    {"cuFuncGetAttribute", [](Things&, CUstream) {
        CUfunction f = nullptr; int v;
        const CUresult got = drv.cuKernelGetFunction(&f, reinterpret_cast<CUkernel>(kernel("empty")));
        return got != CUDA_SUCCESS ? got : drv.cuFuncGetAttribute(&v, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, f); }},
    {"cuKernelSetAttribute", [](Things&, CUstream) {
        return drv.cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1024, reinterpret_cast<CUkernel>(kernel("empty")), device()); }},
    {"cuOccupancyMaxActiveBlocksPerMultiprocessor", [](Things&, CUstream) {
        CUfunction f = nullptr; int v;
        const CUresult got = drv.cuKernelGetFunction(&f, reinterpret_cast<CUkernel>(kernel("empty")));
        return got != CUDA_SUCCESS ? got : drv.cuOccupancyMaxActiveBlocksPerMultiprocessor(&v, f, 32, 0); }},
    {"cuGraphCreate", [](Things&, CUstream) { CUgraph g = nullptr; const CUresult made = drv.cuGraphCreate(&g, 0); if (made == CUDA_SUCCESS) drv.cuGraphDestroy(g); return made; }},
    {"cuGraphAddNode", [](Things& t, CUstream) { CUgraphNode n; return drv.cuGraphAddEmptyNode(&n, t.copied, nullptr, 0); }},
    {"cuGraphClone", [](Things& t, CUstream) { CUgraph g = nullptr; const CUresult made = drv.cuGraphClone(&g, t.graph); if (made == CUDA_SUCCESS) drv.cuGraphDestroy(g); return made; }},
    {"cuGraphInstantiate", [](Things& t, CUstream) { CUgraphExec e = nullptr; return drv.cuGraphInstantiateWithFlags(&e, t.graph, 0); }},
    {"cuGraphInstantiateWithParams", [](Things& t, CUstream) { CUgraphExec e = nullptr; CUDA_GRAPH_INSTANTIATE_PARAMS p{}; return drv.cuGraphInstantiateWithParams(&e, t.graph, &p); }},
    {"cuGraphDestroy", [](Things& t, CUstream) { return drv.cuGraphDestroy(t.copied.release()); }},
    {"cuGraphUpload/elsewhere", [](Things& t, CUstream) { return drv.cuGraphUpload(t.exec, t.other); }},
    {"cuGraphLaunch/elsewhere", [](Things& t, CUstream) { return drv.cuGraphLaunch(t.exec, t.other); }},
    {"cuGraphExecUpdate", [](Things& t, CUstream) { CUgraphExecUpdateResultInfo i{}; return drv.cuGraphExecUpdate(t.exec, t.graph, &i); }},
    {"cuGraphExecDestroy", [](Things& t, CUstream) { return drv.cuGraphExecDestroy(t.dead_exec); }},
    {"cuUserObjectCreate", [](Things&, CUstream) {
        CUuserObject o = nullptr; const CUresult made = drv.cuUserObjectCreate(&o, nullptr, [](void*) {}, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC);
        if (made == CUDA_SUCCESS) drv.cuUserObjectRelease(o, 1);
        return made; }},
    {"cuUserObjectRelease", [](Things& t, CUstream) { return drv.cuUserObjectRelease(t.user_object, 1); }},
    {"cuGraphAddMemAllocNode", [](Things& t, CUstream) { CUgraphNode n; CUDA_MEM_ALLOC_NODE_PARAMS p = alloc_params(64); return drv.cuGraphAddMemAllocNode(&n, t.copied, nullptr, 0, &p); }},
    {"cuGraphDestroyNode", [](Things& t, CUstream) { return drv.cuGraphDestroyNode(node_of(t.graph)); }},
    {"cuGraphKernelNodeSetParams", [](Things& t, CUstream) { CUDA_KERNEL_NODE_PARAMS p = kernel_params(kernel("empty")); return drv.cuGraphKernelNodeSetParams(node_of(t.graph), &p); }},
    {"cuGraphGetNodes", [](Things& t, CUstream) { size_t n = 0; return drv.cuGraphGetNodes(t.graph, nullptr, &n); }},
    {"cuGraphDebugDotPrint", [](Things& t, CUstream) { return drv.cuGraphDebugDotPrint(t.graph, "/dev/null", 0); }},
    {"cuGraphConditionalHandleCreate", [](Things& t, CUstream) { CUgraphConditionalHandle h; return drv.cuGraphConditionalHandleCreate(&h, t.copied, context(), 0, 0); }},
    {"cuGraphRetainUserObject", [](Things& t, CUstream) { return drv.cuGraphRetainUserObject(t.copied, t.user_object, 1, CU_GRAPH_USER_OBJECT_MOVE); }},
    {"cuGraphExecKernelNodeSetParams", [](Things& t, CUstream) { CUDA_KERNEL_NODE_PARAMS p = kernel_params(kernel("empty")); return drv.cuGraphExecKernelNodeSetParams(t.exec, node_of(t.graph), &p); }},
    {"cuGraphNodeSetEnabled", [](Things& t, CUstream) { return drv.cuGraphNodeSetEnabled(t.exec, node_of(t.graph), 0); }},
    {"cuGraphExecGetFlags", [](Things& t, CUstream) { cuuint64_t f; return drv.cuGraphExecGetFlags(t.exec, &f); }},
    {"cuGraphUpload/capturing", [](Things& t, CUstream capturing) { return drv.cuGraphUpload(t.exec, capturing); }},
    {"cuGraphLaunch/capturing", [](Things& t, CUstream capturing) { return drv.cuGraphLaunch(t.exec, capturing); }},
    {"cuUserObjectRetain", [](Things& t, CUstream) { const CUresult kept = drv.cuUserObjectRetain(t.user_object, 1); if (kept == CUDA_SUCCESS) drv.cuUserObjectRelease(t.user_object, 1); return kept; }},
    {"cuStreamCreateWithPriority", [](Things&, CUstream) { CUstream s = nullptr; const CUresult made = drv.cuStreamCreateWithPriority(&s, CU_STREAM_NON_BLOCKING, 0); return of_stream(made, s); }},
    {"cuStreamGetCtx/elsewhere", [](Things& t, CUstream) { CUcontext c; return drv.cuStreamGetCtx(t.other, &c); }},
    {"cuStreamGetPriority/elsewhere", [](Things& t, CUstream) { int p; return drv.cuStreamGetPriority(t.other, &p); }},
    {"cuStreamGetId/elsewhere", [](Things& t, CUstream) { unsigned long long i; return drv.cuStreamGetId(t.other, &i); }},
    {"cuStreamGetCtx/capturing", [](Things&, CUstream capturing) { CUcontext c; return drv.cuStreamGetCtx(capturing, &c); }},
    {"cuStreamGetPriority/capturing", [](Things&, CUstream capturing) { int p; return drv.cuStreamGetPriority(capturing, &p); }},
    {"cuStreamGetId/capturing", [](Things&, CUstream capturing) { unsigned long long i; return drv.cuStreamGetId(capturing, &i); }},
    {"cuStreamIsCapturing/capturing", [](Things&, CUstream capturing) { CUstreamCaptureStatus s; return drv.cuStreamIsCapturing(capturing, &s); }},
    {"cuStreamBeginCaptureToGraph/elsewhere", [](Things& t, CUstream) {
        const CUresult begun = drv.cuStreamBeginCaptureToGraph(t.other, t.copied, nullptr, nullptr, 0, CU_STREAM_CAPTURE_MODE_RELAXED); CUgraph g = nullptr;
        if (begun == CUDA_SUCCESS) drv.cuStreamEndCapture(t.other, &g);
        return begun; }},
    {"cuEventRecordWithFlags/elsewhere", [](Things& t, CUstream) { return drv.cuEventRecordWithFlags(t.spare, t.other, 0); }},
    {"cuLaunchKernelEx/elsewhere", [](Things& t, CUstream) {
        CUlaunchConfig c{}; c.gridDimX = c.gridDimY = c.gridDimZ = c.blockDimX = c.blockDimY = c.blockDimZ = 1; c.hStream = t.other;
        return drv.cuLaunchKernelEx(&c, kernel("empty"), nullptr, nullptr); }},
    {"cuLaunchCooperativeKernel/elsewhere", [](Things& t, CUstream) { return drv.cuLaunchCooperativeKernel(kernel("empty"), 1, 1, 1, 1, 1, 1, 0, t.other, nullptr); }},
    {"cuMemcpyDtoDAsync/elsewhere", [](Things& t, CUstream) { return drv.cuMemcpyDtoDAsync(t.words, t.device, 64, t.other); }},
    {"cuMemcpyPeer", [](Things& t, CUstream) { return drv.cuMemcpyPeer(t.words, context(), t.device, context(), 64); }},
    {"cuMemcpyPeerAsync/elsewhere", [](Things& t, CUstream) { return drv.cuMemcpyPeerAsync(t.words, context(), t.device, context(), 64, t.other); }},
    {"cuPointerGetAttributes", [](Things& t, CUstream) {
        CUmemorytype k; CUpointer_attribute what = CU_POINTER_ATTRIBUTE_MEMORY_TYPE; void* at = &k;
        return drv.cuPointerGetAttributes(1, &what, &at, t.device); }},
    {"cuCtxPushCurrent", [](Things&, CUstream) { CUcontext c; const CUresult pushed = drv.cuCtxPushCurrent(context()); if (pushed == CUDA_SUCCESS) drv.cuCtxPopCurrent(&c); return pushed; }},
    {"cuCtxGetFlags", [](Things&, CUstream) { unsigned f; return drv.cuCtxGetFlags(&f); }},
    {"cuDevicePrimaryCtxGetState", [](Things&, CUstream) { unsigned f; int a; return drv.cuDevicePrimaryCtxGetState(device(), &f, &a); }},
    {"cuDevicePrimaryCtxSetFlags", [](Things&, CUstream) {
        unsigned f = 0; int a; drv.cuDevicePrimaryCtxGetState(device(), &f, &a); return drv.cuDevicePrimaryCtxSetFlags(device(), f); }},
    {"cuModuleLoadDataEx", [](Things&, CUstream) { CUmodule m = nullptr; return drv.cuModuleLoadDataEx(&m, kPtx, 0, nullptr, nullptr); }},
    {"cuModuleGetGlobal", [](Things& t, CUstream) {
        CUmodule m = nullptr; CUdeviceptr p; size_t n;
        const CUresult got = drv.cuLibraryGetModule(&m, t.code); return got != CUDA_SUCCESS ? got : drv.cuModuleGetGlobal(&p, &n, m, "counter_global"); }},
    {"cuModuleGetFunction", [](Things& t, CUstream) {
        CUmodule m = nullptr; CUfunction f;
        const CUresult got = drv.cuLibraryGetModule(&m, t.code); return got != CUDA_SUCCESS ? got : drv.cuModuleGetFunction(&f, m, "empty"); }},
    {"cuLibraryGetGlobal", [](Things& t, CUstream) { CUdeviceptr p; size_t n; return drv.cuLibraryGetGlobal(&p, &n, t.code, "counter_global"); }},
    {"cuLibraryGetKernelCount", [](Things& t, CUstream) { unsigned n; return drv.cuLibraryGetKernelCount(&n, t.code); }},
    {"cuKernelGetAttribute", [](Things&, CUstream) { int v; return drv.cuKernelGetAttribute(&v, CU_FUNC_ATTRIBUTE_NUM_REGS, reinterpret_cast<CUkernel>(kernel("empty")), device()); }},
    {"cuKernelGetParamInfo", [](Things&, CUstream) { size_t o, n; return drv.cuKernelGetParamInfo(reinterpret_cast<CUkernel>(kernel("set_int")), 0, &o, &n); }},
    {"cuFuncSetAttribute", [](Things&, CUstream) {
        CUfunction f = nullptr; const CUresult got = drv.cuKernelGetFunction(&f, reinterpret_cast<CUkernel>(kernel("empty")));
        return got != CUDA_SUCCESS ? got : drv.cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1024); }},
    {"cuLaunchKernel/capturing", [](Things&, CUstream capturing) { return launch_empty(capturing); }},
    {"cuMemAllocAsync/capturing", [](Things&, CUstream capturing) { CUdeviceptr p = 0; return drv.cuMemAllocAsync(&p, 64, capturing); }},
    {"cuStreamSynchronize/capturing", [](Things&, CUstream capturing) { return drv.cuStreamSynchronize(capturing); }},
    {"cuStreamQuery/capturing", [](Things&, CUstream capturing) { return drv.cuStreamQuery(capturing); }},
};
// clang-format on

void ask(Record& r, const std::string& label, const Question& question, CUstreamCaptureMode mode, bool other_thread,
         CUstreamCaptureMode thread_mode) {
    const std::string name = question.name;
    Things things(name.rfind("cuLibrary", 0) == 0 || name.rfind("cuModuleGet", 0) == 0 ||
                  name == "cuKernelGetFunction");
    const Capturing capturing(mode);
    CUresult answer = CUDA_SUCCESS;
    const auto call = [&] {
        CUstreamCaptureMode before = thread_mode;
        must(drv.cuThreadExchangeStreamCaptureMode(&before), "exchange");
        answer = question.call(things, capturing);
        must(drv.cuThreadExchangeStreamCaptureMode(&before), "exchange");
    };
    if (other_thread)
        elsewhere(call);
    else
        call();
    r(label, drv.name(answer) + ", " + std::to_string(status(capturing)));
}

}  // namespace

void add_capture_mode_cases(Cases& cases) {
    for (const Question& question : kQuestions) {
        cases.add(std::string("capture_modes/") + question.name, [&question](Record& r) {
            ask(r, "global", question, kGlobal, false, kGlobal);
            ask(r, "thread local", question, kLocal, false, kGlobal);
            ask(r, "relaxed", question, kRelaxed, false, kGlobal);
            ask(r, "global, in a relaxed thread", question, kGlobal, false, kRelaxed);
            ask(r, "global, in another thread", question, kGlobal, true, kGlobal);
            ask(r, "thread local, in another thread", question, kLocal, true, kGlobal);
            ask(r, "relaxed, in another thread", question, kRelaxed, true, kGlobal);
        });
    }
    // The mode of a thread against the mode of a capture, for one unsafe call.
    for (bool other_thread : {false, true}) {
        cases.add(other_thread ? "capture_modes/of_another_thread" : "capture_modes/of_the_thread",
                  [other_thread](Record& r) {
                      const char* names[] = {"global", "thread local", "relaxed"};
                      for (int mode = 0; mode < 3; ++mode)
                          for (int of_thread = 0; of_thread < 3; ++of_thread)
                              ask(r, std::string(names[mode]) + " in a thread of " + names[of_thread], kQuestions[0],
                                  static_cast<CUstreamCaptureMode>(mode), other_thread,
                                  static_cast<CUstreamCaptureMode>(of_thread));
                  });
    }
    cases.add("capture_modes/two_captures", [](Record& r) {
        const Capturing strict(kGlobal), relaxed(kRelaxed);
        CUdeviceptr p = 0;
        r("alloc", drv.cuMemAlloc(&p, 64));
        r("global", status(strict));
        r("relaxed", status(relaxed));
    });
    cases.add("capture_modes/global_captures_of_two_threads", [](Record& r) {
        const Capturing ours(kGlobal);
        elsewhere([&] {
            const Capturing theirs(kGlobal), local(kLocal);
            CUdeviceptr p = 0;
            r("alloc", drv.cuMemAlloc(&p, 64));
            r("theirs", status(theirs));
            r("theirs, thread local", status(local));
        });
        r("ours", status(ours));
    });
    cases.add("capture_modes/local_captures_of_two_threads", [](Record& r) {
        const Capturing ours(kLocal);
        elsewhere([&] {
            const Capturing theirs(kLocal);
            CUdeviceptr p = 0;
            r("alloc", drv.cuMemAlloc(&p, 64));
            r("theirs", status(theirs));
        });
        r("ours", status(ours));
    });
    cases.add("capture_modes/an_invalidated_capture_forbids_too", [](Record& r) {
        const Capturing strict(kGlobal);
        CUdeviceptr p = 0;
        r("alloc", drv.cuMemAlloc(&p, 64));
        r("again", drv.cuMemAlloc(&p, 64));
        elsewhere([&] { r("elsewhere", drv.cuMemAlloc(&p, 64)); });
    });
    cases.add("capture_modes/a_capture_continued_in_another_thread", [](Record& r) {
        // A capture forbids the calls of the thread that began it, independently of the threads that queue work.
        const Capturing local(kLocal);
        CUdeviceptr p = 0;
        elsewhere([&] {
            r("launch", launch_empty(local));
            r("alloc", drv.cuMemAlloc(&p, 64));
        });
        r("status", status(local));
        r("own alloc", drv.cuMemAlloc(&p, 64));
        r("status", status(local));
    });
    cases.add("capture_modes/a_branch_in_another_thread", [](Record& r) {
        const Capturing local(kLocal);
        const Stream two = local.branch();
        CUdeviceptr p = 0;
        elsewhere([&] {
            r("launch", launch_empty(two));
            r("alloc", drv.cuMemAlloc(&p, 64));
        });
        r("status", status(two));
    });
    cases.add("capture_modes/context_synchronized_elsewhere", [](Record& r) {
        for (CUstreamCaptureMode mode : {kGlobal, kLocal, kRelaxed})
            for (CUstreamCaptureMode of_thread : {kGlobal, kLocal, kRelaxed}) {
                const Capturing ours(mode);
                CUresult answer = CUDA_SUCCESS;
                elsewhere([&] {
                    CUstreamCaptureMode before = of_thread;
                    drv.cuThreadExchangeStreamCaptureMode(&before);
                    answer = drv.cuCtxSynchronize();
                });
                r(std::to_string(mode) + " in a thread of " + std::to_string(of_thread),
                  drv.name(answer) + ", " + std::to_string(status(ours)));
            }
    });
}

}  // namespace conf
