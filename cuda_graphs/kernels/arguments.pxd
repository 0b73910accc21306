# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from cuda_graphs.kernels.reading cimport Reading


# What comes beside each array of the arguments, as a leaf of its own behind it.
cdef enum Beside:
    kAlone
    kWithGrad
    kWithDual


# Takes one parameter apart.
cdef class Reader:
    cdef readonly str path         # as the compiler calls it
    cdef readonly object annotation
    cdef Py_ssize_t leaf, key      # the first of its own
    cdef readonly Py_ssize_t leaves, keys  # how many it has

    cdef int read(self, Reading* r, object value) except -1

    # Who owns what of a graph's node: {number of a leaf: Buffer, array or Parameter} is added.
    cdef int own(self, dict owners, object value) except -1

    # Let go of the values that code was made for.
    cdef int forget(self) except -1

    # What the compiler is told about a value that was read.
    cdef object spec(self, object value)


# The Reader of a parameter: `leaf` and `key` are the next ones that are free. `beside`: a Beside.
cdef Reader reader_of(object annotation, str path, Py_ssize_t leaf, Py_ssize_t key, int beside=*)
