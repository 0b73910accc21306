# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
cimport cython
from libc.stdint cimport uint64_t

from cuda_graphs.graph.operands.parameter cimport ArrayParameter
from cuda_graphs.kernels.arrays.foreign cimport ForeignArray
from cuda_graphs.kernels.arrays.ndarray cimport NDArray
from cuda_graphs.kernels.arrays.reading cimport Reading
from .reader cimport Reader


# Reads an array. Its leaves are the array, and its partners: gradient, dual, and dual of the gradient.
@cython.final
cdef class Array(Reader):
    cdef uint64_t mask, wanted  # bits of the key that the declaration fixes, and their values
    cdef int extra_leaf  # kind of the extra leaves, an ExtraLeaf
    cdef tuple inner     # shape of an element

    cdef int read_own(self, Reading* r, NDArray value) except -1
    cdef ForeignArray read_foreign(self, Reading* r, object value)
    cdef int read_parameter(self, Reading* r, ArrayParameter value) except -1
    cdef bint takes_gradient(self) except -1

    # Adds an array of another library to the call.
    cdef ForeignArray _foreign(self, Reading* r, object value, str path, Py_ssize_t leaf)


# Returns the Reader of an array, without its path and its place. `extra_leaf` is an ExtraLeaf.
cdef Array array_reader(object annotation, int extra_leaf)
