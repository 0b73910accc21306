# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from cpython.object cimport PyTypeObject

from cuda_graphs.core.graphs.graph_handles cimport NodeKind

# Sets the class of the nodes of a kind. GraphDef is the class of NodeKind.kEntry, GraphNode that of NodeKind.kOther.
cdef int register_class(NodeKind kind, type cls) except -1
cdef type class_of(NodeKind kind)
cdef PyTypeObject* class_at(NodeKind kind) noexcept  # the same, borrowed
