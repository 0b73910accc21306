# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from cuda_graphs._objects.stream cimport Stream
from cuda_graphs.kernels.foreign cimport Foreign
from cuda_graphs.kernels.function cimport KernelFunction
from cuda_graphs.kernels.reading cimport Leaf
from cuda_graphs.kernels.specialisation cimport Specialisation


# The numbers that the host knows of one call.
cdef class Known:
    cdef const Leaf* leaves
    cdef Specialisation code
    cdef Foreign staff       # the arrays of other libraries, or None
    cdef Stream stream
    cdef Rooms rooms
    cdef dict values         # what fields and arrays of the host hold, by path
    cdef dict fresh          # of fields that were read for this call: the indices of what was asked for, by path

    cdef object array_of(self, str path)


# Of one specialisation: how many values each of its stacks holds, by call.
cdef class Rooms:
    cdef KernelFunction sizer, counter
    cdef object stats
    cdef list expressions    # of each stack, or None
    cdef list sized          # numbers of the stacks that the sizer tells of
    cdef list numbers        # extents and scalars in the expressions
    cdef list arrays         # paths of what they read
    cdef object counted      # what the counting kernel is given: Slots; None: it was not needed yet
    cdef dict fields         # what was read of a field: (its version, values), by path
    cdef tuple last          # (state, state of what was counted or None, rooms) of the last call

    # At least 1 each.
    cdef list of_call(self, Known known, tuple args)
    cdef list found(self, Known known, tuple args)
    cdef list on_device(self, KernelFunction kernel, Known known, tuple args)
    cdef tuple state(self, Known known)
    cdef tuple state_of_counting(self, Known known)
    cdef object field_values(self, str path, Known known)


# Of a stack that is to hold so many values, in a gradient of that name. MemoryError: no stack does.
cdef object room_of(str name, values)

cdef Rooms rooms_of(Specialisation code, KernelFunction sizer, KernelFunction counter, object stats)

cdef Known known_of(Rooms rooms, Specialisation code, const Leaf* leaves, Foreign staff, Stream stream)
