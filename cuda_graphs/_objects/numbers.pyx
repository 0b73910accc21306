# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Numbers that are passed as arguments. Cython would take a float where C wants an integer, and names no argument."""

import operator

from libc.limits cimport INT_MAX, INT_MIN


cdef object as_int(object value):
    if type(value) is int:
        return value
    # Not hasattr(value, "__index__"): an array of NumPy has that, and mostly raises when it is called.
    try:
        return operator.index(value)
    except TypeError:
        pass
    # Some handles of cuda.bindings have __int__ alone (CUdeviceptr).
    return int(value) if type(value).__module__.startswith("cuda.bindings") and hasattr(value, "__int__") else None


cdef object need_int(object value, str name):
    number = as_int(value)
    if number is None:
        raise TypeError(f"{name} must be an int, got {type(value).__name__}")
    return number


cdef unsigned long long read_unsigned(object value, str name, int bits) except? 0xBAD:
    number = need_int(value, name)
    if number < 0 or number >> bits:
        raise OverflowError(f"{name}={number} is not in 0..2**{bits}-1")
    return number


cdef size_t read_size(object value, str name) except? 0xBAD:
    return read_unsigned(value, name, 64)


cdef int read_int(object value, str name) except? -0xBAD:
    number = need_int(value, name)
    if not INT_MIN <= number <= INT_MAX:
        raise OverflowError(f"{name}={number} is not in -2**31..2**31-1")
    return number


cpdef bint read_flag(object value, str name) except -1:
    """True or False, or what equals one of them; TypeError names the argument."""
    if value is True or value is False:
        return value
    if not isinstance(value, str | bytes) and value in (True, False):  # NumPy's too
        return bool(value)
    raise TypeError(f"{name} must be True or False, got {type(value).__name__} {value!r}")
