# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from libc.stdint cimport uint64_t
from libcpp.vector cimport vector

from cuda_graphs._objects.stream cimport Stream
from cuda_graphs.kernels.function cimport KernelFunction
from cuda_graphs.kernels.reading cimport Leaf, Reading
from cuda_graphs.kernels.rooms cimport Rooms
from cuda_graphs.kernels.specialisation cimport Specialisation


# An array that comes with a call, and the gradient that comes with it.
cdef struct Operand:
    size_t leaf
    uint64_t size      # bytes of an element
    int ndim
    bint is_written    # by the kernel
    uint64_t begin, end
    uint64_t grad, grad_end


# What is known of one specialisation.
cdef class Sizes:
    cdef vector[Operand] operands
    cdef list paths          # of the operands
    cdef Rooms rooms


cdef class GradientFunction(KernelFunction):
    cdef KernelFunction sizer, counter
    cdef dict sizes          # Sizes by Specialisation
    cdef object heaps        # dicts of Buffers by the number of the device, by Stream
    cdef object room
    cdef readonly object stats

    cdef list _fixed_rooms(self, Specialisation code, const Leaf* leaves, dict owners)
    cdef Sizes _sizes(self, Specialisation code)
    cdef list _rooms(self, Specialisation code, Sizes sizes, Reading* r, tuple args, Stream stream)
    cdef object _heap(self, uint64_t size, Stream stream)
    cdef object _grown(self, object device, uint64_t size, uint64_t most, Stream stream)
