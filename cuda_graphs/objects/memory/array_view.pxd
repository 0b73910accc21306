# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from cpython.object cimport PyObject
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


# The target of `__array_struct__` of an array: PyArrayInterface in NumPy's "The array interface protocol".
cdef struct ArrayStruct:
    int two  # the number 2
    int nd
    char typekind
    int itemsize
    int flags
    Py_ssize_t* shape    # `nd` extents
    Py_ssize_t* strides  # the same of bytes
    void* data
    PyObject* descr

cdef enum:
    kCContiguous = 0x1  # flags of an ArrayStruct
    kNotSwapped = 0x200
    kWriteable = 0x400

# Returns the capsule that keeps the struct of a NumPy array, and the array; None for other objects, also those of derived
# classes.
cdef object struct_of_numpy(object array, const ArrayStruct** found)

# Returns the typestr of the elements of a struct; None for elements that are not plain numbers.
cdef str typestr_of(const ArrayStruct* found)

# Returns the memory that a struct describes. `owner` keeps it.
cdef ArrayView view_of_struct(const ArrayStruct* found, object owner)
