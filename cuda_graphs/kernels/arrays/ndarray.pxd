# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from libc.stddef cimport size_t
from libc.stdint cimport uint64_t, uintptr_t

from cuda_graphs.core.driver.cuda cimport CUstream
from cuda_graphs.objects.device.stream cimport Stream
from cuda_graphs.objects.memory.buffer cimport Buffer
from .without_operators cimport WithoutOperators


# The last change of the elements of an array.
#
# version  number of the last change, unique among all arrays; 0 if other code has access to the memory
# writer   stream of the last change, as a value of writer_of; 0 if the change is complete
cdef struct Changes:
    uint64_t version
    uintptr_t writer


# The Buffer of a Field is None before its first use. It contains the elements, at `_address`.
cdef class NDArray(WithoutOperators):
    cdef readonly object dtype
    cdef readonly tuple shape, element_shape
    cdef readonly Py_ssize_t size
    cdef Py_ssize_t _itemsize
    cdef object _base  # NDArray or Buffer with the memory of a view; None for other arrays
    cdef object _device  # Device of the memory; before the allocation, the requested Device or None
    cdef int _place  # number of this device; kNoDevice for pinned memory, and before the allocation
    cdef NDArray _grad, _dual
    cdef bint _needs_grad, _needs_dual
    cdef uint64_t _key  # key of the array type, from key_of
    cdef object __weakref__
    cdef str _name  # name of a Field in code
    cdef tuple _offset  # first index of each dimension, of a Field with `offset` and of its partners; None: zeros
    cdef Changes _changes

    cdef NDArray _dual_or_none(self)
    cdef NDArray _forced_dual(self)
    cdef int _ready(self) except -1
    cdef int _open(self) except -1
    cdef Buffer _memory(self)
    cdef NDArray _part(self, Py_ssize_t offset, tuple shape, object dtype)
    cdef int _allocate(self, bint filled=*, bint in_capture=*) except -1
    cdef Buffer _new_buffer(self, object device, bint filled, bint in_capture)
    cdef int _copy_from(self, NDArray other) except -1
    cdef int _begin_change(self, Stream stream) except -1
    cdef int _end_change(self, Stream stream, tuple operands) except -1
    cdef int _wait(self, object timeout=*) except -1
    cdef int _read(self, elements, size_t offset) except -1
    cdef int _write(self, elements, size_t offset) except -1
    cdef object _select(self, index)
    cdef str _few_values(self)
    cdef dict _interface(self)


cdef class Field(NDArray):
    pass


# Gives `changes` a new version: the elements have changed (`writer` 0), or will change on the stream `writer`. NULL is
# the array of another library, and is ignored.
cdef void note_change(Changes* changes, uintptr_t writer) noexcept

# Returns the nonzero `writer` value of a stream.
cdef uintptr_t writer_of(CUstream stream) noexcept

# Returns the key of an array type: element type, number of dimensions, gradients, and the shape of an element.
cdef uint64_t key_of(object dtype, Py_ssize_t ndim, bint needs_grad, tuple inner=*, bint needs_dual=*) except? 0

# Returns the text of the error for an array whose Buffer is closed.
cdef str closed_text(NDArray self)

# Returns an array or field without memory, of the class `cls`, whose elements have the shape `inner`.
cdef NDArray make_unallocated(
    object cls, object dtype, tuple inner, tuple shape, bint needs_grad, bint needs_dual, object device)
