# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""GraphDef.diff: the nodes and edges that distinguish two definitions.

Nodes of the two definitions have no common identity, so they are paired by how they look. Each round pairs nodes with
equal keys, in their order. The first rounds have strict keys: all details of a node and of its neighbourhood. The later
rounds have weaker ones, for nodes that have changed. Graphs inside paired nodes are compared in the same way.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any

from cuda_graphs.graph.executable.difference import compared_properties, format_value
from cuda_graphs.graph.nodes.memory_nodes import operand_parameters
from cuda_graphs.graph.nodes.node_kinds import (
    AllocNode,
    ConditionalNode,
    HostCallbackNode,
    KernelNode,
    MemcpyNode,
    MemsetNode,
    WhileNode,
)
from cuda_graphs.graph.nodes.places import address_words, array_at, as_stand_in
from cuda_graphs.graph.nodes.restoring import counter_of, memory_of_counter
from cuda_graphs.graph.operands.array_values import ArrayValue
from cuda_graphs.graph.operands.graph_array import GraphArray
from cuda_graphs.graph.operands.parameter import Parameter, Temporary

if TYPE_CHECKING:
    from cuda_graphs.drawing.picture import Picture
    from cuda_graphs.graph.nodes.node import GraphNode
    from cuda_graphs.graph.nodes.protocols import Definition
    from cuda_graphs.objects.memory.buffer import Buffer

__all__ = ["GraphDifference", "NodeChange", "compare"]

Edge = tuple[Any, Any, tuple[int, int, int]]  # source, target, (from_port, to_port, type)


@dataclass(frozen=True)
class NodeChange:
    """A node that both definitions have, with different properties.

    before, after  the node in each definition
    texts          the changes, each in one line
    """

    before: GraphNode
    after: GraphNode
    texts: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.after._identify()}: {'; '.join(self.texts)}"


@dataclass(frozen=True, repr=False)
class GraphDifference:
    """The result of `GraphDef.diff`, which is false if nothing differs. str() gives one line for each difference.

    before, after  the two definitions
    added          nodes that only `after` has, also in bodies and embedded graphs
    removed        nodes that only `before` has
    changed        a NodeChange for each node with other properties
    added_edges    (source, target) of each edge that only `after` has, between nodes that both have
    removed_edges  the same of `before`
    """

    before: Definition
    after: Definition
    added: tuple[GraphNode, ...]
    removed: tuple[GraphNode, ...]
    changed: tuple[NodeChange, ...]
    added_edges: tuple[tuple[GraphNode, GraphNode], ...]
    removed_edges: tuple[tuple[GraphNode, GraphNode], ...]
    partners: dict[GraphNode, GraphNode]

    def __bool__(self) -> bool:
        return any((self.added, self.removed, self.changed, self.added_edges, self.removed_edges))

    @cached_property
    def lines(self) -> list[str]:
        found = [f"added {node._identify()}" for node in self.added]
        found += [f"removed {node._identify()}" for node in self.removed]
        found += [f"changed {change}" for change in self.changed]
        found += [f"added the edge {named(edge)}" for edge in self.added_edges]
        return found + [f"removed the edge {named(edge)}" for edge in self.removed_edges]

    def __str__(self) -> str:
        return "\n".join(self.lines or ["no difference"])

    def __repr__(self) -> str:
        count = len(self.lines)
        return f"<GraphDifference: {count} difference{'s' * (count != 1)}>"

    def draw(
        self, path: str | PathLike[str] | None = None, *, fold: bool | None = None, theme: str = "auto"
    ) -> Picture:
        """Return a Picture of both definitions in one, and write it to a file if `path` is given.

        Nodes and edges that were added, removed or changed have a colour, an outline and a sign of their own.

        path, fold, theme  as for `GraphDef.draw`, with its errors
        """
        from cuda_graphs.graph.display.difference_drawing import draw_difference

        return draw_difference(self, path, fold, theme)

    def _repr_mimebundle_(self, **types: Any) -> dict[str, str]:
        from cuda_graphs.graph.display.drawing import mime_bundle

        return mime_bundle(self)


def named(edge: tuple[GraphNode, GraphNode]) -> str:
    source, target = edge
    return f"from {source._identify()} to {target._identify()}"


class Listing:
    """The nodes and edges of a graph, and the neighbours of each node."""

    def __init__(self, graph: Definition | None) -> None:
        nodes, edges = ([], []) if graph is None else graph._listed_with_data()
        self.nodes: list[Any] = nodes
        self.edges: list[Edge] = list(edges)
        self.before: dict[Any, list[Any]] = {node: [] for node in nodes}
        self.after: dict[Any, list[Any]] = {node: [] for node in nodes}
        for source, target, _ in edges:
            self.before[target].append(source)
            self.after[source].append(target)


