// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// First versions of functions, under the symbols that libcuda has kept for them. Programs that look functions up with
// dlsym get these (Warp, Quadrants), and so do programs that ask cuGetProcAddress for an old version. Each calls
// today's version.
#include "hostdriver/api/process/first_versions.hpp"

namespace {

// Converts a device, or CU_DEVICE_CPU, to a location.
CUmemLocation location_of(CUdevice device) {
    CUmemLocation location{};
    location.type = device == CU_DEVICE_CPU ? CU_MEM_LOCATION_TYPE_HOST : CU_MEM_LOCATION_TYPE_DEVICE;
    location.id = device == CU_DEVICE_CPU ? 0 : device;
    return location;
}

CUDA_KERNEL_NODE_PARAMS as_now(const CUDA_KERNEL_NODE_PARAMS_v1& params) {
    CUDA_KERNEL_NODE_PARAMS now{};
    now.func = params.func;
    now.gridDimX = params.gridDimX, now.gridDimY = params.gridDimY, now.gridDimZ = params.gridDimZ;
    now.blockDimX = params.blockDimX, now.blockDimY = params.blockDimY, now.blockDimZ = params.blockDimZ;
    now.sharedMemBytes = params.sharedMemBytes;
    now.kernelParams = params.kernelParams;
    now.extra = params.extra;
    return now;
}

}  // namespace

CUresult cgh_first_cuGetProcAddress(const char* symbol, void** found, int version, cuuint64_t flags) {
    return cuGetProcAddress_v2(symbol, found, version, flags, nullptr);
}

CUresult cgh_first_cuEventDestroy(CUevent event) {
    return cuEventDestroy_v2(event);
}

CUresult cgh_first_cuEventElapsedTime(float* milliseconds, CUevent start, CUevent end) {
    return cuEventElapsedTime_v2(milliseconds, start, end);
}

CUresult cgh_first_cuMemAdvise(CUdeviceptr address, std::size_t bytes, CUmem_advise advice, CUdevice device) {
    return cuMemAdvise_v2(address, bytes, advice, location_of(device));
}

CUresult cgh_first_cuMemPrefetchAsync(CUdeviceptr address, std::size_t bytes, CUdevice device, CUstream stream) {
    return cuMemPrefetchAsync_v2(address, bytes, location_of(device), 0, stream);
}

CUresult cgh_first_cuGraphInstantiate(CUgraphExec* exec, CUgraph graph, CUgraphNode*, char* log, std::size_t bytes) {
    if (log != nullptr && bytes != 0) *log = '\0';
    return cuGraphInstantiateWithFlags(exec, graph, 0);
}

CUresult cgh_first_cuGraphAddKernelNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after, std::size_t count,
                                        const CUDA_KERNEL_NODE_PARAMS_v1* params) {
    if (params == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const CUDA_KERNEL_NODE_PARAMS now = as_now(*params);
    return cuGraphAddKernelNode_v2(node, graph, after, count, &now);
}

CUresult cgh_first_cuGraphAddNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after, std::size_t count,
                                  CUgraphNodeParams* params) {
    return cuGraphAddNode_v2(node, graph, after, nullptr, count, params);
}

// Defines a first version with the same parameters as today's version.
#define UNCHANGED(name, version, params, ...) \
    CUresult cgh_first_##name params {        \
        return name##_##version(__VA_ARGS__); \
    }

UNCHANGED(cuCtxCreate, v2, (CUcontext * out, unsigned flags, CUdevice device), out, flags, device)
UNCHANGED(cuCtxDestroy, v2, (CUcontext context), context)
UNCHANGED(cuCtxPopCurrent, v2, (CUcontext * out), out)
UNCHANGED(cuCtxPushCurrent, v2, (CUcontext context), context)
UNCHANGED(cuDeviceGetUuid, v2, (CUuuid * out, CUdevice device), out, device)
UNCHANGED(cuDevicePrimaryCtxRelease, v2, (CUdevice device), device)
UNCHANGED(cuDevicePrimaryCtxReset, v2, (CUdevice device), device)
UNCHANGED(cuDevicePrimaryCtxSetFlags, v2, (CUdevice device, unsigned flags), device, flags)
UNCHANGED(cuMemHostRegister, v2, (void* start, std::size_t bytes, unsigned flags), start, bytes, flags)
UNCHANGED(cuIpcOpenMemHandle, v2, (CUdeviceptr * out, CUipcMemHandle handle, unsigned flags), out, handle, flags)
UNCHANGED(cuStreamDestroy, v2, (CUstream stream), stream)
UNCHANGED(cuLinkCreate, v2, (unsigned count, CUjit_option* options, void** values, CUlinkState* out), count, options,
          values, out)
