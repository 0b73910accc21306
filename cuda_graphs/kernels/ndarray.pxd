# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from libc.stddef cimport size_t
from libc.stdint cimport int32_t, uint64_t
from libcpp.vector cimport vector

from cuda_graphs._driver.cuda cimport CUdeviceptr
from cuda_graphs._objects.buffer cimport Buffer


cdef class NDArray:
    cdef Buffer _buffer  # None: a Field that nobody has used
    cdef CUdeviceptr _address
    cdef readonly object dtype
    cdef readonly tuple shape, element_shape
    cdef readonly Py_ssize_t size
    cdef Py_ssize_t _itemsize
    cdef object _device  # what was asked for, until there is memory
    cdef NDArray _grad, _dual
    cdef bint _needs_grad, _needs_dual
    cdef uint64_t _key  # of its type, as in arguments.pxd
    cdef vector[int32_t] _extents  # shape, as kernels take it
    cdef object __weakref__
    cdef str _name  # of a Field in code

    cdef NDArray _dual_or_none(self)
    cdef int _ready(self) except -1
    cdef int _allocate(self) except -1
    cdef int _wait(self) except -1
    cdef int _read(self, elements, size_t offset) except -1
    cdef int _write(self, elements, size_t offset) except -1
    cdef size_t _offset(self, index) except? 0xBAD
    cdef dict _interface(self)


cdef class Field(NDArray):
    pass


# What tells array types of kernels apart: element type, number of dimensions, gradients, and the shape of an element.
cdef uint64_t key_of(object dtype, Py_ssize_t ndim, bint needs_grad, tuple inner=*, bint needs_dual=*) except? 0

# An array of memory that exists.
cdef NDArray of_buffer(Buffer buffer, object dtype, tuple inner, tuple shape, object device)
