# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from libc.stdint cimport uint64_t

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


# The attributes that an object had at one time. The object is not kept alive, and neither are they.
cdef class OwnAttributes:
    cdef object owner  # a weak reference to the object
    cdef uint64_t version  # of its dict
    cdef unsigned int class_version

    # Returns True if an object is the same one, and certainly has the same attributes.
    cdef bint are_those_of(self, object value)


# Returns the OwnAttributes of an object whose `__dict__` and class alone decide what these names give; None for others.
cdef OwnAttributes own_attributes(object value, object names)

# Returns the `__dict__` of an object that has OwnAttributes.
cdef dict dict_of(object value)
