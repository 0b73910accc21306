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


# The fields of the arrays of NumPy 1 and 2 that the inline functions of NumPy's C API read (ndarraytypes.h:
# PyArrayObject_fields, PyArray_Descr). Extensions that were built with other versions of NumPy have these places too.
cdef struct NumpyType:
    PyObject head
    void* scalar
    char kind
    char letter
    char byteorder  # ">" for the order that this machine does not have
    char former_flags
    int number

cdef struct NumpyArray:
    PyObject head
    char* data
    int ndim
    const Py_ssize_t* shape
    const Py_ssize_t* strides  # bytes
    PyObject* base
    const NumpyType* type
    int flags

cdef enum:
    MOST_NUMPY_TYPES = 32  # above the type numbers of plain numbers
    kCContiguous = 0x1  # flags of a NumpyArray
    kWriteable = 0x400

# Returns the fields of a NumPy array of plain numbers. They are valid until the array changes, while the GIL is held.
# NULL for other objects, also those of derived classes, and for a NumPy whose arrays have other fields.
cdef const NumpyArray* numpy_fields(object array) except? NULL

# Return the typestr of the elements, and whether a program may not write them, for what numpy_fields returned.
cdef str typestr_of(const NumpyArray* array)
cdef bint is_read_only(const NumpyArray* array) noexcept
