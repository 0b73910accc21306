# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from libc.stdint cimport uint64_t
from libcpp.vector cimport vector

from cuda_graphs.core.resources.handles cimport StreamHandle
from cuda_graphs.kernels.arrays.reading cimport Leaf, Reading
from cuda_graphs.kernels.call.capture_strategy cimport CaptureStrategy
from cuda_graphs.kernels.call.function cimport KernelFunction
from cuda_graphs.kernels.call.launch_strategy cimport LaunchStrategy
from cuda_graphs.kernels.specialisation.specialisation cimport Specialisation
from cuda_graphs.objects.device.stream cimport Stream
from .stack_sizing cimport StackSizer


# An array argument and its gradient.
cdef struct Operand:
    size_t leaf
    uint64_t size      # bytes of an element
    int ndim
    int structures     # number of the array of structures that it is a member of; 0 for none
    bint is_written    # True if the kernel writes the array
    uint64_t begin, end       # address range of the array in the current call
    uint64_t grad, grad_end   # address range of the gradient; 0 without a gradient


# The arrays of one specialisation, and the sizer of its stacks.
cdef class GradientOperands:
    cdef vector[Operand] operands
    cdef list paths          # paths of the operands
    cdef StackSizer sizer


# The memory of the stacks of one gradient.
cdef class StackMemory:
    cdef str name
    cdef KernelFunction sizing_kernel, counting_kernel
    cdef dict operands       # GradientOperands by Specialisation
    cdef object heaps        # memory of the stacks: by Stream, a dict of Buffers by device number
    cdef object capacity     # the user's `stack_room`, or None
    cdef object stats, lock

    # Returns the GradientOperands, and raises ValueError if arrays share memory in a way that makes the gradient wrong.
    cdef GradientOperands checked_operands(self, Specialisation code, const Leaf* leaves)
    # Writes the address, the capacity and the workers of each stack of a call to `words`.
    cdef int prepare(
        self, Specialisation code, Reading* r, Stream stream, const StreamHandle& handle, vector[uint64_t]& words
    ) except -1
    # Returns memory, capacity and workers of each stack of a graph.
    cdef list of_graph(self, Specialisation code, const Leaf* leaves, dict owners)
    cdef list fixed_capacities(self, Specialisation code, StackSizer sizer, const Leaf* leaves, dict owners)
    cdef object heap(self, uint64_t size, Stream stream, const StreamHandle& handle)
    cdef object allocate(self, object device, uint64_t size, uint64_t most, const StreamHandle& handle)
    cdef int forget(self) except -1


cdef class GradientLaunch(LaunchStrategy):
    cdef StackMemory stacks


cdef class GradientCapture(CaptureStrategy):
    cdef StackMemory stacks
