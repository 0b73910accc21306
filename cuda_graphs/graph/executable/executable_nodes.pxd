# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from cuda_graphs.core.graphs.graph_handles cimport GraphExecHandle, NodeRecord, NodeSpec
from cuda_graphs.graph.nodes.node cimport GraphNode
from .callbacks cimport ExecutableCallbacks


cdef class ExecutableGraphNode:
    cdef GraphExecHandle _h
    cdef GraphNode _node  # node of the definition
    cdef dict _slots      # name -> Slot of the executable's named parameters
    cdef dict _changes    # what `update` has set in kernel nodes of the executable; shared by its views
    cdef ExecutableCallbacks _callbacks
    cdef object __weakref__

    # Returns the record of the definition's node. Raises ValueError if that node was destroyed.
    cdef NodeRecord* _record(self) except NULL

    # Sets the executable's node to the parameters of a spec. If it raises, nothing has changed.
    cdef int _set(self, NodeSpec& spec) except -1

    # Returns the rule of CUDA to add to the message of a refusal, or "".
    cdef str _rule(self, NodeSpec& spec)


# Returns the view of `node` in an executable. Raises TypeError for other objects and for nodes that cannot be changed.
cdef ExecutableGraphNode view_node(
    const GraphExecHandle& graph, dict slots, dict changes, ExecutableCallbacks callbacks, object node
)

# Makes views of nodes raise, given pairs of a node and the words for the launch that runs it. `changes` are those of the
# views. The second function ends that.
cdef int mark_fused(dict changes, list marks) except -1
cdef int unmark_fused(dict changes) except -1
