# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The arguments of one call, in C structs."""

from cpython.object cimport PyObject
from libc.stdint cimport int32_t, uint64_t

from .ndarray cimport Changes


# One scalar or array of the arguments. A launch gets the address of `bits`; a smaller type uses its first bytes.
cdef struct Leaf:
    uint64_t bits           # number, or address of the first element
    const int32_t* extents  # extents of an array, owned by the argument
    Changes* changes        # record of changes of an NDArray; NULL for an array of another library


# The leaves and keys of one call.
cdef struct Reading:
    Leaf* leaves     # by Reader.leaf
    uint64_t* keys   # keys of the argument types, by Reader.key
    bint in_graph    # True for nodes of a graph
    bint has_parameters  # True if an argument is a parameter of a graph, whose value comes with a launch of the graph
    bint has_unlaunched  # True if the memory of an array is UNLAUNCHED (buffer.pxd)
    int device       # device of the arrays; kNoDevice without one
    PyObject* placed  # Reader of the first array of this device, a borrowed reference; NULL if a field decides
    int target       # device of the code; kNoDevice on machines with one device
    PyObject* args   # tuple of the arguments in the order of the parameters, a borrowed reference
    PyObject* foreign  # ForeignArrays, a strong reference; NULL without arrays of other libraries
    # List of the current members of arguments, a strong reference, as other threads may replace members; or NULL.
    PyObject* members
