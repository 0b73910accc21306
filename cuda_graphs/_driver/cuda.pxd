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
