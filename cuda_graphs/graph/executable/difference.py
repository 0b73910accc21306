# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Describes the difference of two definitions, for the message of an update that the driver refused.

The driver names at most one node of the new definition. This module compares it with its partner in the current state
of the definition that the executable was made from. Definitions whose nodes have the same kinds and names in the same
order are assumed to come from the same program, so their nodes are paired in that order. Other definitions are paired
by the rule of cuda.h (cuGraphExecUpdate): nodes without successors in the order of the nodes, all other nodes in the
order of the edges that end at a pair.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from cuda_graphs.graph.nodes.node_kinds import (
    AllocNode,
    ConditionalNode,
    EventRecordNode,
    EventWaitNode,
    FreeNode,
    HostCallbackNode,
    KernelNode,
    MemcpyNode,
    MemsetNode,
)
from cuda_graphs.graph.nodes.places import address_words

if TYPE_CHECKING:
    from cuda_graphs.graph.nodes.node import GraphNode
    from cuda_graphs.graph.nodes.protocols import Definition

__all__ = ["describe_difference"]

UNKNOWN = "the definition that the executable was made from is gone, so the old parameters are unknown"


TOPOLOGY_CHANGED = 2  # CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED


def describe_difference(before: Definition | None, after: Definition, result: int, refused_node: int) -> str:
    """Return the change in `after` that the executable made from `before` cannot take; "" if it is unknown.

    result   the CUgraphExecUpdateResult
    refused_node  handle of the node that the driver names, also in a graph inside `after`; 0 if it names none
    """
    if before is not None and result == TOPOLOGY_CHANGED:
        structure = next(differences(before, after), None)
        if structure is not None:
            return structure
    found = next(find_nodes(before, after, refused_node), None) if refused_node else None
    if found is None:
        return UNKNOWN if before is None else ""
    node, partner = found
    return describe_node(partner, node)


@dataclass(frozen=True)
class Listing:
    """The nodes of a graph and the dependencies of each node, in the driver's order."""

    nodes: list[GraphNode]
    dependencies: dict[GraphNode, list[GraphNode]]

    @staticmethod
    def of(graph: Definition) -> Listing:
        nodes, edges = graph._listed()
        dependencies: dict[GraphNode, list[GraphNode]] = {node: [] for node in nodes}
        for source, target in edges:
            dependencies[target].append(source)
        return Listing(nodes, dependencies)

    def exits(self) -> list[GraphNode]:
        inner = {source for sources in self.dependencies.values() for source in sources}
        return [node for node in self.nodes if node not in inner]


def pair(before: Listing, after: Listing) -> dict[GraphNode, GraphNode]:
    """Return the partners in `before` of the nodes of `after`, as far as the two graphs match."""
    if [kind_and_name(node) for node in before.nodes] == [kind_and_name(node) for node in after.nodes]:
        return dict(zip(after.nodes, before.nodes, strict=True))
    partners = dict(zip(after.exits(), before.exits(), strict=False))
    waiting = list(partners)
    for node in waiting:  # the loop appends to the list
        for theirs, ours in zip(after.dependencies[node], before.dependencies[partners[node]], strict=False):
            if theirs not in partners:
                partners[theirs] = ours
                waiting.append(theirs)
    return partners


def kind_and_name(node: GraphNode) -> tuple[type, str]:
    return type(node), node.name


def inner_pairs(node: GraphNode, partner: GraphNode | None) -> Iterator[tuple[Definition, Definition | None]]:
    graphs = node._inner_graphs()
    were = () if partner is None else partner._inner_graphs()
    return zip(graphs, [*were, *[None] * len(graphs)], strict=False)


def find_nodes(
    before: Definition | None, after: Definition, handle: int
) -> Iterator[tuple[GraphNode, GraphNode | None]]:
    """Yield the node with a handle in `after` or in a graph inside it, and its partner."""
    graphs = [(after, before)]
    for graph, was in graphs:  # the loop appends to the list
        listing = Listing.of(graph)
        partners = {} if was is None else pair(Listing.of(was), listing)
        for node in listing.nodes:
            if node._raw() == handle:
                yield node, partners.get(node)
            graphs += inner_pairs(node, partners.get(node))


