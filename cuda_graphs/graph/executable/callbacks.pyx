# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The Python callbacks of an executable.

A callback cannot find out which launch calls it. But the launches of an executable follow each other, and each launch
calls each host node once (bodies of conditional nodes may not hold host nodes). So each executable has Callbacks of its
own, and a queue of its launches with the number of calls of each (objects/launch_errors.pyx).
"""

from libc.stddef cimport size_t
from libc.stdint cimport uintptr_t

from cuda_graphs.core.graphs.graph_handles cimport GraphBox, NodeKind, NodeRecord
from cuda_graphs.graph.nodes.callback cimport has_callbacks
from cuda_graphs.graph.nodes.insertion_point cimport InsertionPoint, wrap_node
from cuda_graphs.graph.nodes.node cimport GraphNode
from cuda_graphs.graph.nodes.node_classes cimport class_of
from cuda_graphs.objects.launch_errors cimport LaunchQueue

from cuda_graphs.graph.nodes.node_kinds import give_callback


cdef class ExecutableCallbacks:
    def __cinit__(self):
        self.launches, self.counts, self.calls = LaunchQueue(), {}, 0

    cdef dict take(self, InsertionPoint definition):
        return {address_of(node): self.take_one(node) for node in host_nodes(definition)}

    cdef int take_one(self, object node) except -1:
        return 1 if give_callback(node, self.launches) else 0

    cdef int replace_all(self, dict counts) except -1:
        # Views name the nodes by those of the original definition. The two definitions have the same structure.
        if len(counts) == len(self.counts):
            counts = dict(zip(self.counts, counts.values()))
        self.counts = counts
        self.calls = sum(counts.values())
        return 0

    cdef int replace_child(self, object node, dict counts) except -1:
        for inner, count in zip(host_nodes_of(node), counts.values()):
            self.replace(address_of(inner), count)
        return 0

    cdef int replace(self, uintptr_t node, Py_ssize_t count) except -1:
        self.calls += count - <Py_ssize_t>self.counts.get(node, 0)
        self.counts[node] = count
        return 0


cdef uintptr_t address_of(GraphNode node) except 0:
    return <uintptr_t>node._record()


cdef list host_nodes(InsertionPoint definition):
    """Return the host nodes of a definition and of the graphs embedded in it."""
    cdef GraphBox* graph = definition._open()
    cdef list found = []
    cdef NodeRecord* record
    cdef size_t i
    if not has_callbacks():
        return found
    for i in range(graph.nodes.size()):
        record = &graph.nodes[i]
        if record.raw != NULL and (record.kind == NodeKind.kHost or record.kind == NodeKind.kChild):
            found += host_nodes_of(wrap_node(definition._h, record))
    return found


cdef list host_nodes_of(object node):
    if isinstance(node, class_of(NodeKind.kHost)):
        return [node]
    if isinstance(node, class_of(NodeKind.kChild)):
        return [found for inner in node.child_graph._listed()[0] for found in host_nodes_of(inner)]
    return []
