# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from libc.stddef cimport size_t

# An object of cuda.bindings with __int__ which is no int.
cdef bint is_of_bindings(object value)

# Such an object that stands for an address: a handle, a callback, a CUdeviceptr.
cpdef bint is_address(object value)

# The int that a number stands for, or None; addresses of cuda.bindings are no numbers.
cpdef object as_int(object value)

# The int that a number or an address stands for, or None.
cdef object as_address(object value)

# What `as_int` gives. TypeError names the argument.
cpdef object need_int(object value, str name)

# An int in 0..2**bits-1. TypeError and OverflowError name the argument.
cdef unsigned long long read_unsigned(object value, str name, int bits) except? 0xBAD
cdef size_t read_size(object value, str name) except? 0xBAD

# An address or a handle, in 0..2**64-1; the same errors.
cdef unsigned long long read_address(object value, str name) except? 0xBAD

# An int of C; the same errors.
cdef int read_int(object value, str name) except? -0xBAD

# True or False, or what equals one of them.
cpdef bint read_flag(object value, str name) except -1
