# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from libc.stdint cimport int32_t
from libcpp.vector cimport vector

from cuda_graphs.core.driver.cuda cimport CUdeviceptr
from cuda_graphs.core.graphs.graph_handles cimport ParameterType
from .buffer cimport Buffer


# Elements of one type in C order, without gaps.
cdef class TypedMemory:
    cdef Buffer _buffer  # memory of the elements; None before its allocation
    cdef CUdeviceptr _address
    cdef vector[int32_t] _extents   # number of elements along each dimension
    cdef ParameterType _type        # elements, and number of dimensions

    # Prepares to give the memory to other code, which may then change the elements.
    cdef int _expose(self) except -1
