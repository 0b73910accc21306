# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from libc.stddef cimport size_t

from cuda_graphs._driver.cuda cimport CUdeviceptr
from cuda_graphs._handles.handles cimport Opaque


cdef class ArrayView:
    cdef readonly CUdeviceptr address  # of the element with index 0 in every dimension
    cdef readonly size_t itemsize
    cdef readonly str dtype  # as in __array_interface__: "<f4"; "" where NumPy has no such type
    cdef readonly bint is_bfloat16  # which DLPack has a code for, and NumPy no type
    cdef readonly tuple shape
    cdef readonly tuple strides  # bytes
    cdef readonly bint is_read_only
    cdef Opaque owner  # keeps the memory


# The memory behind an array, None for an object that is no array. `name` is that of the argument, for messages.
cpdef ArrayView view_array(object array, str name)
