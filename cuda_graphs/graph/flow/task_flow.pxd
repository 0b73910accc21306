# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from libc.stddef cimport size_t
from libc.stdint cimport uint32_t
from libcpp.memory cimport unique_ptr
from libcpp.vector cimport vector

from cuda_graphs.core.driver.cuda cimport CUdeviceptr, CUgraphNode
from cuda_graphs.core.graphs.graph_handles cimport (
    Edges,
    NodeAccesses,
    NodeRecord,
    NodeSpec,
    Task,
    TaskOrder,
)
from cuda_graphs.graph.nodes.insertion_point cimport InsertionPoint
from cuda_graphs.graph.nodes.node cimport GraphNode


cdef struct TaskNode:
    NodeRecord* record
    uint32_t generation  # of the record, which may serve another node later


cdef struct FreedMemory:
    CUdeviceptr start
    CUdeviceptr end
    Task by


cdef class TaskFlow(InsertionPoint):
    cdef unique_ptr[TaskOrder] _order
    cdef vector[TaskNode] _nodes  # by task
    cdef dict _tasks  # address of the record -> task, of the first `_indexed` tasks
    cdef size_t _indexed
    cdef vector[NodeRecord*] _journal  # nodes that are not tasks yet
    cdef Edges _missing  # edges that the tasks need and the graph has not yet
    cdef vector[Task] _allocated  # alloc nodes of the flow
    cdef vector[FreedMemory] _freed  # by free nodes of the flow
    cdef str _state  # one of STATES

    cdef int _check_open(self) except -1
    cdef int _begin(self) except -1
    cdef int _accept_existing(self) except -1
    cdef int _settle(self) except -1
    cdef int _free_rest(self) except -1
    cdef int _note_freed(self, const NodeAccesses& accesses) except -1
    cdef int _forget_freed(self, const NodeAccesses& accesses) except -1
    cdef int _check_not_freed(self, NodeSpec& spec, const NodeAccesses& accesses) except -1
    cdef int _add_task(self, NodeRecord* record, const NodeAccesses& accesses) except -1
    cdef CUgraphNode _raw_of(self, Task task) except NULL
    cdef int _list_given(self, NodeRecord* record, Edges& edges) except -1
    cdef int _order_node(self, NodeRecord* record, const NodeAccesses& accesses, const Edges& edges) except -1
    cdef int _add_missing(self) except -1


# Returns the task flow of a graph, which `with` opens. `graph` is a GraphDef.
cdef TaskFlow make_task_flow(InsertionPoint graph)
