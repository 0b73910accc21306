# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from libc.stddef cimport size_t

from cuda_graphs._driver.cuda cimport CUdeviceptr
from cuda_graphs._objects.buffer cimport Buffer


cdef class NDArray:
    cdef Buffer _buffer
    cdef CUdeviceptr _address
    cdef readonly object dtype
    cdef readonly tuple shape
    cdef readonly Py_ssize_t size
    cdef readonly object device
    cdef readonly NDArray grad
    cdef object __weakref__

    cdef int _wait(self) except -1
    cdef int _read(self, elements, size_t offset) except -1
    cdef int _write(self, elements, size_t offset) except -1
    cdef size_t _offset(self, index) except? 0xBAD
    cdef dict _interface(self)
