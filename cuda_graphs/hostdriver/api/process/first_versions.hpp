// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Declares the first versions of functions. The C++ name belongs to this project. The symbol is that of the driver
// function, because cuda.h gives the function's name to today's version.
#ifndef CUDA_GRAPHS_HOSTDRIVER_API_PROCESS_FIRST_VERSIONS_HPP
#define CUDA_GRAPHS_HOSTDRIVER_API_PROCESS_FIRST_VERSIONS_HPP

#include <cuda.h>

#include <cstddef>

#include "hostdriver/entry.hpp"

#define FIRST(name, ...) CGH_API CUresult cgh_first_##name(__VA_ARGS__) __asm__(#name)

FIRST(cuGetProcAddress, const char*, void**, int, cuuint64_t);
FIRST(cuEventDestroy, CUevent);
FIRST(cuEventElapsedTime, float*, CUevent, CUevent);
FIRST(cuMemAdvise, CUdeviceptr, std::size_t, CUmem_advise, CUdevice);
FIRST(cuMemPrefetchAsync, CUdeviceptr, std::size_t, CUdevice, CUstream);
FIRST(cuGraphInstantiate, CUgraphExec*, CUgraph, CUgraphNode*, char*, std::size_t);
FIRST(cuGraphAddKernelNode, CUgraphNode*, CUgraph, const CUgraphNode*, std::size_t, const CUDA_KERNEL_NODE_PARAMS_v1*);
FIRST(cuGraphAddNode, CUgraphNode*, CUgraph, const CUgraphNode*, std::size_t, CUgraphNodeParams*);
FIRST(cuCtxCreate, CUcontext*, unsigned, CUdevice);
FIRST(cuCtxDestroy, CUcontext);
FIRST(cuCtxPopCurrent, CUcontext*);
FIRST(cuCtxPushCurrent, CUcontext);
FIRST(cuDeviceGetUuid, CUuuid*, CUdevice);
FIRST(cuDevicePrimaryCtxRelease, CUdevice);
FIRST(cuDevicePrimaryCtxReset, CUdevice);
FIRST(cuDevicePrimaryCtxSetFlags, CUdevice, unsigned);
FIRST(cuMemAllocHost, void**, unsigned);
FIRST(cuMemHostRegister, void*, std::size_t, unsigned);
FIRST(cuIpcOpenMemHandle, CUdeviceptr*, CUipcMemHandle, unsigned);
FIRST(cuStreamDestroy, CUstream);
FIRST(cuLinkCreate, unsigned, CUjit_option*, void**, CUlinkState*);
FIRST(cuLinkAddData, CUlinkState, CUjitInputType, void*, std::size_t, const char*, unsigned, CUjit_option*, void**);
FIRST(cuLinkAddFile, CUlinkState, CUjitInputType, const char*, unsigned, CUjit_option*, void**);
FIRST(cuMemcpyBatchAsync, CUdeviceptr*, CUdeviceptr*, std::size_t*, std::size_t, CUmemcpyAttributes*, std::size_t*,
      std::size_t, std::size_t*, CUstream);
FIRST(cuMemcpy3DBatchAsync, std::size_t, CUDA_MEMCPY3D_BATCH_OP*, std::size_t*, unsigned long long, CUstream);
FIRST(cuStreamBeginCapture, CUstream);
FIRST(cuStreamGetCaptureInfo, CUstream, CUstreamCaptureStatus*, cuuint64_t*);
FIRST(cuStreamUpdateCaptureDependencies, CUstream, CUgraphNode*, std::size_t, unsigned);
FIRST(cuGraphGetEdges, CUgraph, CUgraphNode*, CUgraphNode*, std::size_t*);
FIRST(cuGraphNodeGetDependencies, CUgraphNode, CUgraphNode*, std::size_t*);
FIRST(cuGraphNodeGetDependentNodes, CUgraphNode, CUgraphNode*, std::size_t*);
FIRST(cuGraphAddDependencies, CUgraph, const CUgraphNode*, const CUgraphNode*, std::size_t);
FIRST(cuGraphRemoveDependencies, CUgraph, const CUgraphNode*, const CUgraphNode*, std::size_t);
FIRST(cuGraphKernelNodeGetParams, CUgraphNode, CUDA_KERNEL_NODE_PARAMS_v1*);
FIRST(cuGraphKernelNodeSetParams, CUgraphNode, const CUDA_KERNEL_NODE_PARAMS_v1*);
FIRST(cuGraphExecKernelNodeSetParams, CUgraphExec, CUgraphNode, const CUDA_KERNEL_NODE_PARAMS_v1*);
FIRST(cuGraphExecUpdate, CUgraphExec, CUgraph, CUgraphNode*, CUgraphExecUpdateResult*);

#undef FIRST

// Second versions that cuda.h no longer declares, because later versions exist.
CGH_API CUresult cuCtxCreate_v2(CUcontext*, unsigned, CUdevice);
CGH_API CUresult cuStreamGetCaptureInfo_v2(CUstream, CUstreamCaptureStatus*, cuuint64_t*, CUgraph*, const CUgraphNode**,
                                           std::size_t*);

#endif
