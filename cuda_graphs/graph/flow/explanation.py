# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The reason why one node of a task flow depends on another, or why it does not."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cuda_graphs.graph.analysis.accesses import READING, NodeAccess, all_accesses
from cuda_graphs.graph.nodes.node import GraphNode

if TYPE_CHECKING:
    from cuda_graphs.graph.nodes.protocols import Definition

__all__ = ["EdgeExplanation", "explain"]


@dataclass(frozen=True)
class EdgeExplanation:
    """Why one node depends on another, or why it does not. str() says it in words.

    before, after  the nodes
    has_edge       True if there is an edge from `before` to `after`
    conflicts      pairs of accesses to the same bytes, one of which writes: (access of `before`, access of `after`)
    barriers       nodes that count as accessing everything: host callbacks of unknown accesses, records and waits
    path           the nodes of a path from `before` to `after`, with both; empty if there is none
    """

    before: GraphNode
    after: GraphNode
    has_edge: bool
    conflicts: tuple[tuple[NodeAccess, NodeAccess], ...]
    barriers: tuple[GraphNode, ...]
    path: tuple[GraphNode, ...]

    def __str__(self) -> str:
        reasons = [f"{first} and {second}" for first, second in self.conflicts]
        reasons += [f"{node._identify()} counts as accessing everything" for node in self.barriers]
        because = reasons or ["they access no common bytes that one of them writes"]
        return "\n".join([self._headline(bool(reasons)), *(f"    {reason}" for reason in because)])

    def _headline(self, has_reasons: bool) -> str:
        names = f"{self.before._identify()} and {self.after._identify()}"
        if self.has_edge:
            added = "" if has_reasons else ", which the flow did not find from data"
            return f"There is an edge between {names}{added}:"
        if self.path:
            way = ", ".join(node._identify() for node in self.path[1:-1])
            return f"There is no edge between {names}, since the path over {way} orders them:"
        return f"There is no order between {names}:"


def explain(graph: Definition, before: GraphNode, after: GraphNode) -> EdgeExplanation:
    """See TaskFlow.explain."""
    for node, name in ((before, "before"), (after, "after")):
        if not isinstance(node, GraphNode):
            raise TypeError(f"{name} must be a GraphNode, got {type(node).__name__}")
        if node.graph != graph:
            raise ValueError(f"{name} is {node._identify()}, a node of another graph")
    firsts, seconds = list(all_accesses(before)), list(all_accesses(after))
    conflicts = [(one, other) for one in firsts for other in seconds if conflict(one, other)]
    barriers = [node for node in (before, after) if node._is_barrier()]
    return EdgeExplanation(
        before,
        after,
        before in after.pred,
        tuple(conflicts),
        tuple(barriers),
        find_path(before, after),
    )


def conflict(one: NodeAccess, other: NodeAccess) -> bool:
    """Return True if two accesses share a byte and one of them may write."""
    if one.what != other.what or (one.mode in READING and other.mode in READING):
        return False
    if isinstance(one.span.start, str) or isinstance(other.span.start, str):
        return bool(one.span.start == other.span.start)
    return one.span.meets(other.span)


def find_path(before: GraphNode, after: GraphNode) -> tuple[GraphNode, ...]:
    """Return the nodes of a shortest path; () if there is none."""
    came_from: dict[GraphNode, GraphNode | None] = {before: None}
    level: Iterable[GraphNode] = [before]
    while after not in came_from and level:
        found = {later: node for node in level for later in node.succ if later not in came_from}
        came_from.update(found)
        level = found.keys()
    path: list[GraphNode] = []
    node: GraphNode | None = after if after in came_from else None
    while node is not None:
        path.append(node)
        node = came_from[node]
    return tuple(reversed(path))
