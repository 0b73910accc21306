# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from cuda_graphs._handles.graph_handles cimport GraphBox, NodeRecord

# TypeError for a name that is not a str; None is none.
cdef inline int check_name(object name) except -1:
    return 0 if name is None else refuse_other_than_str(name)
cdef int refuse_other_than_str(object name) except -1
cdef int set_name(NodeRecord* record, str name) except -1

# The name that a node was given, or None.
cdef object given_name(NodeRecord* record)

# Which graph of its holder a graph is: "body `then`"; None for a root.
cdef object place_in_holder(GraphBox* graph)
