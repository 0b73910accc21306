# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""What a picture shows of an executable: values of parameters, disabled nodes, and early edges."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cuda_graphs.errors import CUDAError
from cuda_graphs.graph.nodes.node_kinds import KernelNode, MemcpyNode, MemsetNode
from cuda_graphs.graph.operands.array_values import ArrayValue

if TYPE_CHECKING:
    from cuda_graphs.graph.nodes.protocols import Definition

__all__ = ["State", "state_of"]

TIMES = "\N{MULTIPLICATION SIGN}"


@dataclass(frozen=True)
class State:
    """The values of parameters by name, as texts, the disabled nodes, and the edges that are programmatic in it."""

    values: Mapping[str, str] = field(default_factory=dict)
    disabled: Set[Any] = frozenset()
    early: Set[tuple[Any, Any]] = frozenset()


def state_of(executable: Any, definition: Definition) -> State:
    """Return the State of an executable that was made from the definition."""
    values = {name: value_text(name, each.type, each.value) for name, each in executable.params.items()}
    return State(values, frozenset(disabled_nodes(executable, definition)), executable._early_edges())


def value_text(name: str, type_name: str, value: Any) -> str:
    """Return a parameter with its value. An address, which differs from run to run, is not shown."""
    if value is None:
        return f"{name}: no value"
    if isinstance(value, ArrayValue):
        return f"{name}: array {TIMES.join(map(str, value.shape)) or 'number'}"
    if type_name == "pointer":
        return f"{name}: an address"
    return f"{name} = {value:.7g}" if isinstance(value, float) else f"{name} = {value}"


def disabled_nodes(executable: Any, definition: Definition) -> Iterator[Any]:
    """Yield the nodes that the executable skips, as far as the driver reports them.

    A driver may report nothing of nodes in bodies. An executable has no answer for nodes that were added later, and
    none at all after an update from an edited definition.
    """
    graphs = [definition]
    for graph in graphs:  # the loop appends to the list
        for node in graph.nodes():
            graphs += node._inner_graphs()
            if isinstance(node, KernelNode | MemsetNode | MemcpyNode) and is_disabled(executable, node):
                yield node


def is_disabled(executable: Any, node: Any) -> bool:
    try:
        return not executable[node].is_enabled
    except (CUDAError, ValueError):
        return False
