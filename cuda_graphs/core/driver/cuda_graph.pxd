# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Cython declarations of <cuda.h> and of the driver table for graphs."""

from libc.stddef cimport size_t

from .cuda cimport (
    CUcontext,
    CUdevice,
    CUdeviceptr,
    CUevent,
    CUfunction,
    CUgraph,
    CUgraphExec,
    CUgraphNode,
    CUkernel,
    CUresult,
    CUstream,
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

    ctypedef struct CUgraphEdgeData:
        unsigned char from_port
        unsigned char to_port
        unsigned char type

    ctypedef struct CUDA_KERNEL_NODE_PARAMS_v3:
        CUfunction func
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

    ctypedef struct CUDA_MEMSET_NODE_PARAMS_v2:
        CUdeviceptr dst
        size_t pitch
        unsigned int value
        unsigned int elementSize
        size_t width
        size_t height
        CUcontext ctx

    ctypedef struct CUDA_MEMCPY3D:
        size_t srcXInBytes
        size_t srcY
        size_t srcZ
        CUmemorytype srcMemoryType
        size_t srcPitch
        size_t srcHeight
        size_t dstXInBytes
        size_t dstY
        size_t dstZ
        CUmemorytype dstMemoryType
        size_t dstPitch
        size_t dstHeight
        size_t WidthInBytes
        size_t Height
        size_t Depth

    ctypedef struct CUDA_MEMCPY_NODE_PARAMS:
        CUcontext copyCtx
        CUDA_MEMCPY3D copyParams

    ctypedef struct CUDA_HOST_NODE_PARAMS_v2:
        CUhostFn fn
        void* userData

    ctypedef struct CUDA_CHILD_GRAPH_NODE_PARAMS:
        CUgraph graph

    ctypedef struct CUDA_EVENT_RECORD_NODE_PARAMS:
        CUevent event

    ctypedef struct CUDA_EVENT_WAIT_NODE_PARAMS:
        CUevent event

    ctypedef struct CUmemLocation:
        int id

    ctypedef struct CUmemPoolProps:
        CUmemLocation location

    ctypedef struct CUmemAccessDesc:
        CUmemLocation location

    ctypedef struct CUDA_MEM_ALLOC_NODE_PARAMS_v2:
        CUmemPoolProps poolProps
        const CUmemAccessDesc* accessDescs
        size_t accessDescCount
        size_t bytesize
        CUdeviceptr dptr

    ctypedef struct CUDA_MEM_FREE_NODE_PARAMS:
        CUdeviceptr dptr

    ctypedef struct CUDA_CONDITIONAL_NODE_PARAMS:
        CUgraphConditionalHandle handle
        CUgraphConditionalNodeType type
        unsigned int size
        CUgraph* phGraph_out
        CUcontext ctx

    # A union: the member of the node's type is valid.
    ctypedef struct CUgraphNodeParams:
        CUgraphNodeType type
        CUDA_KERNEL_NODE_PARAMS_v3 kernel
        CUDA_MEMCPY_NODE_PARAMS memcpy
        CUDA_MEMSET_NODE_PARAMS_v2 memset
        CUDA_HOST_NODE_PARAMS_v2 host
        CUDA_CHILD_GRAPH_NODE_PARAMS graph
        CUDA_EVENT_WAIT_NODE_PARAMS eventWait
        CUDA_EVENT_RECORD_NODE_PARAMS eventRecord
        CUDA_MEM_ALLOC_NODE_PARAMS_v2 alloc
        CUDA_MEM_FREE_NODE_PARAMS free
        CUDA_CONDITIONAL_NODE_PARAMS conditional

    ctypedef enum CUgraphExecUpdateResult:
        pass

    ctypedef struct CUgraphExecUpdateResultInfo:
        CUgraphExecUpdateResult result
        CUgraphNode errorNode
        CUgraphNode errorFromNode

    ctypedef struct CUDA_GRAPH_INSTANTIATE_PARAMS:
        cuuint64_t flags
        CUstream hUploadStream
        CUgraphNode hErrNode_out
        CUgraphInstantiateResult result_out

cdef extern from "table.hpp" namespace "cg" nogil:
    cppclass GraphDriver "cg::DriverTable":
        CUresult cuCtxGetCurrent(CUcontext* context)
        CUresult cuGraphExecNodeSetParams(CUgraphExec graph, CUgraphNode node, CUgraphNodeParams* params)
        CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void* data)
        CUresult cuCtxGetDevice(CUdevice* device)
        CUresult cuGraphNodeGetType(CUgraphNode node, CUgraphNodeType* type)
        CUresult cuGraphConditionalHandleCreate(
            CUgraphConditionalHandle* handle, CUgraph graph, CUcontext context, unsigned int default_value,
            unsigned int flags)
        CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode* nodes, size_t* count)
        CUresult cuGraphDebugDotPrint(CUgraph graph, const char* path, unsigned int flags)

    const GraphDriver& graph_driver "cg::driver"() noexcept
