# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from libc.stdint cimport uint64_t
from libcpp.vector cimport vector

from cuda_graphs.objects.device.stream cimport Stream
from cuda_graphs.kernels.call.function cimport KernelFunction
from cuda_graphs.kernels.arrays.reading cimport Leaf, Reading
from .stack_sizing cimport Rooms
from cuda_graphs.kernels.call.specialisation cimport Specialisation


# An array argument and its gradient.
cdef struct Operand:
    size_t leaf
    uint64_t size      # bytes of an element
    int ndim
    bint is_written    # True if the kernel writes the array
    uint64_t begin, end       # address range of the array in the current call
    uint64_t grad, grad_end   # address range of the gradient; 0 without a gradient


# The arrays and stack capacities of one specialisation.
cdef class Sizes:
    cdef vector[Operand] operands
    cdef list paths          # paths of the operands
    cdef Rooms rooms


cdef class GradientFunction(KernelFunction):
    cdef KernelFunction sizer, counter
    cdef dict sizes          # Sizes by Specialisation
    cdef object heaps        # memory of the stacks: by Stream, a dict of Buffers by device number
    cdef object room         # the user's `stack_room`, or None
    cdef readonly object stats

    cdef list _fixed_rooms(self, Specialisation code, const Leaf* leaves, dict owners)
    cdef Sizes _sizes(self, Specialisation code)
    cdef list _rooms(self, Specialisation code, Sizes sizes, Reading* r, tuple args, Stream stream)
    cdef object _heap(self, uint64_t size, Stream stream)
    cdef object _grown(self, object device, uint64_t size, uint64_t most, Stream stream)
