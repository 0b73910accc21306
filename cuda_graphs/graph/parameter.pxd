# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from libc.stddef cimport size_t
from libcpp.memory cimport unique_ptr

from cuda_graphs._driver.cuda cimport CUdeviceptr
from cuda_graphs._handles.graph_handles cimport (
    Field, GraphBox, NamedParameter, NodeParameters, NodeRecord, NodeSpec, ParameterRef,
)
from cuda_graphs._handles.handles cimport Opaque
from cuda_graphs._objects.arguments cimport StandIn


cdef class Parameter(StandIn):
    cdef ParameterRef _p
    cdef object __weakref__

    # RuntimeError for an object that nothing was put into.
    cdef NamedParameter* _named(self) except NULL

# The parameter of a definition's hierarchy with that name: the one there is, or a new one.
cdef Parameter declare(GraphBox* graph, object name, object type, object default)

# Notes in a spec that a field is the value of a parameter, or is not any more.
cdef int note_use(NodeSpec& spec, Parameter parameter, Field field, unsigned int argument=*) except -1
cdef int drop_use(NodeSpec& spec, Field field, unsigned int argument=*) except -1
cdef bint has_use(NodeSpec& spec, Field field) noexcept
# The Parameter that a field is the value of, or else `other`.
cdef object use_of(NodeSpec& spec, Field field, object other)

# Notes the use as an operand, as a count, as the element of a fill, and gives the default, or zero. The element's width
# in bytes is returned. TypeError for a parameter whose values cannot be that.
cdef CUdeviceptr use_pointer(NodeSpec& spec, Parameter value, str name, Field field, Opaque* owner) except? 0xBAD
cdef size_t use_extent(NodeSpec& spec, Parameter value, str name) except? 0xBAD
cdef int use_element(NodeSpec& spec, Parameter value, unsigned int* pattern) except -1

# Before and after a definition is embedded: ValueError for a parameter that has another type there; the copied nodes
# use the parameters of the hierarchy that they are in now.
cdef int check_clash(GraphBox* source, GraphBox* target) except -1
cdef int take_uses(GraphBox* source, NodeRecord* holder) except -1

# For a spec with uses: checks that all are of the graph's hierarchy, and has the driver take it as long as values are
# missing.
cdef unique_ptr[NodeParameters] prepare_uses(GraphBox* graph, NodeSpec& spec) except *