def differences(before: Definition, after: Definition) -> Iterator[str]:
    """Yield the differences in structure of two graphs."""
    graphs = [("", after, before)]
    for place, graph, was in graphs:  # the loop appends to the list
        ours, theirs = Listing.of(was), Listing.of(graph)
        if len(ours.nodes) != len(theirs.nodes):
            yield place + describe_counts(ours, theirs)
            continue
        partners = pair(ours, theirs)
        for node in theirs.nodes:
            partner = partners.get(node)
            if partner is None:
                continue
            edges = edge_differences(node, theirs.dependencies[node], ours.dependencies[partner], partners)
            yield from (place + text for text in edges)
            inside = f"inside {label(node)}: "  # the label names the nodes around the node
            graphs += [
                (inside, inner, other) for inner, other in inner_pairs(node, partner) if other is not None
            ]


def edge_differences(
    node: GraphNode, now: list[GraphNode], was: list[GraphNode], partners: dict[GraphNode, GraphNode]
) -> Iterator[str]:
    ours = [partners.get(source) for source in now]
    if set(ours) != set(was):
        yield f"{label(node)} depends on {labels(now)}, and depended on {labels(was)}"
    elif ours != was:
        yield f"{label(node)} depends on {labels(now)}, and depended on them in another order"
    else:
        for source, partner in zip(now, was, strict=True):
            yield from data_differences(node, source, partner, partners[node])


def data_differences(
    node: GraphNode, source: GraphNode, old_source: GraphNode, old_node: GraphNode
) -> Iterator[str]:
    now, was = node.graph.edge_data(source, node), old_node.graph.edge_data(old_source, old_node)
    if now != was:
        yield f"the edge from {label(source)} to {label(node)} had {was}, and has {now}"


def describe_counts(ours: Listing, theirs: Listing) -> str:
    was, now = (Counter(f"{type(n).__name__} {n.name!r}" for n in each.nodes) for each in (ours, theirs))
    text = f"the definition has {count_of_nodes(len(theirs.nodes))}, and the executable was made of {len(ours.nodes)}"
    changes = [("new", now - was), ("missing", was - now)]
    details = [f"{word}: {', '.join(sorted(names.elements()))}" for word, names in changes if names]
    return f"{text} ({'; '.join(details)})" if details else text


def count_of_nodes(number: int) -> str:
    return f"{number} node{'s' * (number != 1)}"


def describe_node(partner: GraphNode | None, node: GraphNode) -> str:
    if partner is None:
        return f"{label(node)}; {UNKNOWN}"
    if type(partner) is not type(node):
        return f"{label(node)} was {label(partner)}"
    changes = [f"{name} was {was}, and is {now}" for name, was, now in changed_fields(partner, node)]
    return f"{label(node)}: {'; '.join(changes)}" if changes else label(node)


def changed_fields(partner: GraphNode, node: GraphNode) -> Iterator[tuple[str, Any, Any]]:
    """Yield name, old value and new value of each property that has changed."""
    before, after = compared_properties(partner), compared_properties(node)
    for name, was, now in ((name, before.get(name), after[name]) for name in after):
        if was != now:
            yield name, format_value(name, was), format_value(name, now)


# Class -> properties that are compared. Conditions are not: they differ between any two definitions.
PROPERTIES: dict[type, tuple[str, ...]] = {
    KernelNode: ("grid", "block", "shmem_size", "kernel", "config.cluster", "config.is_cooperative"),
    AllocNode: ("_address", "bytesize", "device_id", "memory_type", "peer_access"),
    FreeNode: ("_address",),
    MemsetNode: ("_address", "value", "element_size", "width", "height", "pitch"),
    MemcpyNode: (
        "_destination",
        "_source",
        "_dst_side",
        "_src_side",
        "width",
        "height",
        "depth",
        "dst_pitch",
        "src_pitch",
    ),
    HostCallbackNode: ("callback_fn", "_function"),
    EventRecordNode: ("event",),
    EventWaitNode: ("event",),
}
# Properties that give no array of an alloc node an address, and the names of those that do.
ADDRESSES = {"_address": "dptr", "_destination": "dst", "_source": "src"}


def compared_properties(node: GraphNode) -> dict[str, Any]:
    """Return name -> value of the properties of a node that an executable takes over or must share."""
    if isinstance(node, ConditionalNode):
        return {"cond_type": node.cond_type, "branches": len(node.branches)}
    paths = PROPERTIES.get(type(node), ())
    return {
        ADDRESSES.get(path, path.rpartition(".")[2].lstrip("_")): attrgetter(path)(node) for path in paths
    }


def format_value(name: str, value: Any) -> str:
    if name in ADDRESSES.values() and isinstance(value, int):
        return address_words(value)
    return f"{value:#x}" if name == "function" and isinstance(value, int) else repr(value)


def label(node: GraphNode) -> str:
    """Return the name of a node in messages."""
    return node._identify()


def labels(nodes: list[GraphNode]) -> str:
    return ", ".join(map(label, nodes)) or "nothing"
