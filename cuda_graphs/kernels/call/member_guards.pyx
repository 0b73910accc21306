# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Guards of members: checks that an object has members that make the same code as those of an earlier call.

Reading the members of an object for the first time (members.py) makes its annotation and, in the same walk, a
MemberGuard. A later call reads the same members again, as Python reads them, and compares: arrays by their type alone,
as their addresses come with each call, and constants by identity or by value. A call with unchanged members makes no
annotation, and computes no key.

A guard keeps no array alive, and no object that holds one: it has the constants only, as the code has.
"""

import types

from cuda_graphs.kernels.specialisation.own_attributes cimport OwnAttributes, own_attributes
from cuda_graphs.kernels.arrays.ndarray cimport NDArray
from cuda_graphs.kernels.specialisation.snapshots cimport ExpectedValue, Memo, expected_value

from cuda_graphs.kernels.specialisation.constants import is_fixed

MISSING = object()  # the value of a member that an object does not have

cdef tuple NUMBERS = (int, bool)  # types whose equal values are the same in any code
cdef Py_ssize_t MOST_CHOICES = 8


cdef class MemberGuard:
    cdef bint holds(self, object value, list around) except -1:
        raise NotImplementedError

    cdef bint is_steady(self):
        return False


cdef class ArrayGuard(MemberGuard):
    """An array. `kind`: a type that has arrays only; None: other types are asked each time."""

    cdef object kind, is_array

    def __init__(self, annotation, kind, is_array):
        self.annotation, self.kind, self.is_array = annotation, kind, is_array

    cdef bint holds(self, object value, list around) except -1:
        return type(value) is self.kind or self.is_array(value)

    cdef bint is_steady(self):
        return self.kind is not None


cdef class StructArrayGuard(MemberGuard):
    """An array of structures of one dataclass."""

    cdef object kind

    def __init__(self, annotation, kind):
        self.annotation, self.kind = annotation, kind

    cdef bint holds(self, object value, list around) except -1:
        return type(value) is self.kind and value.cls is self.annotation.struct


cdef class FixedGuard(MemberGuard):
    """A constant of the code."""

    cdef object value
    cdef bint is_fixed
    cdef ExpectedValue expected

    def __init__(self, annotation):
        self.annotation, self.value = annotation, annotation.value
        self.is_fixed, self.expected = is_fixed(self.value), expected_value(self.value)

    cdef bint holds(self, object value, list around) except -1:
        if self.is_fixed:
            if value is self.value:
                return True
            if type(value) in NUMBERS:
                return type(value) is type(self.value) and value == self.value
        return self.expected.is_equal(value)

    cdef bint is_steady(self):
        return self.is_fixed


cdef class RowGuard(MemberGuard):
    """An array of NumPy whose numbers are constants."""

    cdef object kind, dtype, shape, numbers

    def __init__(self, annotation, row):
        self.annotation, self.kind, self.dtype = annotation, type(row), row.dtype
        self.shape, self.numbers = row.shape, row.tobytes()

    cdef bint holds(self, object value, list around) except -1:
        return (
            type(value) is self.kind
            and value.shape == self.shape
            and value.dtype == self.dtype
            and value.tobytes() == self.numbers
        )


cdef class OwnMethodGuard(MemberGuard):
    """A function of the language that is bound to the object that has it."""

    cdef object function

    def __init__(self, annotation, function):
        self.annotation, self.function = annotation, function

    cdef bint holds(self, object value, list around) except -1:
        return (
            type(value) is types.MethodType
            and value.__self__ is around[-1]
            and getattr(value, "__cuda_graphs_func__", None) is self.function
        )

    cdef bint is_steady(self):
        return True


cdef class ComputedGuard(MemberGuard):
    """A member that only `compute`, of the member and the objects around it, can compare with others."""

    cdef object compute, expected

    def __init__(self, annotation, compute, expected):
        self.annotation, self.compute, self.expected = annotation, compute, expected

    cdef bint holds(self, object value, list around) except -1:
        return self.compute(value, tuple(around)) == self.expected


cdef class ItemsGuard(MemberGuard):
    """A list, tuple or dict with arrays in it."""

    cdef tuple names, guards

    def __init__(self, annotation, guards):
        self.annotation, self.guards = annotation, tuple(guards)
        self.names = tuple([name for name, _ in annotation.members])

    cdef bint holds(self, object value, list around) except -1:
        cdef MemberGuard guard
        cdef Py_ssize_t i
        if type(value) is not self.annotation.cls or len(value) != len(self.names):
            return False
        if type(value) is dict and tuple(value) != self.names:
            return False
        items = list(value.values()) if type(value) is dict else list(value)
        for i in range(len(self.guards)):
            guard = self.guards[i]
            if not guard.holds(items[i], around):
                return False
        return True


cdef class LeftOutGuard(MemberGuard):
    """A member that is in no annotation, since the object does not have it or since it is a kernel."""

    cdef object kind

    def __init__(self, kind):
        self.kind = kind

    cdef bint holds(self, object value, list around) except -1:
        return value is MISSING if self.kind is None else type(value) is self.kind


cdef class EnclosingGuard(MemberGuard):
    """A member that is in no annotation, since it is one of the objects that hold it."""

    cdef bint holds(self, object value, list around) except -1:
        return is_one_of(value, around)


cdef bint is_one_of(object value, list objects):
    for each in objects:
        if each is value:
            return True
    return False


cdef class RecordGuard(MemberGuard):
    """An object, of which code uses some members.

    Args:
        members: (name, guard, is_whole) of these. `is_whole` is True if the code uses the member as a whole.
        methods: (name, function) of the methods of its class among them.
        all_names: The names of all attributes in its `__dict__`, or None if the code does not use all.
    """

    cdef object cls
    cdef tuple names, guards, whole, methods, all_names
    cdef OwnAttributes unchanged  # of the last object for which the guard held, or None
    cdef readonly unsigned long long passes  # that looked at all members

    def __init__(self, annotation, members, methods, all_names):
        self.annotation, self.cls, self.all_names = annotation, annotation.cls, all_names
        self.names, self.guards, self.whole = [tuple(each) for each in zip(*members, strict=True)] or ((), (), ())
        self.methods = tuple(methods)

    cdef bint holds(self, object value, list around) except -1:
        cdef OwnAttributes known = self.unchanged  # other threads may replace it
        if not around and known is not None and known.are_those_of(value):
            return True
        self.passes += 1
        # An object that the program changes in each call must not pay for new versions in each call.
        if not around and self.passes & (self.passes - 1) == 0:
            known = self.state_of(value)  # before the comparison: later changes must show
            self.unchanged = None
            if self.is_equal(value, around):
                self.unchanged = known
                return True
            return False
        return self.is_equal(value, around)

    cdef OwnAttributes state_of(self, object value):
        """Return the OwnAttributes of an object that holds for the guard as long as they are unchanged, or None."""
        cdef MemberGuard guard
        for guard in self.guards:
            if not guard.is_steady():
                return None
        return own_attributes(value, self.names)

    cdef bint is_equal(self, object value, list around) except -1:
        cdef bint found
        if type(value) is not self.cls or not self.has_methods(value):
            return False
        if self.all_names is not None and tuple(vars(value)) != self.all_names:
            return False
        around.append(value)
        found = self.members_hold(value, around)
        around.pop()
        return found

    cdef bint has_methods(self, object value) except -1:
        if not self.methods:
            return True
        own = getattr(value, "__dict__", ())
        for name, function in self.methods:
            if name in own or getattr(self.cls, name, None) is not function:
                return False
        return True

    cdef bint members_hold(self, object owner, list around) except -1:
        cdef MemberGuard guard
        cdef Py_ssize_t i
        for i in range(len(self.names)):
            value = getattr(owner, self.names[i], MISSING)
            guard = self.guards[i]
            if self.whole[i] and is_one_of(value, around):
                return False
            if not guard.holds(value, around):
                return False
        return True


cdef class Choice:
    """A result for values for which the guards hold, while classes have these functions."""

    cdef tuple guards, functions
    cdef object result

    cdef bint fits(self, tuple values) except -1:
        cdef MemberGuard guard
        cdef Py_ssize_t i
        for cls, name, function in self.functions:
            if getattr(cls, name, None) is not function:
                return False
        for i in range(len(self.guards)):
            guard = self.guards[i]
            if not guard.holds(values[i], []):
                return False
        return True


cdef class Choices:
    """The results of the last calls with different members, the last one first."""

    cdef tuple known  # other threads may replace it

    def __cinit__(self):
        self.known = ()

    cpdef object find(self, tuple values):
        """Return the result for values with the same members as those of an earlier call; None without any."""
        cdef Choice choice
        cdef tuple known = self.known
        for each in known:
            choice = each
            if choice.fits(values):
                if known[0] is not choice:
                    self.known = (choice, *[other for other in known if other is not choice])
                return choice.result
        return None

    def add(self, values, guards, result, functions=()):
        """Keep a result, unless the values changed since the guards were made."""
        cdef Choice choice = Choice.__new__(Choice)
        choice.guards, choice.functions, choice.result = tuple(guards), tuple(functions), result
        if choice.fits(values):
            self.known = (choice, *self.known[: MOST_CHOICES - 1])

    def forget(self):
        """Release the results."""
        self.known = ()


cdef class HolderOfArrays:
    """An object that was found to have an array among its own attributes. It has it as long as they are unchanged."""

    cdef OwnAttributes known
    cdef unsigned long long notes

    cpdef bint is_known(self, object value):
        """Return True if this is the object, and its attributes are unchanged."""
        cdef OwnAttributes known = self.known  # other threads may replace it
        return known is not None and known.are_those_of(value)

    def note(self, value, is_array):
        """Keep an object if one of its attributes is an array."""
        self.notes += 1
        # An object that the program changes in each call must not pay for new versions in each call.
        if self.notes & (self.notes - 1):
            return
        for name, each in list(getattr(value, "__dict__", {}).items()):
            if is_array(each):
                self.known = self.with_array(value, name, is_array)
                return

    cdef OwnAttributes with_array(self, object value, object name, object is_array):
        """Return the OwnAttributes of an object whose attribute of this name is an array, or None."""
        cdef OwnAttributes found = own_attributes(value, (name,))  # before it is read: later changes must show
        return found if is_array(getattr(value, name, None)) else None


def are_constants(tuple args, tuple numbers, tuple holders, Memo without_arrays):
    """Return True if the arguments with these numbers are arrays themselves, or values that a Memo knows to hold none.

    `holders` has the HolderOfArrays of each of them.
    """
    cdef Py_ssize_t i, number
    for i in range(len(numbers)):
        number = numbers[i]
        if number < len(args):
            value = args[number]
            if (<HolderOfArrays>holders[i]).is_known(value):
                return False
            if not isinstance(value, NDArray) and without_arrays.of(value) is not True:
                return False
    return True
