# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from libcpp.memory cimport shared_ptr

from cuda_graphs.core.graphs.graph_handles cimport GraphBox, GraphLabels, NodeRecord

# Raises TypeError for a name that is neither a str nor None.
cdef inline int check_name(object name) except -1:
    return 0 if name is None else refuse_other_than_str(name)
cdef int refuse_other_than_str(object name) except -1
cdef int set_name(NodeRecord* record, str name) except -1

# Returns the name that the user gave to a node, or None.
cdef object given_name(NodeRecord* record)

# The kind of a memset node's value (transfer.pxd). Nodes that other code made, and copies in embedded graphs, have "u".
cdef int note_kind_of_value(NodeRecord* record, int kind, bint is_byte) except -1
# Return the noted kind; of a node without one: None, and "u". A byte without a sign is not noted.
cdef object noted_kind(NodeRecord* record)
cdef str kind_of_value(NodeRecord* record)

# Returns names, sources and accesses of a graph's nodes, for the node that embeds a copy of the graph. Errors name `who`.
cdef shared_ptr[const GraphLabels] labels_of(GraphBox* graph, object who) except *

# Returns the property of the holding node that gives the graph, such as "`then`"; None for a root.
cdef object property_of_holder(GraphBox* graph)
