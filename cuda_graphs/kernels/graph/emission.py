# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Nodes for the tasks of a kernel in a graph.

Each task becomes a KernelNode; consecutive tasks form a chain. Control flow between tasks becomes conditional nodes,
whose bodies contain tasks. Sections become branches, which an EmptyNode joins. Resident tasks share one node.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cuda_graphs.graph.operands.edge_data import EdgeData

__all__ = ["ConditionSlot", "Emission"]


class ConditionSlot(str):
    """The name of a condition that stands in the arguments of a task."""


class Emission:
    """Adds the nodes after `start`, a node or an empty definition.

    Args:
        launches: (LaunchConfig, Kernel, arguments, reads, writes) of each task.
        plan: The plan of the Artifact.
        early: The `early` of the Artifact: True makes edges between consecutive tasks programmatic.

    Attributes:
        last: The last of the nodes, or `start` if the plan is empty.
        nodes: The nodes of the tasks, by number.
        conditions: The Conditions, by name.
    """

    def __init__(self, start: Any, launches: Sequence[Any], plan: Sequence[Any], early: bool = False) -> None:
        self.launches, self.early = launches, early
        self.conditions: dict[str, Any] = {}
        self.nodes: dict[int, Any] = {}
        self.last = self.chain(start, plan)

    def chain(self, node: Any, plan: Sequence[Any]) -> Any:
        graph = getattr(node, "graph", node)
        for step in plan:
            if not isinstance(step, int) and step[0] != "parallel":
                _, name, initial, _ = step
                self.conditions[name] = graph.create_condition(default_value=initial)
        before = None
        for step in plan:
            if isinstance(step, int):
                node = self.task(node, step, before)
            elif step[0] == "parallel":
                node = self.sections(node, step[3])
            else:
                node = self.conditional(node, *step)
            before = step
        return node

    def sections(self, node: Any, plans: Sequence[Any]) -> Any:
        """Add a branch for each plan with tasks, and return the node that joins them."""
        ends = [self.chain(node, plan) for plan in plans if plan]
        if len(ends) > 1:
            return ends[0].join(*ends[1:])
        return ends[0] if ends else node

    def task(self, node: Any, number: int, before: Any) -> Any:
        """Add the KernelNode of a task after `node`. `before` is the step of the plan that added `node`, if any."""
        config, kernel, values, reads, writes = self.launches[number]
        edge = self.edge(before, number) if self.early and isinstance(before, int) else {}
        self.nodes[number] = node.launch(
            config, kernel, *self.arguments(values), reads=reads, writes=writes, **edge
        )
        return self.nodes[number]

    def arguments(self, values: Sequence[Any]) -> tuple[Any, ...]:
        """Return the arguments of a task, with its Conditions."""
        return tuple([self.conditions[v] if isinstance(v, ConditionSlot) else v for v in values])

    def edge(self, before: int, number: int) -> dict[str, EdgeData]:
        """Return the keyword `edge` of a launch, which is empty for a full edge.

        Edges of cooperative launches are full, as such a launch may need the whole device.
        """
        alone = any(self.launches[each][0].is_cooperative for each in (before, number))
        return {} if alone else {"edge": EdgeData.programmatic()}

    def conditional(self, node: Any, kind: str, name: str, initial: int | None, plans: Sequence[Any]) -> Any:
        condition = self.conditions[name]
        if kind == "while":
            added = node.while_loop(condition)
        elif kind == "switch":
            added = node.switch(condition, len(plans))
        else:
            added = node.if_then(condition) if len(plans) == 1 else node.if_else(condition)
        for body, plan in zip(added.branches, plans, strict=True):
            self.chain(body, plan)
        return added
