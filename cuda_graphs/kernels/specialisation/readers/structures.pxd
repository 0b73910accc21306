# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from libc.stdint cimport uint64_t
from libcpp.vector cimport vector

from cuda_graphs.kernels.arrays.reading cimport Leaf, Reading
from cuda_graphs.kernels.specialisation.own_attributes cimport OwnAttributes
from .reader cimport Reader


# The leaves and keys of an instance whose members give the same in each call, until a Buffer is closed.
cdef class Block:
    cdef list parts    # the members of the instance; None with `attributes`
    cdef list members  # the members at all depths, as lists
    cdef OwnAttributes attributes  # of an instance that is not frozen
    cdef bint is_steady  # False if the members must be read in each call
    cdef vector[Leaf] leaves
    cdef vector[uint64_t] keys
    cdef int device  # that of the arrays
    cdef unsigned long long closed_buffers  # before the members were read

    # Writes the leaves and keys to `r`.
    cdef int write(self, Reading* r, Reader reader) except -1


# Reads an instance of a dataclass member by member.
cdef class Struct(Reader):
    cdef object cls
    cdef list names, members
    cdef bint is_frozen  # the members of an instance never change
    cdef object seen     # a weak reference to the last instance, if that is frozen, and
    cdef list kept       # its members, until it dies
    cdef Block block     # the block of these members, from the second call on
    cdef unsigned long long reads  # of all members of instances that are not frozen

    # Begins a new reader: the class of the instances, and all (name, annotation) of their members.
    cdef int begin(self, object cls, object declared) except -1

    # Adds the reader of the next member: of an attribute, a key of a dict, or an item by its index.
    cdef int add_member(self, object name, Reader member) except -1

    # Returns the members of an instance in the order of the readers.
    cdef list _parts(self, object value)

    # Reads an instance that is not frozen. Its members are read again after each change of its attributes.
    cdef int _read_changing(self, Reading* r, object value, Block block, unsigned long long closed) except -1
    cdef int _read_members(self, Reading* r, list parts) except -1

    # Return True if an instance itself has its arrays, and if its members give the same in each call.
    cdef bint _are_own(self, dict attributes) except -1
    cdef bint _are_steady(self, list parts) except -1

    # Keep what the members of an instance gave.
    cdef int _keep_block(self, Reading* r, object value, list parts, list members, unsigned long long closed) except -1
    cdef int _fill_block(self, Reading* r, Block block, list parts) except -1
    cdef dict _keep_members(self, list parts)


# Reads an array of structures: the arrays of its members.
cdef class StructArray(Struct):
    cdef object _array_of(self, object value)
