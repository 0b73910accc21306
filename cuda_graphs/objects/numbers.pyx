# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Reads numeric arguments. Cython itself would convert a float to a C integer, and its errors name no argument."""

import operator

from cpython.object cimport Py_TYPE
from libc.limits cimport INT_MAX, INT_MIN
from libc.string cimport strncmp


# Types of cuda.bindings that cuda.h and driver_types.h declare as integers and that are not addresses. All other types
# with __int__ (handles, callbacks, CUdeviceptr) are addresses.
cdef frozenset INTEGERS = frozenset({
    "cuuint32_t", "cuuint64_t", "CUdevice", "CUdevice_v1", "CUgraphConditionalHandle", "CUlogIterator", "CUlogicalEndpointId",
    "CUmemGenericAllocationHandle", "CUmemGenericAllocationHandle_v1", "CUsurfObject", "CUsurfObject_v1", "CUtexObject",
    "CUtexObject_v1", "cudaGraphConditionalHandle", "cudaLogIterator", "cudaSurfaceObject_t", "cudaTextureObject_t",
})


cdef bint is_of_numpy(object value):
    """Return True for a value whose type is one of NumPy's own: calls of kernels get them often."""
    return strncmp(Py_TYPE(value).tp_name, b"numpy.", 6) == 0


cdef bint is_of_bindings(object value):
    if isinstance(value, int) or is_of_numpy(value) or not hasattr(value, "__int__"):
        return False
    return any([str(kind.__module__).startswith("cuda.bindings") for kind in type(value).__mro__])


cpdef bint is_address(object value):
    """Return True for a handle, callback or address of cuda.bindings, which has __int__ but is not a number."""
    return is_of_bindings(value) and not any([kind.__name__ in INTEGERS for kind in type(value).__mro__])


cpdef object as_int(object value):
    """Return the int of a number, or None. A number is an int, or an object with a working __index__ that is not an
    address."""
    if type(value) is int:
        return value
    if is_of_bindings(value):
        return None if is_address(value) else int(value)
    # Not hasattr(value, "__index__"): a NumPy array has it, but mostly raises an error when it is called.
    try:
        return operator.index(value)
    except TypeError:
        return None


cdef object as_address(object value):
    return int(value) if is_address(value) else as_int(value)


cpdef object need_int(object value, str name):
    """Return the int of a number. A TypeError names the argument."""
    number = as_int(value)
    if number is None:
        raise TypeError(f"{name} must be an int, got {type(value).__name__}")
    return number


cdef unsigned long long check_unsigned(object number, str name, int bits) except? 0xBAD:
    if number < 0 or number >> bits:
        raise OverflowError(f"{name}={number} is not in 0..2**{bits}-1")
    return number


cdef unsigned long long read_unsigned(object value, str name, int bits) except? 0xBAD:
    return check_unsigned(need_int(value, name), name, bits)


cdef size_t read_size(object value, str name) except? 0xBAD:
    return read_unsigned(value, name, 64)


cdef unsigned long long read_address(object value, str name) except? 0xBAD:
    number = as_address(value)
    if number is None:
        raise TypeError(f"{name} must be an int, got {type(value).__name__}")
    return check_unsigned(number, name, 64)


cdef int read_int(object value, str name) except? -0xBAD:
    number = need_int(value, name)
    if not INT_MIN <= number <= INT_MAX:
        raise OverflowError(f"{name}={number} is not in -2**31..2**31-1")
    return number


cpdef bint read_flag(object value, str name) except -1:
    """Return True or False for a value equal to one of them; a TypeError names the argument."""
    if value is True or value is False:
        return value
    if not isinstance(value, str | bytes) and value in (True, False):  # also NumPy's
        return bool(value)
    raise TypeError(f"{name} must be True or False, got {type(value).__name__} {value!r}")
