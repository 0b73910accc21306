# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Arrays and fields in the memory of others: the numbers of one type in an array of bytes, such as packed structures."""

from .ndarray cimport Field, NDArray, make_unallocated


cdef class PackedField(Field):
    """A field whose memory is that of another field of bytes."""

    cdef NDArray whole_grad

    cdef int _allocate(self, bint filled=True, bint in_capture=True) except -1:
        share(self, self._base, self.whole_grad)
        return 0


def packed_view(NDArray whole not None, dtype, NDArray whole_grad=None, bint needs_dual=False):
    """Return the bytes of an array, along its last axis, as elements of `dtype`.

    The gradient is in the bytes of `whole_grad`, and the dual in those of the dual of `whole`.
    """
    cdef NDArray self
    shape = (*whole.shape[:-1], whole.shape[-1] // dtype.size)
    cls = PackedField if isinstance(whole, Field) else NDArray
    self = make_unallocated(cls, dtype, (), shape, whole_grad is not None, needs_dual, whole._device)
    self._changes.version = 0
    if isinstance(whole, Field):
        self._base, (<PackedField>self).whole_grad = whole, whole_grad
    else:
        share(self, whole, whole_grad)
    return self


cdef int share(NDArray self, NDArray whole, NDArray whole_grad) except -1:
    """Give an array the memory of another one."""
    whole._expose()
    if whole_grad is not None:
        self._grad = packed_view(whole_grad, self.dtype)
        self._grad._ready()
    self._base, self._device, self._address, self._place = whole, whole._device, whole._address, whole._place
    self._buffer = whole._buffer
    return 0
