# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from libc.stddef cimport size_t

from cuda_graphs.core.driver.cuda cimport CUdeviceptr
from cuda_graphs.core.resources.handles cimport Opaque


cdef class ArrayView:
    cdef readonly CUdeviceptr address  # address of the element with index 0 in every dimension
    cdef readonly size_t itemsize
    cdef readonly str dtype  # typestr of __array_interface__, "<f4"; "" when NumPy has no such type
    cdef readonly bint is_bfloat16  # bfloat16 has a DLPack code, but no NumPy type
    cdef readonly tuple shape
    cdef readonly tuple strides  # bytes
    cdef readonly bint is_read_only
    cdef readonly object node  # the AllocNode of memory that exists only while its graph runs; None for other memory
    cdef Opaque owner  # keeps the memory alive, or the range of an alloc node known


# Returns the message that refuses to read or export memory of an alloc node, which `what` names.
cpdef str graph_memory_error(str what)

# Returns the strides, in bytes, of an array in C order without gaps.
cpdef tuple packed_strides(tuple shape, size_t itemsize)

# Returns the memory of an array, or None when the object is not an array. `name` names the argument in messages.
cpdef ArrayView view_array(object array, str name)

# Returns the memory of a NumPy array of plain numbers; None for other objects, also those of derived classes.
cdef ArrayView view_numpy(object array)
