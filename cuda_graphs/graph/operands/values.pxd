# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from libc.stdint cimport uint64_t

from cuda_graphs.core.graphs.graph_handles cimport ParameterType, ParameterValue, ValueType
from cuda_graphs.core.resources.handles cimport Opaque

# Returns the type that an object stands for: an object with `__cuda_graph_type__` or `__cuda_graph_array_type__`, or a
# NumPy type. Raises TypeError for other objects, and ValueError for arrays of too many dimensions.
cdef ParameterType accept_type(object type) except *
# Returns the row of a type of numbers or pointers.
cdef const ValueType* accept_scalar_type(object type) except NULL

# Returns the name of a type: "f32", or "ndarray(f32, ndim=1)".
cdef str type_text(const ParameterType& type)

# Fills a value of a type. `name` is the parameter's name. Raises the errors of `to_bits` and of array_values.pxd.
cdef int read_value(const ParameterType& type, str name, object value, ParameterValue* to) except -1

# Returns the Python object for a value that is known: a number, an address, or an ArrayValue.
cdef object present_value(const ParameterType& type, const ParameterValue& value)

# Returns a value as the low bytes of 64 bits, and fills the owner of the memory of a pointer. `name` is the parameter's
# name. Raises TypeError for an unsuitable value, OverflowError for a value out of range, ValueError for a closed Buffer.
cdef uint64_t to_bits(const ValueType* type, str name, object value, Opaque* owner) except? 0xBAD

cdef object from_bits(const ValueType* type, uint64_t bits)
