# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from libc.stdint cimport uint64_t

from cuda_graphs._handles.graph_handles cimport ValueType
from cuda_graphs._handles.handles cimport Opaque

# The row of a type that a user gives: an object with `__cuda_graph_type__`, or a NumPy type. TypeError for others.
cdef const ValueType* accept_type(object type) except NULL

# A value as the low bytes of 64 bits; of a pointer, also who owns the memory. `name` is that of the parameter.
# TypeError for what is no such value, OverflowError for what does not fit, ValueError for a closed Buffer.
cdef uint64_t to_bits(const ValueType* type, str name, object value, Opaque* owner) except? 0xBAD

cdef object from_bits(const ValueType* type, uint64_t bits)
