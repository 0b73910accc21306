# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from libc.stdint cimport uint64_t, uintptr_t

from cuda_graphs.core.graphs.graph_handles cimport GraphBox, NodeHandle, NodeRecord
from cuda_graphs.graph.nodes.node cimport GraphNode
from cuda_graphs.graph.nodes.insertion_point cimport InsertionPoint
from cuda_graphs.objects.launch_errors cimport LaunchQueue


# The Python callbacks of one executable. A Graph and the views of its nodes share it.
cdef class ExecutableCallbacks:
    cdef LaunchQueue launches
    cdef dict counts        # record of a host node of the definition, also an embedded one -> 1, or 0 for a C function
    cdef Py_ssize_t calls   # Python callbacks that a launch calls
    cdef set listed         # records of child graph nodes whose inner nodes have records
    cdef uint64_t version   # memset_version() of `listed`

    # Gives the Callbacks of a definition to the executable. Returns the `counts` of its host nodes.
    cdef dict take(self, InsertionPoint definition)
    cdef list records_in(self, GraphBox* graph, const NodeHandle& any)
    cdef list records_in_child(self, NodeRecord* child, const NodeHandle& any)
    # Called after an update of the whole executable, of a child graph node and of a host node.
    cdef int replace_all(self, dict counts) except -1
    cdef int replace_child(self, GraphNode node, dict counts) except -1
    cdef int replace(self, uintptr_t node, Py_ssize_t count) except -1
