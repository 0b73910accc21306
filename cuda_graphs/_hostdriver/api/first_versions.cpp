// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// First versions of functions, by the names that libcuda has kept for them: programs that look functions up by name
// with dlsym get these (Warp, Quadrants). Each calls the version of today.
#include <cuda.h>

#include "entry.hpp"

#define FIRST(name, ...) CGH_API CUresult cgh_first_##name(__VA_ARGS__) __asm__(#name)

FIRST(cuGetProcAddress, const char*, void**, int, cuuint64_t);
FIRST(cuEventDestroy, CUevent);
FIRST(cuEventElapsedTime, float*, CUevent, CUevent);
FIRST(cuMemAdvise, CUdeviceptr, std::size_t, CUmem_advise, CUdevice);
FIRST(cuMemPrefetchAsync, CUdeviceptr, std::size_t, CUdevice, CUstream);
FIRST(cuGraphInstantiate, CUgraphExec*, CUgraph, CUgraphNode*, char*, std::size_t);
FIRST(cuGraphAddKernelNode, CUgraphNode*, CUgraph, const CUgraphNode*, std::size_t, const CUDA_KERNEL_NODE_PARAMS_v1*);
FIRST(cuGraphAddNode, CUgraphNode*, CUgraph, const CUgraphNode*, std::size_t, CUgraphNodeParams*);

#undef FIRST

namespace {

// A device, or CU_DEVICE_CPU.
CUmemLocation location_of(CUdevice device) {
    CUmemLocation location{};
    location.type = device == CU_DEVICE_CPU ? CU_MEM_LOCATION_TYPE_HOST : CU_MEM_LOCATION_TYPE_DEVICE;
    location.id = device == CU_DEVICE_CPU ? 0 : device;
    return location;
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
    CUDA_KERNEL_NODE_PARAMS now{};
    now.func = params->func;
    now.gridDimX = params->gridDimX, now.gridDimY = params->gridDimY, now.gridDimZ = params->gridDimZ;
    now.blockDimX = params->blockDimX, now.blockDimY = params->blockDimY, now.blockDimZ = params->blockDimZ;
    now.sharedMemBytes = params->sharedMemBytes;
    now.kernelParams = params->kernelParams;
    now.extra = params->extra;
    return cuGraphAddKernelNode_v2(node, graph, after, count, &now);
}

CUresult cgh_first_cuGraphAddNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after, std::size_t count,
                                  CUgraphNodeParams* params) {
    return cuGraphAddNode_v2(node, graph, after, nullptr, count, params);
}
