# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The result of `Graph.explain`: what the options of an instantiation have done to the nodes of an executable."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cuda_graphs.graph.nodes.node_kinds import KernelNode

__all__ = ["EarlyStart", "GraphExplanation", "NodeFusion", "label_of"]


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
class EarlyStart:
    """A kernel node that begins before kernel nodes in front of it have ended, or the reason why it does not.

    Attributes:
        node: The name of the node with the line that added it, such as "scale (file.py:12)".
        after: The same of the nodes in front of it.
        loads: The paths of the arrays that it reads before they have ended.
        why: The reason why it begins after their ends; "" for a node that begins early.
    """

    node: str
    after: tuple[str, ...]
    loads: tuple[str, ...]
    why: str

    @property
    def is_early(self) -> bool:
        """True if the node begins early."""
        return not self.why

    def __str__(self) -> str:
        begin = f"{self.node} after {', '.join(self.after)}"
        if self.why:
            return f"{begin}: full edge: {self.why}"
        return f"{begin}: begins early" + (f", and reads {', '.join(self.loads)} first" if self.loads else "")


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
        texts = []
        if self.early is None or self.fusion:
            lines = [f"  {each}" for each in self.fusion]
            texts += ["fusion of nodes:", *(lines or ["  no kernel node has a kernel node as its neighbour"])]
        if self.early is not None:
            lines = [f"  {each}" for each in self.early]
            texts += ["early edges:", *(lines or ["  no kernel node has an edge from a kernel node"])]
        return "\n".join(texts)


def label_of(node: KernelNode) -> str:
    """Return the name of a node with its line, as "scale (file.py:12)"."""
    source = node.source
    return node.name if source is None else f"{node.name} ({source.rpartition('/')[2]})"
