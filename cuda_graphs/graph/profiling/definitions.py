# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Known: what a profile keeps of a definition that was launched, so that it does not keep the definition itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from cuda_graphs.graph.display.reading import read_nodes

from .watch import WeakDefinition

if TYPE_CHECKING:
    from cuda_graphs.graph.nodes.protocols import Definition

__all__ = ["Known"]


class Known:
    """A definition that was launched.

    of       a weak reference to the definition
    scene    its nodes
    handles  the handle of each node, by key (Box.key)
    traffic  bytes that a run of a node reads and writes, by key, as far as they are known
    kernels  the name of the kernel of each kernel node, by key
    """

    def __init__(self, definition: Definition) -> None:
        self.of = WeakDefinition(definition)
        self.scene, nodes = read_nodes(definition, "Graph")
        self.handles: dict[str, int] = {key: node._raw() or 0 for key, node in nodes.items()}
        self.traffic: dict[str, int] = {}
        self.kernels: dict[str, str] = {}
        for key, node in nodes.items():
            kind = type(node).__name__
            size = TRAFFIC[kind](node) if kind in TRAFFIC else None
            if size is not None:
                self.traffic[key] = size
            if kind == "KernelNode":
                self.kernels[key] = node.kernel.name  # type: ignore[attr-defined]


def kernel_traffic(node: Any) -> int | None:
    """Return the bytes of the declared accesses; None if there are none, or if a parameter decides their size."""
    reads, writes = node._declared()
    if reads is None or writes is None:
        return None
    spans = (*reads, *writes)
    if not spans or any(not isinstance(span.start, int) for span in spans):
        return None
    return sum(int(span.run * span.runs) for span in spans)


TRAFFIC: Mapping[str, Any] = {
    "KernelNode": kernel_traffic,
    "MemcpyNode": lambda node: 2 * node.size,
    "MemsetNode": lambda node: node.width * node.height * node.element_size,
}
