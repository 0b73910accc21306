# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0


# The globals and closure variables that one specialisation captured.
cdef class Guards:
    cdef list guards

    # Returns True if all captured values are unchanged.
    cdef bint hold(self) except -1
