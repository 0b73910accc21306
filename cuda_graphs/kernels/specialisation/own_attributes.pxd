# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from libc.stdint cimport uint64_t


# The attributes that an object had at one time. The object is not kept alive, and neither are they.
cdef class OwnAttributes:
    cdef object owner  # a weak reference to the object
    cdef uint64_t version  # of its dict
    cdef unsigned int class_version

    # Returns True if an object is the same one, and certainly has the same attributes.
    cdef bint are_those_of(self, object value)


# Returns the OwnAttributes of an object whose `__dict__` and class alone decide what these names give; None for others.
cdef OwnAttributes own_attributes(object value, object names)

# Returns the `__dict__` of an object that has OwnAttributes.
cdef dict dict_of(object value)
