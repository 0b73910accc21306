# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from cuda_graphs.objects.memory.buffer cimport Buffer


# The number of iterations that a loop may run, and has run in its latest launch.
cdef class LoopCounter:
    cdef Buffer memory    # two i64: the iterations; 1 after the limit has ended the loop
    cdef readonly object array  # the same, as an argument of kernels
    cdef readonly object limit  # int

    # Returns both numbers. While the loop runs, these are the iterations so far.
    cdef tuple read(self)


# Returns the counter of a loop. Returns None for a loop without a limit that has no name or no test: no kernel counts its
# iterations.
cdef LoopCounter make_counter(object max_iterations, object name, bint has_test)
