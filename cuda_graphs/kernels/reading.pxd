# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The arguments of one call, as C has them."""

from cpython.object cimport PyObject
from libc.stdint cimport int32_t, uint64_t

from cuda_graphs.kernels.ndarray cimport Changes


# One scalar or array of the arguments. Its address is what a launch is given: 8 bytes, of which the type takes the first.
cdef struct Leaf:
    uint64_t bits           # the number, or the address of the first element
    const int32_t* extents  # of an array; whoever owns it is among the arguments
    Changes* changes        # of an array of ours; NULL: of another


# The arguments of one call, taken apart.
cdef struct Reading:
    Leaf* leaves     # by Reader.leaf
    uint64_t* keys   # by Reader.key: what the types of the arguments are
    bint in_graph    # for nodes, whose values may come later
    PyObject* staff  # a Foreign: the arrays of other libraries. NULL: there are none
    PyObject* members  # a list of what members of arguments are now, which another thread may change. NULL: of none
