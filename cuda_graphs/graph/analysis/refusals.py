# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Explains why a driver refuses to add a node: finds the other node that is the cause, which the driver does not name.

* An embedded graph may not hold alloc, free and conditional nodes (cuda.h, cuGraphAddChildGraphNode).
* If a free node of a definition frees memory, libcuda 580 refuses every new memset, memcpy or free node for that memory
  in the same definition, with "invalid argument". The order of the nodes does not matter (tests/conformance/driver,
  graph_memory_use).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cuda_graphs.graph.nodes.node import GraphNode
from cuda_graphs.graph.nodes.node_kinds import AllocNode, ChildGraphNode, ConditionalNode, FreeNode
from cuda_graphs.graph.nodes.protocols import Definition

__all__ = ["describe_copy", "explain_freed"]


def unembeddable_nodes(child: Definition) -> Iterator[GraphNode]:
    graphs = [child]
    for graph in graphs:  # the loop appends to the list
        for node in graph._listed()[0]:
            if isinstance(node, (AllocNode, FreeNode, ConditionalNode)):
                yield node
            elif isinstance(node, ChildGraphNode):
                graphs.append(node.child_graph)


def describe_copy(child: Definition) -> str:
    """Return the words for an embedding, with the first node that an embedded graph may not hold."""
    words = f"a copy of {child._identify(True)}"
    node = next(unembeddable_nodes(child), None)
    return (
        words
        if node is None
        else f"{words}, which holds {node._identify(True)} (not allowed in embedded graphs)"
    )


def explain_freed(graph: Definition, addresses: Sequence[int]) -> str:
    """Return the end of a message that names the node that frees one of the addresses; "" if no node frees them."""
    nodes = graph.nodes()
    allocs = [
        node
        for node in nodes
        if isinstance(node, AllocNode) and any(0 <= a - node.dptr < node.bytesize for a in addresses)
    ]
    starts = {node.dptr for node in allocs}
    frees = [node for node in nodes if isinstance(node, FreeNode) and node.dptr in starts]
    # A later alloc node may reuse the address of freed memory. Then one of the allocations is not freed.
    if not allocs or len(frees) < len(allocs):
        return ""
    return (
        f"; {allocs[0]._identify()} allocates the memory and {frees[0]._identify()} frees it: "
        "add the nodes that use the memory before the node that frees it"
    )
