# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Explains why a driver refuses to add, change or remove a node, or to launch: finds the cause, which it does not name.

A cause is a pair (explanation, remedy) for the error. Rules of drivers:

* An embedded graph may not hold alloc, free and conditional nodes (cuda.h, cuGraphAddChildGraphNode).
* If a free node of a definition frees memory, libcuda 580 refuses every new memset, memcpy or free node for that memory
  in the same definition, with "invalid argument". The order of the nodes does not matter (tests/conformance/driver,
  graph_memory_use).
* Nodes and edges of a graph with alloc or free nodes cannot be removed (cuda.h, cuGraphDestroyNode). Arrays have none.
* A graph is not launched again while memory of an earlier launch is allocated (cuda.h, cuGraphAddMemAllocNode).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from cuda_graphs.graph.nodes.node import GraphNode
from cuda_graphs.graph.nodes.node_kinds import (
    AllocNode,
    ChildGraphNode,
    ConditionalNode,
    EventRecordNode,
    EventWaitNode,
    FreeNode,
    HostCallbackNode,
)
from cuda_graphs.graph.nodes.places import address_words
from cuda_graphs.objects.code.arguments import is_known_memory

if TYPE_CHECKING:
    from cuda_graphs.graph.nodes.protocols import Definition

__all__ = [
    "explain_embedding",
    "explain_launch",
    "explain_memory",
    "explain_removal",
    "first_on_other_device",
    "unfit_for_bodies",
]

Cause = tuple[str, str]

NOT_EMBEDDED = (AllocNode, FreeNode, ConditionalNode)
NOT_IN_BODIES = (AllocNode, FreeNode, HostCallbackNode, EventRecordNode, EventWaitNode)


def nodes_in(graph: Definition, kinds: tuple[type[GraphNode], ...]) -> Iterator[GraphNode]:
    """Yield the nodes of some kinds, in the graph and in the graphs embedded in it."""
    graphs = [graph]
    for each in graphs:  # the loop appends to the list
        for node in each._listed()[0]:
            if isinstance(node, kinds):
                yield node
            if isinstance(node, ChildGraphNode):
                graphs.append(node.child_graph)


def explain_embedding(child: Definition) -> Cause | None:
    """Return the cause of a refusal to embed `child`."""
    node = next(nodes_in(child, NOT_EMBEDDED), None)
    if node is None:
        return None
    return (
        f"{node._identify()} cannot be embedded: embedded graphs hold no alloc, free and conditional nodes.",
        "Add the nodes of the child to this graph directly, for example with one function that adds them to any graph.",
    )


def unfit_for_bodies(graph: Definition) -> GraphNode | None:
    """Return the first node that bodies of conditional nodes may not hold."""
    return next(nodes_in(graph, NOT_IN_BODIES), None)


def first_on_other_device(graph: Definition, device: int) -> GraphNode | None:
    """Return the first node that is known to be on another device."""
    return next(
        (node for node in nodes_in(graph, (GraphNode,)) if node._device() not in (None, device)), None
    )


def explain_memory(graph: Definition, what: str, numbers: Sequence[int]) -> Cause | None:
    """Return the cause of a refusal of a node: "alloc" of a size, "free" of an address, or "use" of addresses."""
    if what == "alloc":
        return (
            None if numbers[0] else ("An AllocNode of 0 bytes has no address.", "Pass a size of 1 or more.")
        )
    return explain_freed(graph, numbers) or (explain_unknown(graph, numbers[0]) if what == "free" else None)


def explain_launch(graph: Definition) -> Cause | None:
    """Return the cause of a refused launch."""
    # A later alloc node may reuse the address of freed memory.
    allocs = [node for node in allocs_of(graph) if node._place() is None]
    kept = {node._address: node for node in allocs}
    counts = Counter(node._address for node in allocs)
    counts.subtract(node._address for node in graph.nodes() if isinstance(node, FreeNode))
    node = next((n for at, n in kept.items() if counts[at] > 0 and is_known_memory(at)), None)
    if node is None:
        return None
    return (
        f"{node._identify()} has allocated memory in an earlier launch, and nothing has freed it since.",
        "Free it with a free node, in this graph or in another one, or instantiate with "
        "GraphCompleteOptions(auto_free_on_launch=True).",
    )


def explain_freed(graph: Definition, addresses: Sequence[int]) -> Cause | None:
    allocs = [
        node for node in allocs_of(graph) if any(0 <= a - node._address < node.bytesize for a in addresses)
    ]
    starts = {node._address for node in allocs} or set(addresses)
    frees = [node for node in graph.nodes() if isinstance(node, FreeNode) and node._address in starts]
    if frees and not allocs:
        return f"{frees[0]._identify()} frees the memory already.", "Free memory once."
    # A later alloc node may reuse the address of freed memory. Then one of the allocations is not freed.
    if not allocs or len(frees) < len(allocs):
        return None
    return (
        f"{allocs[0]._identify()} allocates the memory and {frees[0]._identify()} frees it. A definition takes no more "
        "nodes for memory that it frees.",
        "Add the nodes that use the memory before the node that frees it.",
    )


def explain_unknown(graph: Definition, address: int) -> Cause | None:
    nodes = allocs_of(graph)
    if any(node._address == address for node in nodes):
        return None
    around = next((node for node in nodes if 0 <= address - node._address < node.bytesize), None)
    if around is not None:
        return (
            f"{address_words(address)} is inside the memory of {around._identify()}.",
            "Pass the `dptr` of the AllocNode.",
        )
    return (
        f"No AllocNode of this definition has the address {address_words(address)}.",
        "Pass the `dptr` of an AllocNode.",
    )


def explain_removal(graph: Definition) -> Cause | None:
    """Return the cause of a refusal to remove nodes or edges of other nodes than those of arrays."""
    nodes = (n for n in graph._listed()[0] if isinstance(n, (AllocNode, FreeNode)))
    node = next((n for n in nodes if n._place() is None), None)
    if node is None:
        return None
    return (
        f"Nodes and edges of a graph that allocates or frees memory cannot be removed, and the graph holds "
        f"{node._identify()}.",
        "Build the definition again without the node or edge.",
    )


def allocs_of(graph: Definition) -> list[AllocNode]:
    return [node for node in graph.nodes() if isinstance(node, AllocNode)]
