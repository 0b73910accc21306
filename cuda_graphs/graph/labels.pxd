# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from libcpp.memory cimport shared_ptr

from cuda_graphs._handles.graph_handles cimport GraphBox, GraphLabels, NodeRecord

# TypeError for a name that is not a str; None is none.
cdef inline int check_name(object name) except -1:
    return 0 if name is None else refuse_other_than_str(name)
cdef int refuse_other_than_str(object name) except -1
cdef int set_name(NodeRecord* record, str name) except -1

# The name that a node was given, or None.
cdef object given_name(NodeRecord* record)

# The names and sources of a graph's nodes, for the node that gets a copy of it; `who` is whom an error names.
cdef shared_ptr[const GraphLabels] labels_of(GraphBox* graph, object who) except *

# Which graph of its holder a graph is: "body `then`"; None for a root.
cdef object place_in_holder(GraphBox* graph)
