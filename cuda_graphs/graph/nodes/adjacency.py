# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""`node.pred` and `node.succ`: the edges of a node as sets that can be changed.

A view holds only its node and direction. Every read asks the driver. Every change is one driver call, whatever the
number of edges that it adds or removes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, MutableSet, Set
from typing import TYPE_CHECKING, Any, TypeVar

from cuda_graphs.graph.operands.edge_data import EdgeData

__all__ = ["AdjacencySet"]

FULL = EdgeData()
Node = TypeVar("Node")  # GraphNode, which imports this module


class AdjacencySet(MutableSet[Node]):
    """The predecessors or the successors of a node, as a live set: changes of the set change the graph.

    The class has all methods of MutableSet. `update` and the in-place operators take many nodes at once. Operators that
    return a new set return a plain `set`. Adding a node of another graph, the node itself, or a destroyed node raises
    CUDAError. Removing edges from a graph that allocates or frees memory raises CUDAError too (a rule of the driver).
    """

    __slots__ = ("_forward", "_node")

    def __init__(self, node: Any, forward: bool) -> None:
        self._node = node
        self._forward = forward

    @classmethod
    def _from_iterable(cls, nodes: Iterable[Any]) -> set[Any]:
        return set(nodes)

    if TYPE_CHECKING:
        # Like that of MutableSet, but of this class: mypy takes sets of a more special class for unequal.
        def __eq__(self, other: object) -> bool: ...

    def _now(self) -> set[Node]:
        nodes: set[Node] = self._node._neighbours(self._forward)
        return nodes

    def __contains__(self, node: object) -> bool:
        return self._node._is_node(node) and node in self._now()

    def __iter__(self) -> Iterator[Node]:
        return iter(self._now())

    def __len__(self) -> int:
        return len(self._now())

    def __repr__(self) -> str:
        return repr(self._now())

    def add(self, node: Node, data: EdgeData | None = None) -> None:
        """Add an edge, full or with `data`. An existing edge stays, and takes `data` if it is given."""
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
        """Remove an edge. Does nothing if there is no such edge."""
        if node in self:
            self._change(remove={node})

    def update(self, *nodes: Node | Iterable[Node]) -> None:
        """Add edges to nodes. Each argument is a node or an iterable of nodes."""
        wanted: set[Node] = set()
        for each in nodes:
            # An alloc node is iterable.
            wanted |= self._nodes(
                (each,) if not isinstance(each, Iterable) or self._node._is_node(each) else each
            )
        self._change(add=wanted - self._now())

    def clear(self) -> None:
        """Remove all edges."""
        self._change(remove=self._now())

    def replace(self, nodes: Iterable[Node]) -> None:
        """Replace all edges by edges to `nodes`."""
        wanted, now = self._nodes(nodes), self._now()
        self._change(remove=now - wanted, add=wanted - now)

    def _change(
        self, remove: Set[Any] = frozenset(), add: Set[Any] = frozenset(), data: EdgeData = FULL
    ) -> None:
        self._node._change(remove, add, self._forward, data)

    def _nodes(self, nodes: Iterable[Any]) -> set[Node]:
        found = _each(nodes)
        for node in found:
            if not self._node._is_node(node):
                raise TypeError(f"expected GraphNode, got {type(node).__name__}")
        return set(found)

    def __ior__(self, nodes: Iterable[Node]) -> AdjacencySet[Node]:  # type: ignore[override,misc]
        self.update(nodes)
        return self

    def __iand__(self, nodes: Iterable[Any]) -> AdjacencySet[Node]:
        self._change(remove=self._now().difference(_each(nodes)))
        return self

    def __isub__(self, nodes: Iterable[Any]) -> AdjacencySet[Node]:
        self._change(remove=self._now().intersection(_each(nodes)))
        return self

    def __ixor__(self, nodes: Iterable[Node]) -> AdjacencySet[Node]:  # type: ignore[override,misc]
        self.replace(self._now() ^ self._nodes(nodes))
        return self


def _each(nodes: Iterable[Any]) -> list[Any]:
    if not isinstance(nodes, Iterable):
        raise TypeError(f"expected an iterable of nodes, got {type(nodes).__name__}")
    return list(nodes)
