# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Objects whose attributes have not changed since the last call.

An object of hundreds of arrays would otherwise be read attribute by attribute in each call. Its dict has a version,
which every change replaces (PEP 509), and so has its class, which may get a property of the same name. Python 3.13 has no
versions of dicts: there a call walks through the dict once, and compares names and values by identity.
"""

import weakref

from cpython.dict cimport PyDict_Next, PyDict_Size
from cpython.object cimport PyObject

from .snapshots cimport has_own_dict

from .constants import is_fixed

HAS_VERSIONS = version_of({}) != 0  # tests also do without them

cdef extern from *:
    """
    static inline unsigned int version_of_class(PyObject* cls) {
        PyTypeObject* type = (PyTypeObject*)cls;
    #if PY_VERSION_HEX < 0x030D0000
        if (!PyType_HasFeature(type, Py_TPFLAGS_VALID_VERSION_TAG)) return 0;
    #endif
        return type->tp_version_tag;
    }

    static inline int reads_as_usual(PyObject* cls) {
        return ((PyTypeObject*)cls)->tp_getattro == PyObject_GenericGetAttr;
    }
    """
    # Returns the version of a class and of its bases; 0 if Python has given none since the last change.
    unsigned int version_of_class(object cls)
    # Returns True for a class without `__getattr__` and `__getattribute__`.
    bint reads_as_usual(object cls)

cdef extern from "Python.h":
    object PyObject_GenericGetDict(object value, void* context)
    PyObject* PyTuple_GET_ITEM(object found, Py_ssize_t number)
    PyObject* PyList_GET_ITEM(object found, Py_ssize_t number)


cdef class OwnAttributes:
    cdef bint are_those_of(self, object value):
        return (
            refers_to(self.owner, value)
            and version_of_class(type(value)) == self.class_version
            and (version_of(dict_of(value)) == self.version if self.version else self.are_in(dict_of(value)))
        )

    cdef bint are_in(self, dict own):
        cdef PyObject* name
        cdef PyObject* value
        cdef PyObject* known
        cdef Py_ssize_t position = 0, i = 0
        cdef bint is_same
        if PyDict_Size(own) != len(self.names):
            return False
        while PyDict_Next(own, &position, &name, &value):
            if PyTuple_GET_ITEM(self.names, i) != name:
                return False
            if self.comparisons[i] != kByName:
                known = PyList_GET_ITEM(self.values, i)
                is_same = refers_to(<object>known, <object>value) if self.comparisons[i] == kWeak else known == value
                if not is_same:
                    return False
            i += 1
        return True

    cdef bint note(self, dict own, set used) except -1:
        """Keep the attributes of a dict. Return False if a `used` one can be kept in no way."""
        self.names, self.values = tuple(own), []
        for name, value in own.items():
            if name not in used:
                self.comparisons.push_back(kByName)
            elif is_fixed(value):
                self.comparisons.push_back(kConstant)
            else:
                try:
                    value = weakref.ref(value)
                except TypeError:
                    return False
                self.comparisons.push_back(kWeak)
            self.values.append(None if self.comparisons.back() == kByName else value)
        return True


cdef dict dict_of(object value):
    return <dict>PyObject_GenericGetDict(value, NULL)


cdef OwnAttributes own_attributes(object value, object names):
    cdef OwnAttributes self = OwnAttributes.__new__(OwnAttributes)
    cls = type(value)
    if not reads_as_usual(cls) or not hasattr(cls, "__weakref__") or not has_own_dict(value):
        return None
    own = dict_of(value)
    self.owner, self.class_version = weakref.ref(value), version_of_class(cls)
    self.version = version_of(own) if HAS_VERSIONS else 0
    if self.class_version == 0:
        return None
    for name in names:
        if not is_decided(name, own, cls):
            return None
    return self if self.version or self.note(own, set(names)) else None


cdef bint is_decided(object name, dict own, object cls):
    """Return True if an attribute is in the dict of an object or of its class, and no descriptor computes it."""
    for each in cls.__mro__:
        if name in vars(each):
            return not hasattr(type(vars(each)[name]), "__get__")
    return name in own
