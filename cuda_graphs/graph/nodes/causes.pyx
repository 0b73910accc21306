# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Causes of the driver's refusals of edges."""


cdef tuple cause_of_other_graph(GraphBox* graph, GraphBox* other):
    if graph.hierarchy == other.hierarchy:
        return (
            "The two nodes are in different graphs of one definition. Edges connect nodes of one graph, and each body and "
            "each embedded graph is a graph.",
            "Use the node that holds the inner graph in place of the node in it.",
        )
    return (
        "The two nodes belong to different definitions. Edges connect nodes of one graph.",
        "Add both nodes to one definition, or add a copy of the other definition with embed().",
    )


cdef tuple cause_of_join(object self, tuple nodes):
    if len({self, *nodes}) == 1 + len(nodes):
        return None
    return (
        "A node is given twice. An EmptyNode depends on a node at most once.",
        "Give each node once. node.join(...) includes `node` itself.",
    )
