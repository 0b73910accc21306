# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Neighbouring nodes of an executable that run as one launch, for `instantiate(optimize=True)`.

The compiler finds groups of nodes and their common launch (kernels/call/node_fusion.py). In the executable the first
node of a group gets this launch, and the others are disabled. The definition keeps all of its nodes, as
updates of the executable need an unchanged structure.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from cuda_graphs.errors import CUDAError
from cuda_graphs.objects import constructors

from .explanation import NodeFusion, label_of

if TYPE_CHECKING:
    from cuda_graphs.graph.nodes.node_kinds import KernelNode

__all__ = ["FusedNodes", "Group", "Refused"]


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


class FusedNodes:
    """The fused nodes of one executable.

    Attributes:
        groups: The groups whose first node has the common launch.
        refused: The neighbours that stay apart.
    """

    def __init__(self) -> None:
        self.groups: list[Group] = []
        self.refused: list[Refused] = []

    def find(
        self,
        definition: Any,
        is_enabled: Callable[[KernelNode], bool] = lambda _: True,
        early: Collection[KernelNode] = (),
    ) -> None:
        """Find groups of the present nodes of the definition, without nodes at early edges."""
        self.groups, self.refused = constructors.node_fusion().find_groups(definition, is_enabled, early)

    def fuse(self, graph: Any, definition: Any, early: Collection[KernelNode] = ()) -> None:
        """Fuse what the present nodes of the definition allow. No node of the executable is fused before the call."""
        self.find(definition, lambda node: bool(graph[node].is_enabled), early)
        self.apply(graph)

    def apply(self, graph: Any) -> None:
        """Fuse the groups that were found."""
        found, self.groups = self.groups, []
        for group in found:
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

    def explain(self) -> tuple[NodeFusion, ...]:
        """Return the explanation, in the order of the groups and then of the refusals."""
        fused = [NodeFusion(tuple(map(label_of, each.nodes)), each.kernel.name, "") for each in self.groups]
        apart = [NodeFusion(tuple(map(label_of, each.nodes)), "", each.why) for each in self.refused]
        return (*fused, *apart)

    def sets(self) -> list[tuple[KernelNode, ...]]:
        """Return the nodes of each group."""
        return [group.nodes for group in self.groups]

    def nodes(self) -> set[KernelNode]:
        """Return the nodes of all groups."""
        return {node for group in self.groups for node in group.nodes}

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
