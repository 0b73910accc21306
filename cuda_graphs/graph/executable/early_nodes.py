# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Nodes of an executable that begin before their predecessors have ended, for `instantiate(early_edges=True)`.

kernels/call/early_edges.py finds the nodes, and their code. In the executable their edges are programmatic
(core/graphs/early_edges.hpp), and they have this code. The definition keeps its edges and its code.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any, NamedTuple

from cuda_graphs.objects import constructors

from .explanation import EarlyStart, label_of

if TYPE_CHECKING:
    from cuda_graphs.graph.nodes.node_kinds import KernelNode

__all__ = ["EarlyNode", "EarlyNodes", "Late"]


class EarlyNode(NamedTuple):
    """A node that begins early, the sources of its programmatic edges, the paths of the arrays that it reads before it
    waits for these, and its Kernel."""

    node: KernelNode
    sources: tuple[KernelNode, ...]
    paths: tuple[str, ...]
    kernel: Any


class Late(NamedTuple):
    """A node with full edges from other kernel nodes, and the reason."""

    sources: tuple[KernelNode, ...]
    node: KernelNode
    why: str


class EarlyNodes:
    """The early nodes of one executable.

    Attributes:
        nodes: The nodes that begin early.
        late: The neighbours with full edges.
    """

    def __init__(
        self, definition: Any, wanted: Collection[Any] | None = None, fused: Collection[KernelNode] = ()
    ) -> None:
        found = constructors.early_edges().find_early(definition, wanted, fused)
        self.nodes: list[EarlyNode] = found.nodes
        self.late: list[Late] = found.late

    def edges(self) -> list[tuple[KernelNode, KernelNode]]:
        """Return the programmatic edges, those of a target one after another."""
        return [(source, each.node) for each in self.nodes for source in each.sources]

    def again(self, definition: Any) -> EarlyNodes:
        """Return the same edges with the code for the present nodes of the definition.

        Raises:
            RuntimeError: One of the nodes cannot begin early any more.
        """
        found = EarlyNodes(definition, frozenset(self.edges()))
        if set(found.edges()) != set(self.edges()):
            why = "; ".join(str(each) for each in found.explain()[len(found.nodes) :])
            raise RuntimeError(
                "the Graph was made with early_edges=True, and the definition has changed so that an early edge has to "
                f"become a full one: instantiate it again ({why})"
            )
        found.late = self.late
        return found

    def apply(self, graph: Any) -> None:
        """Give the nodes of the executable their code."""
        for each in self.nodes:
            graph[each.node]._replace_code(each.kernel)

    def explain(self) -> tuple[EarlyStart, ...]:
        """Return the explanation, early nodes first."""
        early = [EarlyStart(label_of(each.node), labels(each.sources), each.paths, "") for each in self.nodes]
        late = [EarlyStart(label_of(each.node), labels(each.sources), (), each.why) for each in self.late]
        return (*early, *late)

    def ends(self) -> set[KernelNode]:
        """Return the nodes at early edges."""
        return {node for each in self.nodes for node in (each.node, *each.sources)}

    def marks(self) -> list[tuple[KernelNode, str]]:
        """Return each node at an early edge with the words of the error for its view."""
        words = "has an early edge in this Graph, which its present launch allows"
        return [(node, words) for node in self.ends()]


def labels(nodes: Collection[KernelNode]) -> tuple[str, ...]:
    return tuple(map(label_of, nodes))
