# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Tasks of a kernel as nodes of a graph: a KernelNode each, in a chain. Control flow between them is conditional nodes,
whose bodies hold tasks; sections are branches, which one EmptyNode joins. Resident tasks are one node together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = ["ConditionSlot", "Emission"]


class ConditionSlot(str):
    """The name of a condition, among the arguments of a task."""


class Emission:
    """Adds the nodes after `start`, a node or an empty definition.

    Args:
        launches: (LaunchConfig, Kernel, arguments, reads, writes) of each task.
        plan: That of the Artifact.

    Attributes:
        last: The last of the nodes; `start` where there are none.
        nodes: Those of the tasks, by number.
        conditions: Condition by name.
    """

    def __init__(self, start: Any, launches: Sequence[Any], plan: Sequence[Any]) -> None:
        self.launches = launches
        self.conditions: dict[str, Any] = {}
        self.nodes: dict[int, Any] = {}
        self.last = self.chain(start, plan)

    def chain(self, node: Any, plan: Sequence[Any]) -> Any:
        graph = getattr(node, "graph", node)
        for step in plan:
            if not isinstance(step, int) and step[0] != "parallel":
                _, name, initial, _ = step
                self.conditions[name] = graph.create_condition(default_value=initial)
        for step in plan:
            if isinstance(step, int):
                node = self.task(node, step)
            elif step[0] == "parallel":
                node = self.sections(node, step[3])
            else:
                node = self.conditional(node, *step)
        return node

    def sections(self, node: Any, plans: Sequence[Any]) -> Any:
        """A branch for each that has tasks."""
        ends = [self.chain(node, plan) for plan in plans if plan]
        if len(ends) > 1:
            return ends[0].join(*ends[1:])
        return ends[0] if ends else node

    def task(self, node: Any, number: int) -> Any:
        config, kernel, values, reads, writes = self.launches[number]
        values = [self.conditions[v] if isinstance(v, ConditionSlot) else v for v in values]
        self.nodes[number] = node.launch(config, kernel, *values, reads=reads, writes=writes)
        return self.nodes[number]

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
