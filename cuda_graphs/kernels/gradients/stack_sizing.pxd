# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from cuda_graphs.core.resources.handles cimport StreamHandle
from cuda_graphs.kernels.arrays.foreign cimport ForeignArrays
from cuda_graphs.kernels.call.function cimport KernelFunction
from cuda_graphs.kernels.arrays.reading cimport Leaf
from cuda_graphs.kernels.specialisation.specialisation cimport Specialisation


# The values that the host can read for the size expressions of one call.
cdef class SizeInputs:
    cdef const Leaf* leaves
    cdef Specialisation code
    cdef ForeignArrays foreign  # arrays of other libraries, or None
    cdef StreamHandle stream  # empty for nodes of a graph, whose sizes need no stream
    cdef StackSizer sizer
    cdef dict values         # contents of fields and host arrays, by path
    cdef dict fresh          # set of the indices used in each field that this call has read back, by path

    cdef object array_of(self, str path)


# Computes the capacity of each stack of one specialisation, for each call.
cdef class StackSizer:
    cdef KernelFunction sizing_kernel, counting_kernel
    cdef object stats
    cdef list expressions    # size expression of each stack, or None
    cdef list sized          # numbers of the stacks in the result of the sizing kernel
    cdef list numbers        # extents and scalars in the expressions
    cdef list arrays         # paths of the arrays that the expressions read
    cdef object counted      # slots of the counting kernel; None before its first launch
    cdef dict fields         # (version, contents) of each field that was read back, by path
    cdef tuple last          # (state, state of counting or None, capacities) of the last call

    # Returns the capacity of each stack, at least 1.
    cdef list of_call(self, SizeInputs inputs, tuple args)
    cdef list from_expressions(self, SizeInputs inputs, tuple args)
    cdef list on_device(self, KernelFunction kernel, SizeInputs inputs, tuple args)
    cdef tuple state(self, SizeInputs inputs)
    cdef tuple state_of_counting(self, SizeInputs inputs)
    cdef object field_values(self, str path, SizeInputs inputs)


# Returns the capacity of a stack for `values` values, in the gradient `name`. Raises MemoryError if it is too large.
cdef object capacity_of(str name, values)

cdef StackSizer stack_sizer(Specialisation code, KernelFunction sizing_kernel, KernelFunction counting_kernel, object stats)

cdef SizeInputs size_inputs(
    StackSizer sizer, Specialisation code, const Leaf* leaves, ForeignArrays foreign, const StreamHandle& stream
)
