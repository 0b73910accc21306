# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0

from cpython.object cimport PyObject
from libc.stdint cimport uint64_t
from libcpp.vector cimport vector


# The dicts in which guards found their names, and the guards that these dicts do not decide.
cdef class Versions:
    cdef list dicts, others
    cdef vector[PyObject*] dicts_of  # the same dicts, as borrowed references
    cdef vector[uint64_t] versions

    # Returns True if no dict changed.
    cdef bint are_current(self) noexcept


# The globals and closure variables that one specialisation captured.
cdef class Guards:
    cdef list guards
    cdef Versions known  # of the last comparison that succeeded, or None
    cdef uint64_t comparisons  # of all guards

    # Returns True if all captured values are unchanged.
    cdef bint hold(self) except -1
