# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""`node.pred` and `node.succ`: the edges of a node as sets that can be changed.

A view holds nothing but its node and direction: every question asks the driver, every change is one driver call
however many edges it adds or removes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, MutableSet, Set
from typing import TYPE_CHECKING, Any

from cuda_graphs.graph.edge_data import EdgeData

if TYPE_CHECKING:
    from cuda_graphs.graph.node import GraphNode

__all__ = ["AdjacencySet"]

FULL = EdgeData()


class AdjacencySet(MutableSet["GraphNode"]):
    """The nodes that a node depends on, or those that depend on it. Live: it shows and makes changes of the graph.

    All of MutableSet, and `update` and the in-place operators take many nodes at once. Operators that make a new set
    make a plain one. Adding a node of another graph, the node itself, or a destroyed node is a CUDAError; removing
    edges from a graph that allocates or frees memory is one too (a rule of the driver).
    """

    __slots__ = ("_forward", "_node")

    def __init__(self, node: GraphNode, forward: bool) -> None:
        self._node = node
        self._forward = forward

    @classmethod
    def _from_iterable(cls, nodes: Iterable[Any]) -> set[Any]:
        return set(nodes)

    def _now(self) -> set[GraphNode]:
        return self._node._neighbours(self._forward)

    def __contains__(self, node: object) -> bool:
        return self._node._is_node(node) and node in self._now()

    def __iter__(self) -> Iterator[GraphNode]:
        return iter(self._now())

    def __len__(self) -> int:
        return len(self._now())

    def __repr__(self) -> str:
        return repr(self._now())

    def add(self, node: GraphNode, data: EdgeData | None = None) -> None:
        """Add an edge, full or with `data`. One that is there stays, but gets the data where that is given."""
        if data is None:
            self.update((node,))
            return
        if not isinstance(data, EdgeData):
            raise TypeError(f"data must be an EdgeData or None, got {type(data).__name__}")
        nodes = self._nodes((node,))
        present = self._node._edge_data(node, self._forward)
        if present != data:
            self._change(set() if present is None else nodes, nodes, data)

    def discard(self, node: object) -> None:
        """Remove an edge; nothing happens if it is not there."""
        if node in self:
            self._change(remove={node})

    def update(self, *nodes: GraphNode | Iterable[GraphNode]) -> None:
        """Add edges to nodes, given one by one or in iterables."""
        wanted: set[GraphNode] = set()
        for each in nodes:
            wanted |= self._nodes(each if isinstance(each, Iterable) else (each,))
        self._change(add=wanted - self._now())

    def clear(self) -> None:
        """Remove all edges."""
        self._change(remove=self._now())

    def replace(self, nodes: Iterable[GraphNode]) -> None:
        """Have edges to these nodes and no others."""
        wanted, now = self._nodes(nodes), self._now()
        self._change(remove=now - wanted, add=wanted - now)

    def _change(
        self, remove: Set[Any] = frozenset(), add: Set[Any] = frozenset(), data: EdgeData = FULL
    ) -> None:
        self._node._change(remove, add, self._forward, data)

    def _nodes(self, nodes: Iterable[Any]) -> set[GraphNode]:
        found = _each(nodes)
        for node in found:
            if not self._node._is_node(node):
                raise TypeError(f"expected GraphNode, got {type(node).__name__}")
        return set(found)

    def __ior__(self, nodes: Iterable[GraphNode]) -> AdjacencySet:  # type: ignore[override,misc]
        self.update(nodes)
        return self

    def __iand__(self, nodes: Iterable[Any]) -> AdjacencySet:
        self._change(remove=self._now().difference(_each(nodes)))
        return self

    def __isub__(self, nodes: Iterable[Any]) -> AdjacencySet:
        self._change(remove=self._now().intersection(_each(nodes)))
        return self

    def __ixor__(self, nodes: Iterable[GraphNode]) -> AdjacencySet:  # type: ignore[override,misc]
        self.replace(self._now() ^ self._nodes(nodes))
        return self


def _each(nodes: Iterable[Any]) -> list[Any]:
    if not isinstance(nodes, Iterable):
        raise TypeError(f"expected an iterable of nodes, got {type(nodes).__name__}")
    return list(nodes)
