# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from libc.stddef cimport size_t
from libc.stdint cimport int32_t, uint64_t, uintptr_t
from libcpp.vector cimport vector

from cuda_graphs._driver.cuda cimport CUdeviceptr, CUstream
from cuda_graphs._objects.buffer cimport Buffer


# What is known of changes of the elements of an array.
#
# version  another one after each change, and never that of another array; 0: others have the memory, and may change it
# writer   the stream on which it changes, as writer_of has it; 0: it has changed
cdef struct Changes:
    uint64_t version
    uintptr_t writer


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
    cdef Changes _changes

    cdef NDArray _dual_or_none(self)
    cdef int _ready(self) except -1
    cdef int _expose(self) except -1
    cdef int _allocate(self) except -1
    cdef int _wait(self) except -1
    cdef int _read(self, elements, size_t offset) except -1
    cdef int _write(self, elements, size_t offset) except -1
    cdef size_t _offset(self, index) except? 0xBAD
    cdef dict _interface(self)


cdef class Field(NDArray):
    pass


# The elements have changed, or will where `writer` is. NULL: of no array of ours.
cdef void note_change(Changes* changes, uintptr_t writer) noexcept

cdef uintptr_t writer_of(CUstream stream) noexcept

# What tells array types of kernels apart: element type, number of dimensions, gradients, and the shape of an element.
cdef uint64_t key_of(object dtype, Py_ssize_t ndim, bint needs_grad, tuple inner=*, bint needs_dual=*) except? 0

# An array of memory that exists.
cdef NDArray of_buffer(Buffer buffer, object dtype, tuple inner, tuple shape, object device)
