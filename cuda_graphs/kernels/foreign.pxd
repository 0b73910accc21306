# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from libc.stdint cimport int32_t, uint64_t
from libcpp.vector cimport vector

from cuda_graphs._driver.cuda cimport CUdeviceptr
from cuda_graphs._objects.array_view cimport ArrayView
from cuda_graphs._objects.buffer cimport Buffer
from cuda_graphs._objects.stream cimport Stream
from cuda_graphs.kernels.reading cimport Reading


# An array of another library as an argument.
cdef class ForeignArray:
    cdef readonly object array, dtype
    cdef readonly tuple shape
    cdef readonly str path
    cdef Py_ssize_t leaf
    cdef uint64_t key
    cdef CUdeviceptr address      # what the kernel gets
    cdef vector[int32_t] extents
    cdef bint is_of_host          # whoever has it looks at it without asking a stream
    cdef bint is_read_only
    cdef readonly bint needs_grad  # a tensor of PyTorch that wants one
    cdef bint is_packed           # in C order without gaps
    cdef bint is_written          # by the kernel, through this parameter or another that was given the same array
    cdef ArrayView view           # what the array showed, and what keeps that
    cdef object memory            # that as an array of NumPy; None where the kernel uses it where it is
    cdef object packed            # itself, or a copy without gaps
    cdef Buffer staged            # memory of the device with a copy of `packed`; None where the device reaches that


# All of one call.
cdef class Foreign:
    cdef list arrays

    cdef ForeignArray add(self, object array, str path, Py_ssize_t leaf, tuple inner)

    # Brings to the device what it does not reach. `writes` are the paths that the kernel writes.
    cdef int bring(self, Stream stream, object writes, Reading* r) except -1

    # Brings back what the kernel wrote, and waits for it, where that is needed.
    cdef int finish(self, Stream stream) except -1

    # ValueError if something had to be copied: work that comes later, and again, cannot.
    cdef int check_stays(self, object writes) except -1


# The elements of an array of the host, as an array of NumPy; None: the argument of that leaf is another one.
cdef object host_values(Foreign staff, Py_ssize_t leaf)
