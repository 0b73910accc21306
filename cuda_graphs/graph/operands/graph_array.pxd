# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from libc.stddef cimport size_t

from cuda_graphs.core.resources.handles cimport Opaque


# The type of the elements of memory that a graph allocates.
cdef class ElementType:
    cdef readonly object dtype          # type of the components, as given; a dtype of NumPy for its scalar types
    cdef readonly str typestr           # "<f4", as in ArrayView
    cdef readonly tuple element_shape   # () for numbers
    cdef readonly size_t itemsize       # bytes of an element with all components
    cdef size_t component_size
    cdef bint is_bfloat16


# Memory of an alloc node as an array, or a part of it.
cdef class GraphArray:
    cdef readonly object node
    cdef readonly tuple shape
    cdef readonly tuple strides
    cdef object __weakref__
    cdef ElementType _type
    cdef Opaque _owner
    cdef long long _offset  # bytes from the beginning of the node's memory to the element with index 0 in every dimension


# Returns the type of elements for a type of cuda_graphs, of its vectors, or of NumPy. Raises TypeError for others.
cdef ElementType accept_element_type(object dtype)

# Returns the type of the elements of an alloc node without a dtype.
cdef ElementType element_of_bytes()

# Returns the whole memory of an alloc node as an array. `owner` keeps its range known.
cdef GraphArray graph_array(object node, ElementType type, tuple shape, const Opaque& owner)
