# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Describes an embedded definition in messages. A driver refuses some nodes in it (cuda.h, cuGraphAddChildGraphNode),
but does not name them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cuda_graphs.graph.definition import GraphDef

    from .node import GraphNode

__all__ = ["describe_copy"]


def unfit_nodes(child: GraphDef) -> Iterator[GraphNode]:
    from .node_kinds import AllocNode, ChildGraphNode, ConditionalNode, FreeNode

    graphs = [child]
    for graph in graphs:  # the loop appends to the list
        for node in graph._listed()[0]:
            if isinstance(node, (AllocNode, FreeNode, ConditionalNode)):
                yield node
            elif isinstance(node, ChildGraphNode):
                graphs.append(node.child_graph)


def describe_copy(child: GraphDef) -> str:
    """Return the words for an embedding, with the first node that an embedded graph may not hold."""
    words = f"a copy of {child._identify(True)}"
    node = next(unfit_nodes(child), None)
    return (
        words
        if node is None
        else f"{words}, which holds {node._identify(True)} (not allowed in embedded graphs)"
    )
