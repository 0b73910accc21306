# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from cpython.object cimport PyObject

cdef extern from *:
    # Extensions read the dict of a class without the copies that `vars` makes.
    """
    static inline PyObject* dict_of_class(PyObject* cls) { return ((PyTypeObject*)cls)->tp_dict; }
    """
    PyObject* dict_of_class(PyObject* cls)


# The state of an object at one time.
cdef class Snapshot:
    cdef list parts

    # Returns True if the object is certainly in the same state.
    cdef bint holds(self) except -1


# An object with the result of a function, and its Snapshot of the time before. An object that cannot change has no
# Snapshot.
cdef class Known:
    cdef object value, result
    cdef Snapshot snapshot

    cdef bint holds(self) except -1


# A value of the time of a compilation, by its frozen form. An equal object that did not change is compared once.
cdef class ExpectedValue:
    cdef object frozen
    cdef Known seen  # the last object that was equal; None before, and if no Snapshot can tell its changes

    # Returns True if an object makes the same code as the value.
    cdef bint is_equal(self, object now) except -1


cdef ExpectedValue expected_value(object value)


# The results of a function of objects.
cdef class Memo:
    cdef object function, last
    cdef dict known

    cpdef object of(self, object value)
    cpdef object forget(self)
    cdef object find(self, object value)


# Returns the Snapshot of a value; None for a value whose changes no comparison of identities can find.
cdef Snapshot snapshot_of(object value)

# Returns True if the `__dict__` of an object has its attributes, and is no property of its class.
cdef bint has_own_dict(object value)
