# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""What Cython needs to see of <cuda.h> and of the driver table for graphs."""

from libc.stddef cimport size_t

from cuda_graphs._driver.cuda cimport (
    CUcontext, CUdevice, CUdeviceptr, CUevent, CUgraph, CUgraphExec, CUgraphNode, CUkernel, CUresult, CUstream,
    cuuint64_t,
)

cdef extern from "<cuda.h>" nogil:
    ctypedef unsigned long long CUgraphConditionalHandle

    ctypedef enum CUgraphNodeType:
        pass

    ctypedef enum CUgraphConditionalNodeType:
        CU_GRAPH_COND_TYPE_IF
        CU_GRAPH_COND_TYPE_WHILE
        CU_GRAPH_COND_TYPE_SWITCH

    ctypedef enum CUmemorytype:
        CU_MEMORYTYPE_HOST
        CU_MEMORYTYPE_DEVICE
        CU_MEMORYTYPE_UNIFIED

    ctypedef enum CUgraphInstantiateResult:
        CUDA_GRAPH_INSTANTIATE_SUCCESS

    cdef enum:
        CU_GRAPH_COND_ASSIGN_DEFAULT
        CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH
        CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD
        CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH
        CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY

    ctypedef void (*CUhostFn)(void* data) noexcept nogil

    ctypedef struct CUDA_KERNEL_NODE_PARAMS:
        unsigned int gridDimX
        unsigned int gridDimY
        unsigned int gridDimZ
        unsigned int blockDimX
        unsigned int blockDimY
        unsigned int blockDimZ
        unsigned int sharedMemBytes
        void** kernelParams
        void** extra
        CUkernel kern
        CUcontext ctx

    ctypedef struct CUDA_MEMSET_NODE_PARAMS:
        CUdeviceptr dst
        size_t pitch
        unsigned int value
        unsigned int elementSize
        size_t width
        size_t height

    ctypedef struct CUDA_HOST_NODE_PARAMS:
        CUhostFn fn
        void* userData

    ctypedef struct CUDA_GRAPH_INSTANTIATE_PARAMS:
        cuuint64_t flags
        CUstream hUploadStream
        CUgraphNode hErrNode_out
        CUgraphInstantiateResult result_out

cdef extern from "_driver/table.hpp" namespace "cg" nogil:
    cppclass GraphDriver "cg::DriverTable":
        CUresult cuCtxGetCurrent(CUcontext* context)
        CUresult cuCtxGetDevice(CUdevice* device)
        CUresult cuGraphNodeGetType(CUgraphNode node, CUgraphNodeType* type)
        CUresult cuGraphAddEmptyNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after, size_t count)
        CUresult cuGraphKernelNodeGetParams(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS* params)
        CUresult cuGraphAddMemFreeNode(
            CUgraphNode* node, CUgraph graph, const CUgraphNode* after, size_t count, CUdeviceptr address)
        CUresult cuGraphMemFreeNodeGetParams(CUgraphNode node, CUdeviceptr* address)
        CUresult cuGraphAddMemsetNode(
            CUgraphNode* node, CUgraph graph, const CUgraphNode* after, size_t count,
            const CUDA_MEMSET_NODE_PARAMS* params, CUcontext context)
        CUresult cuGraphMemsetNodeGetParams(CUgraphNode node, CUDA_MEMSET_NODE_PARAMS* params)
        CUresult cuGraphAddHostNode(
            CUgraphNode* node, CUgraph graph, const CUgraphNode* after, size_t count,
            const CUDA_HOST_NODE_PARAMS* params)
        CUresult cuGraphHostNodeGetParams(CUgraphNode node, CUDA_HOST_NODE_PARAMS* params)
        CUresult cuGraphAddChildGraphNode(
            CUgraphNode* node, CUgraph graph, const CUgraphNode* after, size_t count, CUgraph child)
        CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode node, CUgraph* child)
        CUresult cuGraphAddEventRecordNode(
            CUgraphNode* node, CUgraph graph, const CUgraphNode* after, size_t count, CUevent event)
        CUresult cuGraphEventRecordNodeGetEvent(CUgraphNode node, CUevent* event)
        CUresult cuGraphAddEventWaitNode(
            CUgraphNode* node, CUgraph graph, const CUgraphNode* after, size_t count, CUevent event)
        CUresult cuGraphEventWaitNodeGetEvent(CUgraphNode node, CUevent* event)
        CUresult cuGraphConditionalHandleCreate(
            CUgraphConditionalHandle* handle, CUgraph graph, CUcontext context, unsigned int default_value,
            unsigned int flags)
        CUresult cuGraphDebugDotPrint(CUgraph graph, const char* path, unsigned int flags)

    const GraphDriver& graph_driver "cg::driver"() noexcept
