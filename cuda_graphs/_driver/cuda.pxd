# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""What Cython needs to see of <cuda.h> and of the driver table. Grows with its users; the values come from the header."""

cdef extern from "<cuda.h>" nogil:
    ctypedef enum CUresult:
        CUDA_SUCCESS
        CUDA_ERROR_INVALID_VALUE
        CUDA_ERROR_OUT_OF_MEMORY
        CUDA_ERROR_NOT_INITIALIZED
        CUDA_ERROR_INVALID_CONTEXT
        CUDA_ERROR_JIT_COMPILER_NOT_FOUND
        CUDA_ERROR_INVALID_HANDLE
        CUDA_ERROR_NOT_READY
        CUDA_ERROR_NOT_SUPPORTED
        CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE
        CUDA_ERROR_UNKNOWN

    ctypedef int CUdevice
    ctypedef unsigned long long CUdeviceptr
    ctypedef unsigned long long cuuint64_t
    cppclass CUctx_st:
        pass
    cppclass CUstream_st:
        pass
    cppclass CUevent_st:
        pass
    cppclass CUmemPoolHandle_st:
        pass
    cppclass CUlib_st:
        pass
    cppclass CUkern_st:
        pass
    cppclass CUfunc_st:
        pass
    cppclass CUgraph_st:
        pass
    cppclass CUgraphNode_st:
        pass
    cppclass CUgraphExec_st:
        pass
    cppclass CUuserObject_st:
        pass
    ctypedef CUctx_st* CUcontext
    ctypedef CUstream_st* CUstream
    ctypedef CUevent_st* CUevent
    ctypedef CUmemPoolHandle_st* CUmemoryPool
    ctypedef CUlib_st* CUlibrary
    ctypedef CUkern_st* CUkernel
    ctypedef CUfunc_st* CUfunction
    ctypedef CUgraph_st* CUgraph
    ctypedef CUgraphNode_st* CUgraphNode
    ctypedef CUgraphExec_st* CUgraphExec
    ctypedef CUuserObject_st* CUuserObject

cdef extern from "_driver/table.hpp" namespace "cg" nogil:
    cppclass DriverTable:
        # Function pointers of the table, declared as methods: the call reads the same.
        CUresult cuGetErrorName(CUresult error, const char** text)
        CUresult cuGetErrorString(CUresult error, const char** text)
        CUresult cuDriverGetVersion(int* version)

    const DriverTable& driver() noexcept
    bint driver_is_loaded() noexcept
    bint driver_has(const char* name) noexcept
    void* driver_symbol(const char* name) noexcept
