# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from libc.stddef cimport size_t

# The int that an object stands for, or None: an int, anything with __index__ that gives one, a handle of cuda.bindings.
cdef object as_int(object value)

# An int in 0..2**bits-1. TypeError and OverflowError name the argument.
cdef unsigned long long read_unsigned(object value, str name, int bits) except? 0xBAD
cdef size_t read_size(object value, str name) except? 0xBAD

# An int of C; the same errors.
cdef int read_int(object value, str name) except? -0xBAD

# True or False, or what equals one of them.
cpdef bint read_flag(object value, str name) except -1
