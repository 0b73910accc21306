# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The Python callbacks of an executable.

A callback cannot find out which launch calls it. However, the launches of an executable follow each other, and each
launch calls each host node once (bodies of conditional nodes may not hold host nodes). Each executable therefore has
Callbacks of its own, and a queue of its launches with the number of calls of each (objects/launch_errors.pyx).
"""

from libc.stddef cimport size_t
from libc.stdint cimport uintptr_t

from cuda_graphs.core.driver.seam cimport raise_noted
from cuda_graphs.core.graphs.graph_handles cimport GraphBox, NodeHandle, NodeKind, NodeRecord, child_box, memset_version
from cuda_graphs.graph.nodes.callback cimport has_callbacks
from cuda_graphs.graph.nodes.insertion_point cimport InsertionPoint, wrap_node
from cuda_graphs.graph.nodes.node cimport GraphNode
from cuda_graphs.objects.launch_errors cimport LaunchQueue

from cuda_graphs.graph.nodes.node_kinds import give_callback


cdef class ExecutableCallbacks:
    def __cinit__(self):
        self.launches, self.counts, self.calls, self.listed, self.version = LaunchQueue(), {}, 0, set(), 0

    cdef dict take(self, InsertionPoint definition):
        cdef GraphBox* graph = definition._open()
        cdef uintptr_t record
        cdef dict counts = {}
        if has_callbacks():
            for record in self.records_in(graph, definition._ref.any()):
                counts[record] = give_callback(wrap_node(definition._ref.any(), <NodeRecord*>record), self.launches)
        return counts

    cdef list records_in(self, GraphBox* graph, const NodeHandle& any):
        """Return the records of the host nodes of a graph and of the graphs embedded in it."""
        cdef list found = []
        cdef NodeRecord* record
        cdef size_t i
        if self.version != memset_version(graph[0]):  # another definition
            self.listed, self.version = set(), memset_version(graph[0])
        for i in range(graph.nodes.size()):
            record = &graph.nodes[i]
            if record.raw != NULL and record.kind == NodeKind.kHost:
                found.append(<uintptr_t>record)
            elif record.raw != NULL and record.kind == NodeKind.kChild:
                found += self.records_in_child(record, any)
        return found

    cdef list records_in_child(self, NodeRecord* child, const NodeHandle& any):
        cdef GraphBox* inner
        if <uintptr_t>child not in self.listed:
            wrap_node(any, child).child_graph._listed()
            self.listed.add(<uintptr_t>child)
        inner = child_box(child[0])
        if inner == NULL:
            raise_noted("look into an embedded graph")
        return self.records_in(inner, any)

    cdef int replace_all(self, dict counts) except -1:
        if not counts and not self.counts:  # as nearly always
            return 0
        # Views name the nodes by those of the original definition. The two definitions have the same structure.
        if len(counts) == len(self.counts):
            counts = dict(zip(self.counts, counts.values()))
        self.counts = counts
        self.calls = sum(counts.values())
        return 0

    cdef int replace_child(self, GraphNode node, dict counts) except -1:
        if not counts:
            return 0
        for record, count in zip(self.records_in_child(node._record(), node._ref.any()), counts.values()):
            self.replace(record, count)
        return 0

    cdef int replace(self, uintptr_t node, Py_ssize_t count) except -1:
        self.calls += count - <Py_ssize_t>self.counts.get(node, 0)
        self.counts[node] = count
        return 0
