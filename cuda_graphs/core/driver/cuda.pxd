# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Cython declarations of <cuda.h> and of the driver table, as far as they are used. The header defines the values."""

cdef extern from "<cuda.h>" nogil:
    ctypedef enum CUresult:
        CUDA_SUCCESS
        CUDA_ERROR_INVALID_VALUE
        CUDA_ERROR_OUT_OF_MEMORY
        CUDA_ERROR_NOT_INITIALIZED
        CUDA_ERROR_INVALID_CONTEXT
        CUDA_ERROR_JIT_COMPILER_NOT_FOUND
        CUDA_ERROR_INVALID_HANDLE
        CUDA_ERROR_NOT_FOUND
        CUDA_ERROR_NOT_PERMITTED
        CUDA_ERROR_NOT_READY
        CUDA_ERROR_NOT_SUPPORTED
        CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
        CUDA_ERROR_STREAM_CAPTURE_INVALIDATED
        CUDA_ERROR_STREAM_CAPTURE_UNJOINED
        CUDA_ERROR_STREAM_CAPTURE_MERGE
        CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD
        CUDA_ERROR_ILLEGAL_STATE
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

    ctypedef size_t (*CUoccupancyB2DSize)(int block_size) noexcept nogil

    ctypedef struct CUipcMemHandle:
        char reserved[64]
    ctypedef struct CUuuid:
        char bytes[16]
    ctypedef enum CUdevice_attribute:
        CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR
        CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR
        CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH
        CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT
    ctypedef enum CUfunction_attribute:
        CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK
    ctypedef enum CUpointer_attribute:
        CU_POINTER_ATTRIBUTE_MEMORY_TYPE
        CU_POINTER_ATTRIBUTE_IS_MANAGED
        CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
    enum:
        CU_MEMORYTYPE_HOST
        CU_MEMORYTYPE_DEVICE
        CU_STREAM_DEFAULT
        CU_STREAM_NON_BLOCKING
        CU_EVENT_DISABLE_TIMING
    CUstream CU_STREAM_LEGACY
    CUstream CU_STREAM_PER_THREAD
    ctypedef enum CUgraphMem_attribute:
        CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT
        CU_GRAPH_MEM_ATTR_USED_MEM_HIGH
        CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT
        CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH
    ctypedef enum CUstreamCaptureStatus:
        CU_STREAM_CAPTURE_STATUS_NONE
        CU_STREAM_CAPTURE_STATUS_ACTIVE
        CU_STREAM_CAPTURE_STATUS_INVALIDATED
    ctypedef enum CUlaunchAttributeID:
        CU_LAUNCH_ATTRIBUTE_COOPERATIVE
        CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
        CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION
    ctypedef struct CUclusterDim "decltype(CUlaunchAttributeValue::clusterDim)":
        unsigned int x
        unsigned int y
        unsigned int z
    ctypedef union CUlaunchAttributeValue:
        CUclusterDim clusterDim
        int cooperative
        int programmaticStreamSerializationAllowed
        int priority
    ctypedef struct CUlaunchAttribute:
        CUlaunchAttributeID id
        CUlaunchAttributeValue value
    ctypedef struct CUlaunchConfig:
        unsigned int gridDimX
        unsigned int gridDimY
        unsigned int gridDimZ
        unsigned int blockDimX
        unsigned int blockDimY
        unsigned int blockDimZ
        unsigned int sharedMemBytes
        CUstream hStream
        CUlaunchAttribute* attrs
        unsigned int numAttrs

