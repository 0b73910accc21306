# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Guards: checks that globals and closure variables, which are constants of code, have not changed.

Each call runs the guards. A guard looks up the name and compares identities. It compares values only if it finds
another object. Containers change in place, so a guard compares the identities of their content. Objects of NumPy are
compared by value in each call.

Large kernels have hundreds of guards, which look into a few modules and classes. Their dicts have versions, which every
change replaces (PEP 509). While no version changed, only the guards run that look elsewhere. Python 3.13 has no such
versions.
"""

import enum
import sys
import types

from cpython.dict cimport PyDict_GetItem
from cpython.module cimport PyModule_CheckExact, PyModule_GetDict
from cpython.object cimport PyObject

from .own_attributes cimport version_of
from .snapshots cimport ExpectedValue, dict_of_class, expected_value, has_own_dict

from cuda_graphs.compiler.frontend.free_values import CONTAINERS
from .constants import freeze, is_fixed, is_method_of_value, is_of_numpy

# Immutable numbers and strings: two objects with the same value make the same code.
PLAIN = (bool, int, float, str, bytes, type(None))

# Types whose objects change in place, or are new objects in each access.
CHANGING = (*CONTAINERS, types.MethodType)


cdef class Guard:
    """The check of one name, or of an attribute behind a name."""

    cdef dict namespace        # globals with the name; None if it is in `cell`
    cdef object cell
    cdef str name
    cdef tuple attributes
    cdef object expected     # value that the code was compiled for; None if `changing`
    cdef ExpectedValue changing  # the same of an object that can change in place; None for others

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

    cdef list _dicts(self):
        """Return the dicts whose versions tell that the guard still holds; None if it must run in each call."""
        cdef bint is_dict_of_object = self.changing is not None and self.attributes[-1:] == ("__dict__",)
        if self.namespace is None or (self.changing is not None and not is_dict_of_object):
            return None
        dicts = [self.namespace]
        value = self.namespace.get(self.name)
        for attribute in self.attributes[:-1] if is_dict_of_object else self.attributes:
            found = dicts_of_attribute(value, attribute)
            if found is None:
                return None
            dicts += found
            value = getattr(value, attribute)
        if not is_dict_of_object:
            return dicts
        own = dicts_of_content(value)
        return None if own is None else dicts + own

    cdef tuple _place(self):
        """Return what the guard checks. Functions of one module check the same names."""
        return id(self.cell if self.namespace is None else self.namespace), self.name, self.attributes

    cdef bint _holds(self) except -1:
        try:
            now = self._now()
        except (LookupError, AttributeError, ValueError):  # the name is gone; an empty cell raises ValueError
            return False
        if self.changing is not None:
            return self.changing.is_equal(now)
        return now is self.expected or (type(now) in PLAIN and freeze(now) == freeze(self.expected))


cdef class Versions:
    """The dicts in which guards found their names, with the versions of that time."""

    cdef bint are_current(self) noexcept:
        cdef size_t i
        for i in range(self.versions.size()):
            if version_of(<object>self.dicts_of[i]) != self.versions[i]:
                return False
        return True


cdef class Guards:
    """The globals and closure variables that one specialisation captured."""

    cdef bint hold(self) except -1:
        cdef Versions known = self.known  # read once: another thread may replace it
        if known is not None and known.are_current():
            return all_hold(known.others)
        self.comparisons += 1
        # A program that changes its globals in each call must not pay for new versions in each call.
        if self.comparisons & (self.comparisons - 1) == 0:
            known = versions_of(self.guards)  # before the comparison: later changes must show
            if all_hold(self.guards):
                self.known = known
                return True
            return False
        return all_hold(self.guards)


cdef bint all_hold(list guards) except -1:
    cdef Guard guard
    for guard in guards:
        if not guard._holds():
            return False
    return True


cdef Versions versions_of(list guards):
    """Return the versions of all dicts that decide what the guards find; None if this Python has no versions."""
    cdef Versions self = Versions.__new__(Versions)
    cdef Guard guard
    dicts = {}
    self.others = []
    for guard in guards:
        found = guard._dicts()
        if found is None:
            self.others.append(guard)
        else:
            dicts.update([(id(each), each) for each in found])
    self.dicts = list(dicts.values())
    for each in self.dicts:
        if version_of(each) == 0:
            return None
        self.dicts_of.push_back(<PyObject*>each)
        self.versions.push_back(version_of(each))
    return self


cdef list dicts_of_attribute(object value, str attribute):
    """Return the dicts that decide an attribute of a module or class; None if other state may decide it."""
    cdef PyObject* found
    if PyModule_CheckExact(value):
        names = <dict>PyModule_GetDict(value)
        return [names] if attribute in names else None
    if isinstance(value, enum.EnumType):  # its members cannot be replaced
        return [] if attribute in value.__members__ else None
    if type(value) is not type or hasattr(type, attribute):
        return None
    found = dict_of_class(<PyObject*>value)
    if found == NULL or attribute not in <dict>found:  # a base may have it, and other bases may replace that
        return None
    inner = (<dict>found)[attribute]
    is_same = isinstance(inner, (types.FunctionType, staticmethod)) or not hasattr(type(inner), "__get__")
    return [<object>found] if is_same else None


cdef list dicts_of_content(object value):
    """Return the dicts that decide the attributes in the `__dict__` of an object; None if an attribute may change itself."""
    cdef object cls = type(value)
    cdef PyObject* of_class = dict_of_class(<PyObject*>cls)
    if of_class == NULL or not has_own_dict(value) or not all(map(is_fixed, value.__dict__.values())):
        return None
    return [<object>of_class, value.__dict__]


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
    if isinstance(value, CHANGING) or is_of_numpy(value) or is_method_of_value(value):
        self.changing = expected_value(value)
    else:
        self.expected = value
    return self
