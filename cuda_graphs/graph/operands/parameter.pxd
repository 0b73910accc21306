# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from libc.stddef cimport size_t
from libcpp.memory cimport unique_ptr

from cuda_graphs.core.driver.cuda cimport CUdeviceptr
from cuda_graphs.core.graphs.graph_handles cimport (
    Field,
    GraphBox,
    NamedParameter,
    NodeParameters,
    NodeRecord,
    NodeSpec,
    ParameterRef,
    ParameterUse,
)
from cuda_graphs.core.resources.handles cimport Opaque
from cuda_graphs.objects.code.arguments cimport StandIn


cdef class Parameter(StandIn):
    cdef ParameterRef _p
    cdef object __weakref__

    # Returns the shared parameter. Raises RuntimeError for an object that `declare` did not make.
    cdef NamedParameter* _named(self) except NULL

cdef class ArrayParameter(Parameter):
    pass


cdef class Temporary(ArrayParameter):
    pass


cdef class ArrayExtent(StandIn):
    cdef ArrayParameter _array
    cdef Py_ssize_t _axis


# Returns the parameter with that name in the hierarchy of a graph. Creates it if it does not exist.
cdef Parameter declare(GraphBox* graph, object name, object type, object default)

# Adds a Temporary to the hierarchy of a graph. Raises TypeError or ValueError for the arguments.
cdef Temporary make_temporary(GraphBox* graph, object shape, object dtype, object name)
cdef bint is_temporary(const ParameterRef& parameter) noexcept
# Returns the number of Temporaries in the hierarchy of a graph.
cdef Py_ssize_t count_temporaries(GraphBox* graph)
# Returns the Temporaries that a node uses, one for each use.
cdef list temporaries_of(NodeRecord* record)

# Returns the object of a shared parameter.
cdef Parameter wrap(const ParameterRef& p)

# Record in a spec that a field uses a parameter, or that it no longer does.
cdef int add_use(NodeSpec& spec, Parameter parameter, Field field, unsigned int argument=*) except -1
# Returns the object for a kernel argument that a use provides: a Parameter, or an extent of one.
cdef StandIn argument_of(const ParameterUse& use)

# Returns the parameter of an argument: a Parameter, or an extent of one.
cdef Parameter parameter_of(StandIn value)

# Records that a kernel argument is a Parameter or an extent. The rules of the spec must be set before. Raises ValueError
# for an array without a default if the kernel does not take any shape.
cdef int use_argument(NodeSpec& spec, StandIn value, unsigned int argument) except -1
cdef int drop_use(NodeSpec& spec, Field field, unsigned int argument=*) except -1
cdef bint has_use(NodeSpec& spec, Field field) noexcept
# Returns the Parameter that a field uses, or `other` if the field uses none.
cdef object use_of(NodeSpec& spec, Field field, object other)

# Record the use of a parameter as an operand, as a count, or as the element of a fill. The first two return the default
# value or zero. use_element stores it in `pattern` and returns the element's width in bytes. All raise TypeError for a
# parameter of an unsuitable type. use_bytes records that the size of a copy or fill is that of an array, and returns it.
cdef CUdeviceptr use_pointer(NodeSpec& spec, Parameter value, str name, Field field, Opaque* owner) except? 0xBAD
cdef size_t use_extent(NodeSpec& spec, Parameter value, str name) except? 0xBAD
cdef int use_element(NodeSpec& spec, Parameter value, unsigned int* pattern) except -1
cdef size_t use_bytes(NodeSpec& spec, Parameter value) except? 0xBAD

# Returns True for a parameter that users do not see: its name begins with a dot.
cdef bint is_hidden(const ParameterRef& parameter) noexcept

# Returns the Parameters of the graph's hierarchy that no node uses.
cdef list list_unused(GraphBox* graph)

# check_clash runs before an embedding: it raises ValueError if the target has a parameter of the same name and another
# type. adopt_uses runs after an embedding: the copied nodes then use the parameters of their new hierarchy.
cdef int check_clash(GraphBox* source, GraphBox* target) except -1
cdef int adopt_uses(GraphBox* source, NodeRecord* holder) except -1

# Checks that the parameters of a spec belong to the graph's hierarchy. Fills placeholders for missing values, so that
# the driver accepts the node.
cdef unique_ptr[NodeParameters] prepare_uses(GraphBox* graph, NodeSpec& spec) except *