cdef extern from "table.hpp" namespace "cg" nogil:
    cppclass DriverTable:
        # Function pointers of the table, declared as methods: the call reads the same.
        CUresult cuGetErrorName(CUresult error, const char** text)
        CUresult cuGetErrorString(CUresult error, const char** text)
        CUresult cuDriverGetVersion(int* version)

        CUresult cuDeviceGet(CUdevice* device, int ordinal)
        CUresult cuDeviceGetCount(int* count)
        CUresult cuDeviceGetName(char* name, int size, CUdevice device)
        CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice device)
        CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device)
        CUresult cuDeviceGetPCIBusId(char* text, int size, CUdevice device)
        CUresult cuDeviceTotalMem(size_t* size, CUdevice device)
        CUresult cuDeviceCanAccessPeer(int* can, CUdevice device, CUdevice peer)
        CUresult cuCtxSetCurrent(CUcontext context)
        CUresult cuCtxSynchronize()
        CUresult cuCtxGetStreamPriorityRange(int* least, int* greatest)

        CUresult cuStreamSynchronize(CUstream stream)
        CUresult cuStreamQuery(CUstream stream)
        CUresult cuStreamGetFlags(CUstream stream, unsigned int* flags)
        CUresult cuStreamGetPriority(CUstream stream, int* priority)
        CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned int flags)
        CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus* status)
        CUresult cuStreamGetCaptureInfo(
            CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id, void* graph, void* dependencies, void* edges,
            size_t* count,
        )

        CUresult cuEventRecord(CUevent event, CUstream stream)
        CUresult cuEventQuery(CUevent event)
        CUresult cuEventSynchronize(CUevent event)
        CUresult cuEventElapsedTime(float* milliseconds, CUevent start, CUevent end)

        CUresult cuMemcpyHtoD(CUdeviceptr dst, const void* src, size_t size)
        CUresult cuMemcpyDtoH(void* dst, CUdeviceptr src, size_t size)
        CUresult cuMemcpyAsync(CUdeviceptr dst, CUdeviceptr src, size_t size, CUstream stream)
        CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream)
        CUresult cuDeviceGetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attribute, void* value)
        CUresult cuDeviceSetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attribute, void* value)
        CUresult cuDeviceGraphMemTrim(CUdevice device)
        CUresult cuMemsetD8Async(CUdeviceptr dst, unsigned char value, size_t count, CUstream stream)
        CUresult cuMemsetD16Async(CUdeviceptr dst, unsigned short value, size_t count, CUstream stream)
        CUresult cuMemsetD32Async(CUdeviceptr dst, unsigned int value, size_t count, CUstream stream)
        CUresult cuMemsetD2D8Async(
            CUdeviceptr dst, size_t pitch, unsigned char value, size_t width, size_t height, CUstream stream
        )
        CUresult cuMemsetD2D16Async(
            CUdeviceptr dst, size_t pitch, unsigned short value, size_t width, size_t height, CUstream stream
        )
        CUresult cuMemsetD2D32Async(
            CUdeviceptr dst, size_t pitch, unsigned int value, size_t width, size_t height, CUstream stream
        )
        CUresult cuMemcpyDtoHAsync(void* dst, CUdeviceptr source, size_t size, CUstream stream)
        CUresult cuPointerGetAttributes(
            unsigned int count, CUpointer_attribute* attributes, void** data, CUdeviceptr pointer
        )

        CUresult cuLibraryGetKernelCount(unsigned int* count, CUlibrary library)
        CUresult cuLibraryEnumerateKernels(CUkernel* kernels, unsigned int count, CUlibrary library)
        CUresult cuKernelGetAttribute(int* value, CUfunction_attribute attribute, CUkernel kernel, CUdevice device)
        CUresult cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel kernel, CUdevice device)
        CUresult cuKernelGetName(const char** name, CUkernel kernel)
        CUresult cuKernelGetParamInfo(CUkernel kernel, size_t index, size_t* offset, size_t* size)
        CUresult cuFuncGetAttribute(int* value, CUfunction_attribute attribute, CUfunction function)
        CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value)

        CUresult cuLaunchKernel(
            CUfunction function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,
            unsigned int block_x, unsigned int block_y, unsigned int block_z, unsigned int shared_bytes,
            CUstream stream, void** parameters, void** extra
        )
        CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function, void** parameters, void** extra)
        CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(
            int* blocks, CUfunction function, int block_size, size_t dynamic_shared_bytes
        )
        CUresult cuOccupancyMaxPotentialBlockSize(
            int* min_grid_size, int* block_size, CUfunction function, CUoccupancyB2DSize shared_bytes_of,
            size_t dynamic_shared_bytes, int block_size_limit
        )
        CUresult cuOccupancyAvailableDynamicSMemPerBlock(
            size_t* bytes, CUfunction function, int blocks, int block_size
        )
        CUresult cuOccupancyMaxPotentialClusterSize(int* size, CUfunction function, const CUlaunchConfig* config)
        CUresult cuOccupancyMaxActiveClusters(int* clusters, CUfunction function, const CUlaunchConfig* config)

    const DriverTable& driver() noexcept
    bint driver_is_loaded() noexcept
    bint is_forked_child() noexcept
    void* driver_symbol(const char* name) noexcept
