# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0


# What one specialisation captured.
cdef class Guards:
    cdef list checks

    # Whether all of it is what it was.
    cdef bint hold(self) except -1
