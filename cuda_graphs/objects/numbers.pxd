# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from libc.stddef cimport size_t

# Returns true for an object of cuda.bindings with __int__ that is not an int.
cdef bint is_of_bindings(object value)

# Returns true for such an object that is an address: a handle, a callback, a CUdeviceptr.
cpdef bint is_address(object value)

# Returns the int of a number, or None. Addresses of cuda.bindings are not numbers.
cpdef object as_int(object value)

# Returns the int of a number or an address, or None.
cdef object as_address(object value)

# Returns the result of `as_int`. A TypeError names the argument.
cpdef object need_int(object value, str name)

# Returns an int in 0..2**bits-1. TypeError and OverflowError name the argument.
cdef unsigned long long read_unsigned(object value, str name, int bits) except? 0xBAD
cdef size_t read_size(object value, str name) except? 0xBAD

# Returns an address or a handle in 0..2**64-1; raises the same errors.
cdef unsigned long long read_address(object value, str name) except? 0xBAD

# Returns a C int; raises the same errors.
cdef int read_int(object value, str name) except? -0xBAD

# Returns True or False for a value equal to one of them.
cpdef bint read_flag(object value, str name) except -1
