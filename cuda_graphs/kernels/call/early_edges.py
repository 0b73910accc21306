# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Edges that may be programmatic, for `instantiate(early_edges=True)`.

The target of such an edge is a node of a kernel of this package. Its code lets the kernels after it begin, loads the
arrays that no kernel writes which may still run, and waits for the ends of its predecessors
(codegen/ptx/early_loads.py). All of its stores come after the wait.

**Which kernels may still run** when a node begins: the sources of its programmatic edges, and those that may still run
when these begin. A source of a full edge has ended, and so has everything before it. The end of a kernel that waits
comes after the ends of its predecessors. So a chain of waits keeps the order of all stores.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence, Set
from typing import Any, NamedTuple

from cuda_graphs.compiler.errors import CompileError
from cuda_graphs.graph.analysis.order import CyclicError, Order
from cuda_graphs.graph.executable.early_nodes import EarlyNode, Late
from cuda_graphs.graph.nodes.node_kinds import AllocNode, FreeNode, KernelNode
from cuda_graphs.graph.operands.edge_data import PROGRAMMATIC, EdgeData
from cuda_graphs.graph.operands.spans import Span
from cuda_graphs.kernels.shapes import early_limit

from .call_parts import EarlyTask, listed_graphs

__all__ = ["Found", "find_early"]

FULL = (0, 0, 0)
MOST_RUNNING = 64  # kernels that may still run, whose writes are compared

Edge = tuple[KernelNode, KernelNode]


class Found(NamedTuple):
    """The nodes of a definition that begin early, and the neighbours of kernel nodes that do not."""

    nodes: list[EarlyNode]
    late: list[Late]


def find_early(
    definition: Any, wanted: Collection[Edge] | None = None, fused: Collection[KernelNode] = ()
) -> Found:
    """Return which nodes of a definition, and of the bodies of its nodes, may begin early.

    `wanted`: the only edges that are tried. None: all edges. `fused`: nodes that share their launch with others.
    """
    finder = Finder(wanted, fused)
    for nodes, edges in listed_graphs(definition):
        finder.add_graph(nodes, edges)
    return Found(finder.nodes, finder.late)


