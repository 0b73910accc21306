# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from cuda_graphs.objects.device.stream cimport Stream
from cuda_graphs.kernels.arrays.foreign cimport Foreign
from cuda_graphs.kernels.call.function cimport KernelFunction
from cuda_graphs.kernels.arrays.reading cimport Leaf
from cuda_graphs.kernels.call.specialisation cimport Specialisation


# The values that the host can read for the size expressions of one call.
cdef class Known:
    cdef const Leaf* leaves
    cdef Specialisation code
    cdef Foreign staff       # arrays of other libraries, or None
    cdef Stream stream
    cdef Rooms rooms
    cdef dict values         # contents of fields and host arrays, by path
    cdef dict fresh          # set of the indices used in each field that this call has read back, by path

    cdef object array_of(self, str path)


# Computes the capacity of each stack of one specialisation, for each call.
cdef class Rooms:
    cdef KernelFunction sizer, counter
    cdef object stats
    cdef list expressions    # size expression of each stack, or None
    cdef list sized          # numbers of the stacks in the result of the sizer
    cdef list numbers        # extents and scalars in the expressions
    cdef list arrays         # paths of the arrays that the expressions read
    cdef object counted      # slots of the counting kernel; None before its first launch
    cdef dict fields         # (version, contents) of each field that was read back, by path
    cdef tuple last          # (state, state of counting or None, capacities) of the last call

    # Returns the capacity of each stack, at least 1.
    cdef list of_call(self, Known known, tuple args)
    cdef list found(self, Known known, tuple args)
    cdef list on_device(self, KernelFunction kernel, Known known, tuple args)
    cdef tuple state(self, Known known)
    cdef tuple state_of_counting(self, Known known)
    cdef object field_values(self, str path, Known known)


# Returns the capacity of a stack for `values` values, in the gradient `name`. Raises MemoryError if it is too large.
cdef object room_of(str name, values)

cdef Rooms rooms_of(Specialisation code, KernelFunction sizer, KernelFunction counter, object stats)

cdef Known known_of(Rooms rooms, Specialisation code, const Leaf* leaves, Foreign staff, Stream stream)
