# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from cuda_graphs.graph.operands.condition cimport Condition
from cuda_graphs.graph.operands.loop_counter cimport LoopCounter


# A kernel that sets a condition, which is its first argument, and its other arguments.
cdef class ConditionTest:
    cdef object kernel
    cdef tuple args
    cdef ConditionTest first  # of a branch, and before the first iteration of a loop. None for a guard
    cdef LoopCounter counter  # None: the test does not count
    cdef bint is_guard        # ends a loop at its limit; other kernels set the condition


# Returns the test for the first argument of `if_then` and the like: a flag, or a predicate with its arguments. Returns
# a guard or None for a Condition, which takes neither `args` nor `do`.
cdef ConditionTest read_test(object what, object args, bint do, LoopCounter counter)

# Returns the test that sets the condition before the first iteration of a loop, and begins to count. None: no kernel sets
# the condition there, and a fill resets the counter, if any.
cdef ConditionTest first_test(ConditionTest test, bint do, bint is_outermost)

# Returns the device of the arrays among a flag or a predicate and its arguments; kNoDevice without any, and on machines
# with one device.
cdef int device_of_test(object what, object args) except -2

# Raises CUDAError for a conditional node without bodies, as the driver does.
cdef int check_count(unsigned int count) except -1

# Returns a condition that stands for one that does not exist yet.
cdef Condition placeholder()
