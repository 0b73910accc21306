# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Results of functions of template values, kept until the object changes.

A call with the same object as the last one would otherwise walk the object, its attributes and their attributes in
Python. A value that cannot change (`constants.is_fixed`) is walked once. Any other value gets a Snapshot. A Snapshot
keeps every container that the walk meets, with references to its content, and compares the content by identity.
Immutable parts need no comparison: a change replaces them, and the comparison of their container finds it.
A failed comparison does not mean a change. The caller then compares the values, as `constants.freeze` does.
"""

import types

from cpython.dict cimport PyDict_Next, PyDict_Size
from cpython.list cimport PyList_GET_ITEM, PyList_GET_SIZE
from cpython.object cimport PyObject

from cuda_graphs.compiler.language.host_vectors import HostVector
from .constants import data_of, freeze, is_array, is_fixed

cdef extern from "Python.h":
    object PyObject_GenericGetDict(object value, void* context)

# Types whose content has no identities to compare, and derived types of containers with ways of their own to walk it.
cdef tuple CHANGING = (dict, list, tuple, set, frozenset, types.BuiltinMethodType)
cdef int DEPTH = 8  # levels of attributes, as in `freeze`


cdef class Part:
    """One container of a value, and what it had."""

    cdef bint holds(self) except -1:
        raise NotImplementedError


cdef bint has_items(object container, tuple items):
    """Return True if a dict has these keys and values, in this order and by identity."""
    cdef PyObject* key
    cdef PyObject* value
    cdef Py_ssize_t position = 0, i = 0
    if 2 * PyDict_Size(container) != len(items):
        return False
    while PyDict_Next(container, &position, &key, &value):
        if <PyObject*>items[i] != key or <PyObject*>items[i + 1] != value:
            return False
        i += 2
    return True


cdef tuple items_of(object container):
    return tuple([each for item in container.items() for each in item])


cdef class DictPart(Part):
    """A dict."""

    cdef dict container
    cdef tuple items

    cdef bint holds(self) except -1:
        return has_items(self.container, self.items)


cdef class ListPart(Part):
    """A list, or an object of a class derived from it."""

    cdef object container
    cdef tuple items

    cdef bint holds(self) except -1:
        cdef Py_ssize_t i
        if PyList_GET_SIZE(self.container) != len(self.items):
            return False
        for i in range(len(self.items)):
            if PyList_GET_ITEM(self.container, i) != <PyObject*>self.items[i]:
                return False
        return True


cdef class SetPart(Part):
    """A set, in the order in which it is walked."""

    cdef set container
    cdef tuple items

    cdef bint holds(self) except -1:
        cdef Py_ssize_t i = 0
        if len(self.container) != len(self.items):
            return False
        for each in self.container:
            if i >= len(self.items) or each is not self.items[i]:
                return False
            i += 1
        return True


cdef class VectorPart(Part):
    """A vector or matrix, whose numbers may change."""

    cdef object vector, dtype, shape, numbers

    cdef bint holds(self) except -1:
        vector = self.vector
        return vector.dtype is self.dtype and vector.shape == self.shape and vector.tobytes() == self.numbers


cdef class AttributesPart(Part):
    """The attributes of an object in its `__dict__`, which the program may replace."""

    cdef object owner
    cdef tuple items

    cdef bint holds(self) except -1:
        return has_items(PyObject_GenericGetDict(self.owner, NULL), self.items)


cdef class SlotsPart(Part):
    """The attributes of an object in slots."""

    cdef object owner
    cdef list names, values

    cdef bint holds(self) except -1:
        for name, value in zip(self.names, self.values):
            if getattr(self.owner, name, None) is not value:
                return False
        return True


cdef class ClassPart(Part):
    """The attributes that a class itself has: all of them, as a new one may hide one of a base."""

    cdef object cls
    cdef tuple items

    cdef bint holds(self) except -1:
        cdef PyObject* now = dict_of_class(<PyObject*>self.cls)
        return now != NULL and has_items(<object>now, self.items)


cdef class Snapshot:
    cdef bint holds(self) except -1:
        cdef Part part
        for each in self.parts:
            part = each
            if not part.holds():
                return False
        return True


cdef class Known:
    cdef bint holds(self) except -1:
        return self.snapshot is None or self.snapshot.holds()


cdef class ExpectedValue:
    cdef bint is_equal(self, object now) except -1:
        cdef Known seen = self.seen  # other threads may set it meanwhile
        if seen is not None and seen.value is now and seen.holds():
            return True
        seen = Known.__new__(Known)
        seen.value = now
        if not is_fixed(now):
            seen.snapshot = snapshot_of(now)  # before the comparison: later changes must show
            if seen.snapshot is None:
                return freeze(now) == self.frozen
        if freeze(now) != self.frozen:
            return False
        if seen.holds():
            self.seen = seen
        return True


cdef ExpectedValue expected_value(object value):
    cdef ExpectedValue self = ExpectedValue.__new__(ExpectedValue)
    self.frozen = freeze(value)
    return self


cdef Known NOTHING = Known.__new__(Known)
NOTHING.value = NOTHING  # no argument is this object

cdef Py_ssize_t MOST_KNOWN = 64  # objects that a Memo keeps


cdef class Memo:
    """The results of a function, each kept until its object changes. A result None and its object are not kept."""

    def __init__(self, function):
        self.function, self.known, self.last = function, {}, NOTHING

    cpdef object of(self, object value):
        """Return the result for an object."""
        cdef Known last = <Known>self.last  # other threads may set it meanwhile
        if value is last.value and last.holds():
            return last.result
        last = self.known.get(id(value))
        if last is None or not last.holds():
            last = <Known>self.find(value)
        if last.value is value:
            self.last = last
        return last.result

    cdef object find(self, object value):
        """Return the Known of a new or changed object. Without a value it is not kept."""
        cdef Known found = Known.__new__(Known)
        cdef bint is_constant = is_fixed(value)
        found.value = NOTHING
        found.snapshot = None if is_constant else snapshot_of(value)  # before the result: later changes must show
        found.result = self.function(value)
        if found.result is None or not (is_constant or found.snapshot is not None):
            return found
        found.value = value
        if len(self.known) >= MOST_KNOWN:
            self.known.clear()
        self.known[id(value)] = found
        return found

    cpdef object forget(self):
        """Release the objects."""
        self.last = NOTHING
        self.known.clear()


class NotComparable(Exception):
    """A value has a part that changes without any change of identities."""


cdef Snapshot snapshot_of(object value):
    cdef Snapshot self = Snapshot.__new__(Snapshot)
    self.parts = []
    try:
        add_parts(self.parts, value, DEPTH, set())
    except NotComparable:
        return None
    return self


cdef int add_parts(list parts, object value, int depth, set seen) except -1:
    if is_fixed(value) or id(value) in seen:
        return 0
    seen.add(id(value))  # the parts keep the values alive
    kind = type(value)
    if kind is dict:
        add_dict(parts, value)
        inner = [each for item in value.items() for each in item]
    elif isinstance(value, list) and kind.__iter__ is list.__iter__:
        add_list(parts, value)
        inner = list(value)
    elif kind is set:
        add_set(parts, value)
        inner = list(value)
    elif kind is tuple or kind is frozenset:
        inner = list(value)
    elif kind is types.MethodType:  # its function and its object never change
        inner = [value.__self__]
    elif isinstance(value, HostVector):
        add_vector(parts, value)
        return 0
    elif isinstance(value, CHANGING) or is_array(value):  # no Snapshot keeps arrays alive
        raise NotComparable
    elif depth == 0:
        return 0
    else:
        depth -= 1
        inner = add_object(parts, value, kind, seen)
    for each in inner:
        add_parts(parts, each, depth, seen)
    return 0


cdef int add_dict(list parts, dict value) except -1:
    cdef DictPart part = DictPart.__new__(DictPart)
    part.container, part.items = value, items_of(value)
    parts.append(part)
    return 0


cdef int add_list(list parts, object value) except -1:
    cdef ListPart part = ListPart.__new__(ListPart)
    part.container, part.items = value, tuple(value)
    parts.append(part)
    return 0


cdef int add_set(list parts, set value) except -1:
    cdef SetPart part = SetPart.__new__(SetPart)
    part.container, part.items = value, tuple(value)
    parts.append(part)
    return 0


cdef int add_vector(list parts, value) except -1:
    cdef VectorPart part = VectorPart.__new__(VectorPart)
    part.vector, part.dtype, part.shape, part.numbers = value, value.dtype, value.shape, value.tobytes()
    parts.append(part)
    return 0


cdef list add_object(list parts, object value, object kind, set seen):
    """Add the attributes of an object and of its classes. Return them."""
    cdef SlotsPart slots
    cdef AttributesPart attributes
    inner = []
    if hasattr(value, "__dict__"):
        if not has_own_dict(value):
            raise NotComparable
        attributes = AttributesPart.__new__(AttributesPart)
        attributes.owner, attributes.items = value, items_of(value.__dict__)
        parts.append(attributes)
        inner += value.__dict__.values()
    names = [each for cls in kind.__mro__ for each in slots_of(cls)]
    if names:
        slots = SlotsPart.__new__(SlotsPart)
        slots.owner, slots.names = value, names
        slots.values = [getattr(value, each, None) for each in names]
        parts.append(slots)
        inner += slots.values
    for cls in kind.__mro__[:-1]:
        add_class(parts, cls, seen)
    return inner + [getattr(kind, each, None) for each in data_of(kind) if each not in names]


cdef bint has_own_dict(object value):
    """Return True if the `__dict__` of an object has its attributes, and is no property of its class."""
    try:
        return PyObject_GenericGetDict(value, NULL) is value.__dict__
    except AttributeError:
        return False


cdef list slots_of(object cls):
    if "__slots__" not in vars(cls):
        return []
    return [name for name, member in vars(cls).items() if isinstance(member, types.MemberDescriptorType)]


cdef int add_class(list parts, object cls, set seen) except -1:
    cdef ClassPart part
    if id(cls) in seen:
        return 0
    seen.add(id(cls))
    if dict_of_class(<PyObject*>cls) == NULL:  # a class of Python itself, which does not change
        return 0
    part = ClassPart.__new__(ClassPart)
    part.cls, part.items = cls, items_of(vars(cls))
    parts.append(part)
    return 0
