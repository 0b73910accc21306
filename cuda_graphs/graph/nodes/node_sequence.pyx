# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""NodeSequence: nodes of one definition that run in the order in which they were added, in any of its graphs.

An edge orders two nodes of one graph. For nodes in different graphs, the edge connects the nodes of the innermost graph
around both that hold them. Two bodies of one conditional node never run at the same time, so they need no edge.
"""

from cuda_graphs.core.graphs.graph_handles cimport GraphBox, NodeRecord
from .insertion_point cimport InsertionPoint, is_reached, wrap_node


cdef class NodeSequence:
    """The order of nodes of one definition. It keeps no node alive, so that owners of a graph may refer to it."""

    def append(self, InsertionPoint node not None):
        """Let a new node follow the node that was appended before. All nodes are of one definition.

        An edge is added unless other edges order the two nodes already, in either direction.
        """
        cdef NodeRecord* before = self._last
        cdef NodeRecord* after = node._record()
        self._last = after
        if before == NULL or not before.is_alive():
            return
        if not meet(&before, &after) or before == after:
            return
        first, second = wrap_node(node._ref.any(), before), wrap_node(node._ref.any(), after)
        if not is_reached(second, first) and not is_reached(first, second):
            second.pred.add(first)


cdef bint meet(NodeRecord** one, NodeRecord** other) noexcept:
    """Replace two nodes by the nodes of the innermost graph around both that hold them. Returns False without such a
    graph."""
    cdef size_t depth = depth_of(one[0].graph), other_depth = depth_of(other[0].graph)
    while depth > other_depth:
        one[0], depth = one[0].graph.holder, depth - 1
    while other_depth > depth:
        other[0], other_depth = other[0].graph.holder, other_depth - 1
    while one[0].graph != other[0].graph:
        one[0], other[0] = one[0].graph.holder, other[0].graph.holder
        if one[0] == NULL or other[0] == NULL:
            return False
    return True


cdef size_t depth_of(GraphBox* graph) noexcept:
    cdef size_t depth = 0
    while graph.holder != NULL:
        graph, depth = graph.holder.graph, depth + 1
    return depth
