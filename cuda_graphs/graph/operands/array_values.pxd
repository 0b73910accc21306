# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from cuda_graphs.core.graphs.graph_handles cimport ParameterType, ParameterValue

# Fills the address, the extents and the owner of an array. `name` is the parameter's name. Raises TypeError for an
# object that is no array or has other elements. Raises ValueError for an array with another number of dimensions, with
# gaps, that is read-only, in memory that the device cannot access, or in a closed Buffer.
cdef int read_array(const ParameterType& type, str name, object value, ParameterValue* to) except -1

# Returns the type of arrays as the source of a kernel spells it: "ndarray(f32, ndim=1)".
cdef str array_text(const ParameterType& type)

# Returns the ArrayValue of a value that is known.
cdef object array_value(const ParameterType& type, const ParameterValue& value)