def compare(before: Definition, after: Definition) -> GraphDifference:
    """See GraphDef.diff."""
    partners: dict[Any, Any] = {}
    added: list[Any] = []
    removed: list[Any] = []
    gained: list[Any] = []
    lost: list[Any] = []
    graphs = [(before, after)]
    # Condition -> its default value, of each definition.
    defaults: tuple[dict[int, int | None], ...] = ({}, {})
    for was, now in graphs:  # the loop appends to the list
        old, new = Listing(was), Listing(now)
        for known, graph in zip(defaults, (was, now), strict=True):
            known.update(graph._condition_defaults() if graph is not None else {})
        found = pair(old, new)
        partners |= found
        added += (node for node in new.nodes if node not in found)
        kept = set(found.values())
        removed += (node for node in old.nodes if node not in kept)
        more, less = edge_changes(old, new, found)
        gained += (edge[:2] for edge in more if edge[0] in found and edge[1] in found)
        lost += (edge[:2] for edge in less if edge[0] in kept and edge[1] in kept)
        graphs += (inner for node in new.nodes if node in found for inner in inner_pairs(found[node], node))
    memory = Memory(partners)
    changed = [
        NodeChange(partner, node, texts)
        for node, partner in partners.items()
        if (texts := (*changes_of(partner, node, memory), *changed_defaults(partner, node, defaults)))
    ]
    return GraphDifference(
        before, after, tuple(added), tuple(removed), tuple(changed), tuple(gained), tuple(lost), partners
    )


