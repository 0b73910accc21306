# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Tests of conditions: kernels of the library that set the condition of a conditional node from a flag or a predicate.

The compiler makes the kernels (kernels/call/predicates.py); this package reaches it by `objects/constructors.py`, at the
first use. A node with a test is added in four steps: read the test, try its launch with a placeholder for the condition,
create the condition, and add the nodes. So a wrong argument leaves nothing behind: a condition cannot be destroyed.
"""

import math

from cuda_graphs.core.driver.cuda cimport CUDA_ERROR_INVALID_VALUE
from cuda_graphs.core.driver.seam cimport raise_explained
from cuda_graphs.core.resources.device_scope cimport has_several_devices, kNoDevice
from cuda_graphs.graph.operands.parameter cimport ArrayParameter
from cuda_graphs.objects.memory.array_view cimport ArrayView, view_array

from cuda_graphs.objects import constructors

# typestr of the elements of flags; also as types of Parameters
cdef tuple FLAGS = ("<i4", "<u4", "|b1")
cdef tuple FLAG_TYPES = tuple([f"ndarray({name}, ndim=0)" for name in ("i32", "u32", "bool")])

cdef str REMEDY = (
    "pass a flag, an array of one i32, u32 or bool such as flags[3:4], or a predicate with its arguments: "
    "lambda x: x[0] > 0, args=(x,)"
)


cdef class ConditionTest:
    """A kernel that sets a condition, and its arguments."""


cdef ConditionTest make_test(object made):
    cdef ConditionTest self = ConditionTest.__new__(ConditionTest)
    self.kernel, self.args = made
    return self


cdef ConditionTest make_tests(object made, LoopCounter counter):
    cdef ConditionTest self = make_test(made[1])
    self.first, self.counter = make_test(made[0]), counter
    return self


cdef ConditionTest make_guard(LoopCounter counter):
    cdef ConditionTest self
    if counter is None:
        return None
    self = make_test(constructors.condition_tests().of_guard(counter))
    self.counter, self.is_guard = counter, True
    return self


cdef ConditionTest read_test(object what, object args, bint do, LoopCounter counter):
    if not isinstance(args, (tuple, list)):
        raise TypeError(f"args must be a tuple of the predicate's arguments, got {type(args).__name__}")
    if isinstance(what, Condition):
        if do:
            raise ValueError(f"do=True is for a flag or a predicate: create {what!r} with default_value=1 instead")
        check_no_arguments(args, "a Condition")
        return make_guard(counter)
    if callable(what):
        return make_tests(constructors.condition_tests().of_predicate(what, tuple(args), counter), counter)
    check_no_arguments(args, "a flag")
    return make_tests(constructors.condition_tests().of_flag(what, count_dimensions(what), counter), counter)


cdef int check_no_arguments(object args, str what) except -1:
    if args:
        raise TypeError(f"args are for a predicate: {what} takes none")
    return 0


cdef Py_ssize_t count_dimensions(object flag) except -1:
    """Return the number of dimensions of a flag. Raises for any other object."""
    cdef ArrayView view
    if isinstance(flag, ArrayParameter):
        if flag.type not in FLAG_TYPES:
            raise TypeError(f"the flag {flag!r} must have the type cg.Array0[cg.i32], or that of u32 or bool")
        return 0
    view = None if isinstance(flag, (str, bytes)) else view_array(flag, "condition")
    if view is None:
        raise TypeError(f"condition must be a Condition, a flag or a predicate, got {flag!r} ({type(flag).__name__}): {REMEDY}")
    if view.dtype not in FLAGS:
        raise TypeError(f"a flag is of i32, u32 or bool, got {flag!r} of {view.dtype or 'another type'}: {REMEDY}")
    if math.prod(view.shape) != 1:
        raise ValueError(f"a flag has one element, got {flag!r} of shape {view.shape}: {REMEDY}")
    return len(view.shape)


cdef ConditionTest first_test(ConditionTest test, bint do, bint is_outermost):
    if not do:
        return test.first
    # Bodies run more than once in a launch, and a default value counts for the first time only.
    return None if is_outermost else make_test(constructors.condition_tests().of_start(test.counter))


cdef int device_of_test(object what, object args) except -2:
    if not has_several_devices() or isinstance(what, Condition) or not isinstance(args, (tuple, list)):
        return kNoDevice
    found = constructors.condition_tests().device_of(what, args)
    return kNoDevice if found is None else found


cdef int check_count(unsigned int count) except -1:
    if count == 0:
        raise_explained(
            CUDA_ERROR_INVALID_VALUE, "add a conditional node",
            ("A SwitchNode needs a body.", "Pass a count of 1 or more."),
        )
    return 0


cdef Condition placeholder():
    return Condition._from_handle(0, 0)
