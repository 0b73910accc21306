# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from cuda_graphs.core.graphs.graph_handles cimport NodeKind

# Sets the class of the nodes of a kind. GraphDef is the class of NodeKind.kEntry, GraphNode that of NodeKind.kOther.
cdef int register_class(NodeKind kind, type cls) except -1
cdef type class_of(NodeKind kind)

# Returns an instance of the class of a kind, whose `__init__` was not called.
cdef object make_instance(NodeKind kind)
