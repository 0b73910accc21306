# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from cuda_graphs._handles.graph_handles cimport GraphExecHandle, NodeRecord, NodeSpec
from cuda_graphs.graph.node cimport GraphNode


cdef class ExecutableGraphNode:
    cdef GraphExecHandle _h
    cdef GraphNode _node  # of the definition
    cdef dict _slots      # of the executable's named parameters
    cdef object __weakref__

    # ValueError when the definition's node was destroyed.
    cdef NodeRecord* _record(self) except NULL

    # Sets the node of the executable to what a spec says. Nothing has changed when it raises.
    cdef int _set(self, NodeSpec& spec) except -1

    # What to say of it where the driver refuses.
    cdef str _rule(self, NodeSpec& spec)


# The view of what `node` became in an executable. TypeError for what is no node, or of a kind that cannot be changed.
cdef ExecutableGraphNode view_node(const GraphExecHandle& graph, dict slots, object node)