def inner_pairs(before: Any, after: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the pairs of graphs inside two nodes. A switch may have got more or fewer cases."""
    return zip(before._inner_graphs(), after._inner_graphs(), strict=False)


def edge_changes(old: Listing, new: Listing, partners: dict[Any, Any]) -> tuple[list[Edge], list[Edge]]:
    """Return the edges that only the new listing has, and those that only the old one has."""
    had = set(old.edges)
    kept = {
        (partners[source], partners[target], data)
        for source, target, data in new.edges
        if source in partners and target in partners
    }
    more = [edge for edge in new.edges if (partners.get(edge[0]), partners.get(edge[1]), edge[2]) not in had]
    return more, [edge for edge in old.edges if edge not in kept]


# Pairs of nodes.


def pair(old: Listing, new: Listing) -> dict[Any, Any]:
    """Return new node -> old node, as far as nodes look alike."""
    partners: dict[Any, Any] = {}
    left, right = old.nodes, new.nodes
    for look, depth in ROUNDS:
        if not left or not right:
            break
        numbers: dict[Any, int] = {}
        waiting: dict[int, deque[Any]] = {}
        keys = keys_of(old, look, depth, numbers)
        for node in left:
            waiting.setdefault(keys[node], deque()).append(node)
        keys = keys_of(new, look, depth, numbers)
        for node in right:
            alike = waiting.get(keys[node])
            if alike:
                partners[node] = alike.popleft()
        taken = set(partners.values())
        left = [node for node in left if node not in taken]
        right = [node for node in right if node not in partners]
    return partners


def keys_of(
    listing: Listing, look: Callable[[Any], Any], depth: int, numbers: dict[Any, int]
) -> dict[Any, int]:
    """Return a number for each node, equal for nodes that look alike with all nodes up to `depth` edges away."""

    def number(key: Any) -> int:
        return numbers.setdefault(key, len(numbers))

    keys = {node: number(look(node)) for node in listing.nodes}
    for _ in range(depth):
        keys = {
            node: number(
                (
                    keys[node],
                    tuple(sorted(keys[each] for each in listing.before[node])),
                    tuple(sorted(keys[each] for each in listing.after[node])),
                )
            )
            for node in listing.nodes
        }
    return keys


def properties_of(node: Any) -> dict[str, Any]:
    """Return name -> value of the properties that are compared: kernels by name, functions of Python by their code."""
    found = compared_properties(node)
    if isinstance(node, KernelNode):
        found["kernel"] = node.kernel.name
    elif isinstance(node, MemsetNode):
        found["value"] = node._number()
    elif isinstance(node, HostCallbackNode):
        found["callback_fn"] = getattr(found["callback_fn"], "__code__", found["callback_fn"])
    if isinstance(node, MemsetNode | MemcpyNode):
        for field, parameter in operand_parameters(node).items():
            found.update({name: Words(words_for(parameter)) for name in OF_FIELD[field] if name in found})
    return found


class Words(str):
    """Text that stands for a value in a message."""

    __repr__ = str.__str__


# Field of a copy or fill -> the properties that a parameter decides: the driver's node may have placeholders there.
OF_FIELD = {
    "dst": ("dptr", "dst", "dst_side"),
    "src": ("src", "src_side"),
    "value": ("value",),
    "extent": ("width",),
    "bytes": ("width",),
}


def words_for(parameter: Parameter) -> str:
    if isinstance(parameter, Temporary):
        return f"temporary {parameter.name!r} of shape {parameter.shape}"
    words, default = f"parameter {parameter.name!r} of type {parameter.type}", parameter.default
    if default is None:
        return words
    if isinstance(default, ArrayValue):
        return f"{words} with an array of shape {default.shape} at {default.address:#x} as default"
    return f"{words} with the default {default}"


def kind_of(node: Any) -> Any:
    return type(node)


def name_of(node: Any) -> Any:
    return type(node), node.name


def details_of(node: Any) -> Any:
    return type(node), node.name, repr(properties_of(node)), node._parameter_names()


# (what a key contains of a node, how many edges it looks): from strict to weak.
ROUNDS: list[tuple[Callable[[Any], Any], int]] = [
    (details_of, 3),
    (name_of, 3),
    (details_of, 1),
    (name_of, 1),
    (details_of, 0),
    (name_of, 0),
    (kind_of, 2),
]


# Changes of a pair.


class Memory:
    """Numbers that mean the same in both definitions: addresses in paired alloc nodes and in counters of paired loops,
    and paired conditions."""

    def __init__(self, partners: dict[Any, Any]) -> None:
        self.ranges = [
            (after._address, after.bytesize, before._address)
            for after, before in partners.items()
            if isinstance(after, AllocNode)
        ]
        self.ranges += [
            (after.condition.handle, 1, before.condition.handle)
            for after, before in partners.items()
            if isinstance(after, ConditionalNode)
            and after.condition is not None
            and before.condition is not None
        ]
        self.ranges += [
            (int(ours.handle), ours.size, int(theirs.handle))
            for after, before in partners.items()
            if (ours := counter_memory(after)) is not None and (theirs := counter_memory(before)) is not None
        ]

    def same(self, before: Any, after: Any) -> bool:
        """Return True for equal values, and for numbers that mean the same."""
        if before == after:
            return True
        if not isinstance(before, int) or not isinstance(after, int):
            return False
        before, after = as_stand_in(before), as_stand_in(after)
        return any(
            start <= after < start + size and after - start == before - partner
            for start, size, partner in self.ranges
        )


def counter_memory(node: Any) -> Buffer | None:
    """Return the hidden memory in which a loop counts its iterations; None for other nodes."""
    counter = counter_of(node) if isinstance(node, WhileNode) else None
    return None if counter is None else memory_of_counter(counter)


def changes_of(before: Any, after: Any, memory: Memory) -> Iterator[str]:
    """Yield the changes of a node, each in one line."""
    if before.name != after.name:
        yield f"the name was {before.name!r}, and is {after.name!r}"
    was, now = properties_of(before), properties_of(after)
    for name in now:
        if memory.same(was.get(name), now[name]):
            continue
        if name == "callback_fn":
            yield "it calls another function"
        else:
            yield f"{name} was {format_value(name, was.get(name))}, and is {format_value(name, now[name])}"
    yield from changed_arguments(before, after, memory)
    used, uses = before._parameter_names(), after._parameter_names()
    if used != uses:
        yield f"it used the parameters {listed(used)}, and uses {listed(uses)}"


def changed_defaults(before: Any, after: Any, defaults: tuple[dict[int, int | None], ...]) -> Iterator[str]:
    """Yield the change of the default value of a condition, which decides what the first launch does."""
    if not isinstance(after, ConditionalNode) or before.condition is None or after.condition is None:
        return
    was, now = (
        known.get(node.condition.handle) for known, node in zip(defaults, (before, after), strict=True)
    )
    if was != now:
        yield f"the default value of its condition was {was}, and is {now}"


def listed(names: tuple[str, ...]) -> str:
    return ", ".join(names) or "none"


def changed_arguments(before: Any, after: Any, memory: Memory) -> Iterator[str]:
    if not isinstance(after, KernelNode) or before.kernel.name != after.kernel.name:
        return
    was, now = (tuple(map(value_of, node.args)) for node in (before, after))
    if len(was) != len(now):
        yield f"it had {len(was)} arguments, and has {len(now)}"
        return
    for number, (old, new) in enumerate(zip(was, now, strict=True)):
        if not memory.same(old[0], new[0]) or old[1:] != new[1:]:
            yield f"argument {number} was {argument_text(old)}, and is {argument_text(new)}"


def value_of(argument: Any) -> tuple[Any, ...]:
    """Return an argument as (value, description of the rest): memory by its address, others by their values."""
    if isinstance(argument, Parameter):
        return words_for(argument), ""
    if isinstance(argument, AllocNode | GraphArray):  # which has no address yet, or one that is only an int
        return argument._address, ""
    interface = getattr(argument, "__cuda_array_interface__", None) or getattr(
        argument, "__array_interface__", None
    )
    if isinstance(interface, dict) and getattr(argument, "shape", None) != ():
        return interface["data"][0], f"{interface['typestr']} {interface['shape']}"
    if isinstance(argument, int | float | bytes | str | bool | None):
        return argument, ""
    handle = getattr(argument, "handle", None) or getattr(argument, "dptr", None)
    return (handle, "") if isinstance(handle, int) else (repr(argument), "")


def argument_text(value: tuple[Any, ...]) -> str:
    what, rest = value
    if isinstance(what, int) and (rest or array_at(what) is not None):
        return f"{rest} at {address_words(what)}" if rest else address_words(what)
    return repr(what) if not isinstance(what, str) else what
