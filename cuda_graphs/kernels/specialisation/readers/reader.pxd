# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from cuda_graphs.core.resources.device_scope cimport kNoDevice
from cuda_graphs.kernels.arrays.reading cimport Reading


# The extra leaves that follow the leaf of each array argument: none, the gradient, the dual, or both and the dual of the
# gradient (second derivatives).
cdef enum ExtraLeaf:
    kNoExtra
    kGradient
    kDual
    kSecond


# Converts the argument of one parameter, or of one member of a parameter, into leaves and keys.
cdef class Reader:
    cdef readonly str path         # name in the compiler, with members: "state.x"
    cdef readonly object annotation
    cdef Py_ssize_t leaf, key      # index of the first leaf and of the first key
    cdef readonly Py_ssize_t leaves, keys  # number of leaves and of keys

    # Writes the leaves and keys of `value` to `r`.
    cdef int read(self, Reading* r, object value) except -1

    # Adds the owners of the leaves of a graph node to `owners`: {index of a leaf: Buffer, array or Parameter}.
    cdef int add_owners(self, dict owners, object value) except -1

    # Returns `value` as a graph keeps it: itself, or a KeptArgument, which does not keep the graph alive.
    cdef object keep(self, object value)

    # Returns True if `value` gives the same leaves and keys in each call, without objects of the call itself, until a
    # Buffer is closed or the reader forgets.
    cdef bint is_steady(self, object value) except -1

    # Releases the template values of compiled code.
    cdef int forget(self) except -1

    # Returns the compiler's description of `value`.
    cdef object spec(self, object value)

    # Returns (path, index) of each leaf.
    cdef list leaf_paths(self)

    # Lets integers wrap around that have the 64 bits, but not the type, as the peers do (number_rules.py).
    cdef int let_integers_wrap(self) except -1

    # Returns True if the parameter, or a member of it, is a condition of a graph.
    cdef bint takes_condition(self) except -1


# Records the device of an array. Raises ValueError if another array of the call is on another device.
cdef inline int note_device(Reading* r, Reader reader, int device) except -1:
    return 0 if device == kNoDevice or device == r.device else set_device(r, reader, device)
cdef int set_device(Reading* r, Reader reader, int device) except -1