class Finder:
    """Collects early nodes."""

    def __init__(self, wanted: Collection[Edge] | None, fused: Collection[KernelNode]) -> None:
        self.wanted, self.fused = wanted, fused
        self.limit = early_limit() if wanted is None else None  # an update may make grids larger
        self.nodes: list[EarlyNode] = []
        self.late: list[Late] = []
        self.written: dict[Any, list[Span] | None] = {}  # by node; None for unknown memory

    def add_graph(self, nodes: Sequence[Any], edges: Sequence[tuple[Any, Any, tuple[int, int, int]]]) -> None:
        """Add the early nodes of one graph, in an order of the graph."""
        sources: dict[Any, list[Any]] = {}
        running: dict[Any, frozenset[Any] | None] = {}
        for source, target, data in edges:
            if data[2] == PROGRAMMATIC or data[0]:
                # An edge of the user: the source may run, and so may what it did not wait for.
                running[target] = None
            if isinstance(source, KernelNode) and isinstance(target, KernelNode):
                if data != FULL:
                    self.late.append(Late((source,), target, f"the edge has the data {EdgeData(*data)!r}"))
                elif source in self.fused or target in self.fused:
                    self.late.append(
                        Late((source,), target, "one of them shares its launch with other nodes")
                    )
                elif self.wanted is None or (source, target) in self.wanted:
                    sources.setdefault(target, []).append(source)
        if not sources:
            return
        if any(isinstance(node, AllocNode | FreeNode) and node._place() is None for node in nodes):
            self.late += [
                Late(
                    tuple(found),
                    target,
                    "its graph allocates or frees memory of a size, so a driver removes no edge",
                )
                for target, found in sources.items()
            ]
            return
        try:
            order = Order(nodes, [(source, target) for source, target, _ in edges]).nodes
        except CyclicError:
            return  # the driver refuses the definition, and its error is explained by instantiate
        targets: dict[Any, list[Any]] = {}
        for target, found in sources.items():
            for source in found:
                targets.setdefault(source, []).append(target)
        for node in order:
            if node in sources:
                self.add_node(node, sources[node], targets, running)

    def add_node(
        self,
        node: KernelNode,
        sources: Sequence[KernelNode],
        targets: Mapping[Any, Sequence[KernelNode]],
        running: dict[Any, frozenset[Any] | None],
    ) -> None:
        """Add a node if it may begin early.

        `targets`: the nodes that may begin early after a node. `running`: the nodes that may still run when a node
        begins; None for unknown ones.
        """
        task = node._early_task()
        if isinstance(task, str):
            self.late.append(Late(tuple(sources), node, f"{node.name} {task}"))
            return
        able = []
        for source in sources:
            if why := why_full(source, node) or self.why_large(source, node, sources, targets[source]):
                self.late.append(Late((source,), node, why))
            else:
                able.append(source)
        if not able:
            return
        now = still_running(able, running) if running.get(node, ()) is not None else None
        paths = early_paths(task, self.written_by_all(now))
        try:
            kernel = task.kernel(paths)
        except CompileError as error:
            kernel = f"cannot be compiled for an early begin: {error}"
        if isinstance(kernel, str):
            self.late.append(Late(tuple(able), node, f"{node.name} {kernel}"))
            return
        running[node] = now
        self.nodes.append(EarlyNode(node, tuple(able), paths, kernel))

    def written_by_all(self, nodes: Collection[Any] | None) -> set[Span] | None:
        """Return the memory that nodes write, or None if it is not known."""
        written: set[Span] = set()
        for node in nodes or ():
            if node not in self.written:
                self.written[node] = written_by(node)
            spans = self.written[node]
            if spans is None:
                return None
            written.update(spans)
        return None if nodes is None else written

    def why_large(
        self,
        source: KernelNode,
        target: KernelNode,
        sources: Sequence[KernelNode],
        targets: Sequence[KernelNode],
    ) -> str:
        """Return the reason why the kernels at an edge are too large to begin early, or "".

        `sources`: all sources of the target. `targets`: all targets of the source.
        """
        if self.limit is None:
            return ""
        groups = (target, *sources), (source, *targets)
        if any(each._has_size_rule() for group in groups for each in group):
            return "the sizes of their grids depend on parameters"
        fit = all(self.limit.holds([each.config for each in group]) for group in groups)
        if fit and self.limit.allows(source.config, target.config):
            return ""
        return "their grids are large, and a GPU places the blocks of early kernels more slowly"


def why_full(source: KernelNode, target: KernelNode) -> str:
    """Return the reason why the edge between two nodes stays full, or ""."""
    if source.config.is_cooperative:
        return f"{source.name} is a cooperative launch"
    if source._device() != target._device():
        return "they are on two devices"
    return ""


def still_running(
    sources: Sequence[Any], running: Mapping[Any, frozenset[Any] | None]
) -> frozenset[Any] | None:
    """Return the nodes that may still run when a node begins after early edges from `sources`. None: too many."""
    found = set(sources)
    for source in sources:
        before = running.get(source, frozenset())
        if before is None:
            return None
        found |= before
        if len(found) > MOST_RUNNING:
            return None
    return frozenset(found)


def early_paths(task: EarlyTask, writes: Set[Span] | None) -> tuple[str, ...]:
    """Return the arrays that a task only reads, and that share no byte with `writes`. None is unknown memory."""
    if writes is None:
        return ()
    return tuple(
        path
        for path, span in task.only_read.items()
        if span is not None and span.run and not any(map(span.meets, writes))
    )


def written_by(node: Any) -> list[Span] | None:
    """Return the memory that a node writes, or None if it is not known."""
    spans = node._written()
    return None if spans is None or None in spans else [span for span in spans if span.run]