UNCHANGED(cuLinkAddData, v2,
          (CUlinkState link, CUjitInputType type, void* data, std::size_t bytes, const char* name, unsigned count,
           CUjit_option* options, void** values),
          link, type, data, bytes, name, count, options, values)
UNCHANGED(cuLinkAddFile, v2,
          (CUlinkState link, CUjitInputType type, const char* path, unsigned count, CUjit_option* options,
           void** values),
          link, type, path, count, options, values)

#undef UNCHANGED

// libcuda 580 knows no context of today's functions here: a context of cuCtxCreate and a primary one give 201.
CUresult cgh_first_cuMemAllocHost(void**, unsigned) {
    return CUDA_ERROR_INVALID_CONTEXT;
}

// libcuda 580 allows cuMemAlloc on the same thread during such a capture, so its mode is relaxed.
CUresult cgh_first_cuStreamBeginCapture(CUstream stream) {
    return cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED);
}

CUresult cgh_first_cuStreamGetCaptureInfo(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id) {
    return cuStreamGetCaptureInfo_v2(stream, status, id, nullptr, nullptr, nullptr);
}

// The following functions are older than edge data. They make edges without data. Their queries return
// CUDA_ERROR_LOSSY_QUERY for an edge with data.

CUresult cgh_first_cuStreamUpdateCaptureDependencies(CUstream stream, CUgraphNode* nodes, std::size_t count,
                                                     unsigned flags) {
    return cuStreamUpdateCaptureDependencies_v2(stream, nodes, nullptr, count, flags);
}

CUresult cgh_first_cuGraphGetEdges(CUgraph graph, CUgraphNode* from, CUgraphNode* to, std::size_t* count) {
    return cuGraphGetEdges_v2(graph, from, to, nullptr, count);
}

CUresult cgh_first_cuGraphNodeGetDependencies(CUgraphNode node, CUgraphNode* others, std::size_t* count) {
    return cuGraphNodeGetDependencies_v2(node, others, nullptr, count);
}

CUresult cgh_first_cuGraphNodeGetDependentNodes(CUgraphNode node, CUgraphNode* others, std::size_t* count) {
    return cuGraphNodeGetDependentNodes_v2(node, others, nullptr, count);
}

CUresult cgh_first_cuGraphAddDependencies(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                                          std::size_t count) {
    return cuGraphAddDependencies_v2(graph, from, to, nullptr, count);
}

CUresult cgh_first_cuGraphRemoveDependencies(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                                             std::size_t count) {
    return cuGraphRemoveDependencies_v2(graph, from, to, nullptr, count);
}

// The function of a node that was made from a CUkernel is that CUkernel, which every launch accepts as well.
CUresult cgh_first_cuGraphKernelNodeGetParams(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS_v1* out) {
    if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
    CUDA_KERNEL_NODE_PARAMS now{};
    if (const CUresult error = cuGraphKernelNodeGetParams_v2(node, &now); error != CUDA_SUCCESS) return error;
    const auto function = now.func != nullptr ? now.func : reinterpret_cast<CUfunction>(now.kern);
    *out = {function,      now.gridDimX,  now.gridDimY,       now.gridDimZ,     now.blockDimX,
            now.blockDimY, now.blockDimZ, now.sharedMemBytes, now.kernelParams, now.extra};
    return CUDA_SUCCESS;
}

CUresult cgh_first_cuGraphKernelNodeSetParams(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v1* params) {
    if (params == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const CUDA_KERNEL_NODE_PARAMS now = as_now(*params);
    return cuGraphKernelNodeSetParams_v2(node, &now);
}

CUresult cgh_first_cuGraphExecKernelNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                                  const CUDA_KERNEL_NODE_PARAMS_v1* params) {
    if (params == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const CUDA_KERNEL_NODE_PARAMS now = as_now(*params);
    return cuGraphExecKernelNodeSetParams_v2(exec, node, &now);
}

CUresult cgh_first_cuGraphExecUpdate(CUgraphExec exec, CUgraph graph, CUgraphNode* node,
                                     CUgraphExecUpdateResult* result) {
    CUgraphExecUpdateResultInfo info{};
    const CUresult status = cuGraphExecUpdate_v2(exec, graph, &info);
    if (node != nullptr) *node = info.errorNode;
    // libcuda 580 reports another topology as NOT_SUPPORTED through this version.
    const bool is_other = info.result == CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
    if (result != nullptr) *result = is_other ? CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED : info.result;
    return status;
}
