# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from libcpp.memory cimport shared_ptr

from cuda_graphs.core.graphs.graph_handles cimport NodeAccesses, NodeParameters, NodeRecord, NodeSpec
from .insertion_point cimport InsertionPoint


# Returns the node's uses of named parameters, and the rules that follow them; NULL if it uses none.
cdef inline NodeParameters* named_parameters(NodeRecord* record) noexcept:
    return record.metadata.get().parameters.get() if record.metadata else NULL


cdef class GraphNode(InsertionPoint):
    # Return the name of the node in messages, without a call of the driver: with the nodes around it, and without.
    cdef str _label_with_holders(self, name, bint with_handle)
    cdef str _label(self, name, bint with_handle)

    # Returns the node's parameters without its owners, for its properties: those that the driver reported since the last
    # change, or the last ones of a destroyed node. The driver is asked each time once other code may change the node.
    cdef shared_ptr[NodeSpec] _parameters(self) except *

    # Appends the node's accesses, without those of the graphs inside it.
    cdef int _add_accesses(self, NodeAccesses& accesses) except -1

    # Raises RuntimeError for a node that was destroyed with its graph, and has no properties any more.
    cdef int _check_known(self) except -1

    # Reads the node's parameters from the driver into a fresh spec, without its owners.
    cdef NodeRecord* _load(self, NodeSpec& spec) except NULL

    # Reads the node's parameters with its owners and its uses of named parameters, for a spec that is then changed.
    cdef int _load_with_owners(self, NodeSpec& spec) except -1

    # Sets the node's parameters and owners to those of a spec. If it raises, nothing has changed.
    cdef int _set(self, NodeSpec& spec) except -1
