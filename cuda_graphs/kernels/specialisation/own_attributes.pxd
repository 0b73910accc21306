# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from cpython.object cimport PyObject
from cpython.ref cimport Py_XDECREF
from cpython.weakref cimport PyWeakref_GetRef
from libc.stdint cimport uint64_t
from libcpp.vector cimport vector

cdef extern from *:
    """
    #include <stdint.h>
    #pragma GCC diagnostic push
    #pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    static inline uint64_t version_of(PyObject* dict) {
    #if PY_VERSION_HEX < 0x030D0000
        return ((PyDictObject*)dict)->ma_version_tag;
    #else
        return 0;
    #endif
    }
    #pragma GCC diagnostic pop
    """
    # Returns the version of a dict, which no other state of any dict has; 0 if this Python has no versions.
    uint64_t version_of(object dict)


# Returns True if the weak reference refers to this object.
cdef inline bint refers_to(object reference, object value) except -1:
    cdef PyObject* found = NULL
    PyWeakref_GetRef(reference, &found)
    Py_XDECREF(found)
    return found == <PyObject*>value


# An attribute is compared in one of these ways.
cdef enum Comparison:
    kByName   # it may have any value
    kWeak     # `values` has a weak reference to its value
    kConstant  # `values` has its value, a constant


# The attributes that an object had at one time. The object is not kept alive, and neither are arrays.
cdef class OwnAttributes:
    cdef object owner  # a weak reference to the object
    cdef uint64_t version  # of its dict; 0 if the attributes are compared one by one
    cdef unsigned int class_version
    # Only without a version, in the order of the dict:
    cdef tuple names
    cdef list values
    cdef vector[Comparison] comparisons

    # Returns True if a dict has the attributes, compared one by one.
    cdef bint are_in(self, dict own)

    cdef bint note(self, dict own, set used) except -1

    # Returns True if an object is the same one, and certainly has the same attributes.
    cdef bint are_those_of(self, object value)


# Returns the OwnAttributes of an object whose `__dict__` and class alone decide what these names give; None for others.
cdef OwnAttributes own_attributes(object value, object names)

# Returns the `__dict__` of an object that has OwnAttributes.
cdef dict dict_of(object value)
