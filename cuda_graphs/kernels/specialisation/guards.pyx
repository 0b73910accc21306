# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Guards: checks that globals and closure variables, which are constants of code, have not changed.

Each call runs the guards. A guard looks up the name and compares identities. It compares values only if it finds
another object. Containers change in place, so a guard compares the identities of their content. Objects of NumPy are
compared by value in each call.
"""

import sys
import types

from cpython.dict cimport PyDict_GetItem
from cpython.module cimport PyModule_CheckExact, PyModule_GetDict
from cpython.object cimport PyObject

from .snapshots cimport Snapshot, snapshot_of

from cuda_graphs.compiler.frontend.free_values import CONTAINERS
from .constants import freeze, is_method_of_value, is_of_numpy

# Immutable numbers and strings: two objects with the same value make the same code.
PLAIN = (bool, int, float, str, bytes, type(None))

# Types whose objects change in place, or are new objects in each access.
CHANGING = (*CONTAINERS, types.MethodType)


cdef class Seen:
    """A container that had the expected value, with its Snapshot of that time."""

    cdef object value
    cdef Snapshot snapshot


cdef class Guard:
    """The check of one name, or of an attribute behind a name."""

    cdef dict namespace        # globals with the name; None if it is in `cell`
    cdef object cell
    cdef str name
    cdef tuple attributes
    cdef object expected     # value that the code was compiled for; its frozen form if `changing`
    cdef bint changing
    cdef Seen seen  # None before the first call, and where a Snapshot is impossible

    cdef object _now(self):
        cdef PyObject* found
        if self.namespace is not None:
            found = PyDict_GetItem(self.namespace, self.name)
            if found == NULL:
                raise LookupError(self.name)
            value = <object>found
        else:
            value = self.cell.cell_contents
        for attribute in self.attributes:
            found = NULL
            if PyModule_CheckExact(value):
                found = PyDict_GetItem(<dict>PyModule_GetDict(value), attribute)
            value = getattr(value, attribute) if found == NULL else <object>found
        return value

    cdef tuple _place(self):
        """Return what the guard checks. Functions of one module check the same names."""
        return id(self.cell if self.namespace is None else self.namespace), self.name, self.attributes

    cdef bint _holds(self) except -1:
        try:
            now = self._now()
        except (LookupError, AttributeError, ValueError):  # the name is gone; an empty cell raises ValueError
            return False
        if self.changing:
            return self._has_expected_value(now)
        return now is self.expected or (type(now) in PLAIN and freeze(now) == freeze(self.expected))

    cdef bint _has_expected_value(self, object now) except -1:
        cdef Seen seen = self.seen  # other threads may set it meanwhile
        if seen is not None and seen.value is now and seen.snapshot.holds():
            return True
        seen = Seen.__new__(Seen)
        seen.value, seen.snapshot = now, snapshot_of(now)  # before the comparison: later changes must show
        if freeze(now) != self.expected:
            return False
        self.seen = None if seen.snapshot is None else seen
        return True


cdef class Guards:
    """The globals and closure variables that one specialisation captured."""

    cdef bint hold(self) except -1:
        cdef Guard guard
        for guard in self.guards:
            if not guard._holds():
                return False
        return True


def guards_of(free_values) -> Guards:
    """Return the Guards for {function: {path: value}} of a kernel and of the functions that it inlines."""
    cdef Guards self = Guards.__new__(Guards)
    cdef Guard guard
    found = {}
    for function, paths in free_values.items():
        for path, value in paths.items():
            guard = guard_of(function, path, value)
            if guard is not None:
                found.setdefault((*guard._place(), id(value)), guard)
    self.guards = list(found.values())
    return self


cdef Guard guard_of(function, str path, value):
    """Return the guard of a path; None for a constant of Python or of this package."""
    root, *attributes = path.split(".")
    cdef Guard self = Guard.__new__(Guard)
    # Python finds interned names without comparing their letters.
    self.name, self.attributes = sys.intern(root), tuple([sys.intern(each) for each in attributes])
    cells = function.__code__.co_freevars
    if root in cells:
        self.cell = function.__closure__[cells.index(root)]
        start = self.cell.cell_contents
    elif root in function.__globals__:
        self.namespace = function.__globals__
        start = self.namespace[root]
    else:
        return None
    if attributes and isinstance(start, types.ModuleType) and start.__name__.partition(".")[0] in ("cuda_graphs", "math", "numpy"):
        return None
    self.changing = isinstance(value, CHANGING) or is_of_numpy(value) or is_method_of_value(value)
    self.expected = freeze(value) if self.changing else value
    return self
