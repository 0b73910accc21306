# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0


# The annotation of a value, and the check whether another value has the same one.
cdef class MemberGuard:
    cdef readonly object annotation

    # Returns True if a value makes the same code. `around`: the objects that hold it, the outermost one first.
    cdef bint holds(self, object value, list around) except -1

    # Returns True if the guard holds for an object as long as it held for this object once.
    cdef bint is_steady(self)
