# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from libc.stdint cimport int32_t, uint64_t

from cuda_graphs.core.driver.cuda cimport CUdeviceptr
from cuda_graphs.core.resources.handles cimport StreamHandle
from cuda_graphs.objects.device.stream cimport Stream
from cuda_graphs.objects.memory.array_view cimport ArrayView
from cuda_graphs.objects.memory.buffer cimport Buffer
from .reading cimport Reading


cdef enum:
    MOST_AXES = 64  # NumPy's limit


# An argument that is an array of another library.
cdef class ForeignArray:
    cdef readonly object array, dtype
    cdef readonly str path
    cdef ForeignArray next        # of the call; None for the last one
    cdef Py_ssize_t leaf
    cdef uint64_t key
    cdef CUdeviceptr address      # address that the kernel uses
    cdef Py_ssize_t ndim
    cdef int32_t[MOST_AXES] extents
    cdef bint is_of_host          # memory of the host: the program reads it without synchronising a stream
    cdef bint is_of_graph         # memory of an alloc node
    cdef bint is_read_only
    cdef readonly bint needs_grad  # True for a PyTorch tensor with requires_grad
    cdef bint is_packed           # True for C order without gaps
    cdef bint is_written          # True if the kernel writes it, through any parameter with this array
    cdef ArrayView view           # the memory that the array exposes, and its owner; None before `memory_view` is called
    cdef object memory            # NumPy view of that memory; None if the kernel uses the memory in place
    cdef object packed            # `memory`, or a copy without gaps
    cdef Buffer staged            # device memory with a copy of `packed`; None if the device can access `packed`

    # Returns the memory that the array exposes, and its owner.
    cdef ArrayView memory_view(self)

    # Returns the device of the memory; kNoDevice for memory of the host, and on machines with one device.
    cdef int device(self) except -2


# The arrays of other libraries in one call.
cdef class ForeignArrays:
    cdef ForeignArray first, last  # a chain; None without arrays

    cdef ForeignArray add(self, object array, str path, Py_ssize_t leaf, tuple inner)

    # Makes the arrays after `before` views of one array, which is copied as a whole; None stands before the first array.
    cdef int unite(self, ForeignArray before, object array) except -1

    # Copies the arrays that the device cannot access to the device. `writes` holds the paths that the kernel writes.
    cdef int stage(self, const StreamHandle& stream, object writes, Reading* r) except -1

    # Copies the arrays that the kernel wrote back to the host, and waits for the stream if an array is on the host. Errors
    # name `stream`, whose handle is `handle`.
    cdef int copy_back(self, Stream stream, const StreamHandle& handle) except -1

    # Raises ValueError if an array needs a copy: a graph cannot copy arguments in each launch.
    cdef int check_in_place(self, object writes) except -1


# Returns the elements of the host array at a leaf as a NumPy array; None if the leaf has no host array.
cdef object host_values(ForeignArrays foreign, Py_ssize_t leaf)
