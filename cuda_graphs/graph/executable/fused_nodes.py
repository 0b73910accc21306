# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Neighbouring nodes of an executable that run as one launch, for `instantiate(optimize=True)`.

The compiler finds groups of nodes and their common launch (kernels/call/node_fusion.py). In the executable the first
node of a group gets this launch, and the others are disabled. The definition keeps all of its nodes, as
updates of the executable need an unchanged structure.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from cuda_graphs.errors import CUDAError
from cuda_graphs.objects import constructors

if TYPE_CHECKING:
    from cuda_graphs.graph.nodes.node_kinds import KernelNode

    from .early_nodes import EarlyStart

__all__ = ["FusedNodes", "GraphExplanation", "Group", "NodeFusion", "Refused", "label_of"]


class Group(NamedTuple):
    """Nodes that may run as one launch, in their order, and the config, the Kernel and the arguments of that launch."""

    nodes: tuple[KernelNode, ...]
    config: Any
    kernel: Any
    arguments: tuple[Any, ...]


class Refused(NamedTuple):
    """Two neighbours that do not share a launch, and the reason."""

    nodes: tuple[KernelNode, ...]
    why: str


@dataclass(frozen=True)
class NodeFusion:
    """Neighbouring kernel nodes that run as one launch, or two neighbours that do not.

    Attributes:
        nodes: The name of each node with the line that added it, such as "scale (file.py:12)".
        launch: The name of the kernel that runs all of them; "" for nodes that are not fused.
        why: The reason against it; "" for fused nodes.
    """

    nodes: tuple[str, ...]
    launch: str
    why: str

    @property
    def is_fused(self) -> bool:
        """True if the nodes run as one launch."""
        return bool(self.launch)

    def __str__(self) -> str:
        result = f"fused as {self.launch}" if self.is_fused else f"not fused: {self.why}"
        return f"{', '.join(self.nodes)}: {result}"


@dataclass(frozen=True)
class GraphExplanation:
    """The result of `Graph.explain`: what `instantiate(optimize=True)` or `early_edges=True` did, a line for each case.

    Attributes:
        fusion: A NodeFusion for each fused group, and for each pair of neighbouring kernel nodes that are not fused.
        early: An EarlyStart for each kernel node behind other kernel nodes; None without early_edges=True.
    """

    fusion: tuple[NodeFusion, ...]
    early: tuple[EarlyStart, ...] | None = None

    def __str__(self) -> str:
        if self.early is not None:
            starts = [f"  {each}" for each in self.early] or [
                "  no kernel node has an edge from a kernel node"
            ]
            return "\n".join(["early edges:", *starts])
        lines = [f"  {each}" for each in self.fusion] or [
            "  no kernel node has a kernel node as its neighbour"
        ]
        return "\n".join(["fusion of nodes:", *lines])


def label_of(node: KernelNode) -> str:
    """Return the name of a node with its line, as "scale (file.py:12)"."""
    source = node.source
    return node.name if source is None else f"{node.name} ({source.rpartition('/')[2]})"


class FusedNodes:
    """The fused nodes of one executable.

    Attributes:
        groups: The groups whose first node has the common launch.
        refused: The neighbours that stay apart.
    """

    def __init__(self) -> None:
        self.groups: list[Group] = []
        self.refused: list[Refused] = []

    def fuse(self, graph: Any, definition: Any) -> None:
        """Fuse what the present nodes of the definition allow. No node of the executable is fused before the call."""

        def is_enabled(node: KernelNode) -> bool:
            return bool(graph[node].is_enabled)

        found = constructors.node_fusion().find_groups(definition, is_enabled)
        self.groups, self.refused = [], found.refused
        for group in found.groups:
            try:
                set_group(graph, group)
            except CUDAError as error:
                self.refused.append(
                    Refused(group.nodes, f"the driver refuses to change the nodes ({error.args[0]})")
                )
            else:
                self.groups.append(group)

    def refuse_all(self, why: str) -> None:
        """Note that no node is fused."""
        self.groups, self.refused = [], [Refused((), why)]

    def switch(self, graph: Any, on: bool) -> None:
        """Enable the nodes that other nodes run, or disable them again."""
        for group in self.groups:
            for node in group.nodes[1:]:
                view = graph[node]
                view.enable() if on else view.disable()

    def explain(self) -> GraphExplanation:
        """Return the explanation, in the order of the groups and then of the refusals."""
        fused = [NodeFusion(tuple(map(label_of, each.nodes)), each.kernel.name, "") for each in self.groups]
        apart = [NodeFusion(tuple(map(label_of, each.nodes)), "", each.why) for each in self.refused]
        return GraphExplanation((*fused, *apart))

    def marks(self) -> list[tuple[KernelNode, str]]:
        """Return each fused node with the words of the error for its view."""
        return [
            (
                node,
                "has no launch of its own in this Graph: it runs in the launch of "
                f"{group.kernel.name}, which also runs {named(group.nodes, node)}",
            )
            for group in self.groups
            for node in group.nodes
        ]


def named(nodes: Sequence[KernelNode], node: KernelNode) -> str:
    return ", ".join(label_of(each) for each in nodes if each is not node)


def set_group(graph: Any, group: Group) -> None:
    """Let the first node of a group do the work of all. After an error nothing has changed."""
    first, *others = (graph[node] for node in group.nodes)
    undo: list[Callable[[], None]] = []
    try:
        for view in others:
            view.disable()
            undo.append(view.enable)
        first.update(config=group.config, kernel=group.kernel, args=group.arguments)
    except BaseException:
        for enable in undo:
            enable()
        raise
