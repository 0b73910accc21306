# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from libc.stdint cimport uint64_t

from cuda_graphs.core.graphs.graph_handles cimport ValueType
from cuda_graphs.core.resources.handles cimport Opaque

# Returns the row of a type: an object with `__cuda_graph_type__`, or a NumPy type. Raises TypeError for other objects.
cdef const ValueType* accept_type(object type) except NULL

# Returns a value as the low bytes of 64 bits, and fills the owner of the memory of a pointer. `name` is the parameter's
# name. Raises TypeError for an unsuitable value, OverflowError for a value out of range, ValueError for a closed Buffer.
cdef uint64_t to_bits(const ValueType* type, str name, object value, Opaque* owner) except? 0xBAD

cdef object from_bits(const ValueType* type, uint64_t bits)
