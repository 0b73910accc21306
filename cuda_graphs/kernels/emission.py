# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Tasks of a kernel as nodes of a graph: a KernelNode each, in a chain. Control flow between them is conditional nodes,
whose bodies hold tasks; sections are branches, which one EmptyNode joins. Resident tasks are one node together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cuda_graphs.graph.edge_data import EdgeData

__all__ = ["ConditionSlot", "Emission"]


class ConditionSlot(str):
    """The name of a condition, among the arguments of a task."""


class Emission:
    """Adds the nodes after `start`, a node or an empty definition.

    Args:
        launches: (LaunchConfig, Kernel, arguments, reads, writes) of each task.
        plan: That of the Artifact.
        early: As the Artifact has it: edges from task to task are programmatic.

    Attributes:
        last: The last of the nodes; `start` where there are none.
        nodes: Those of the tasks, by number.
        conditions: Condition by name.
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
        """A branch for each that has tasks."""
        ends = [self.chain(node, plan) for plan in plans if plan]
        if len(ends) > 1:
            return ends[0].join(*ends[1:])
        return ends[0] if ends else node

    def task(self, node: Any, number: int, before: Any) -> Any:
        """`before`: the step of the plan that `node` is, if any."""
        config, kernel, values, reads, writes = self.launches[number]
        values = [self.conditions[v] if isinstance(v, ConditionSlot) else v for v in values]
        edge = self.edge(before, number) if self.early and isinstance(before, int) else {}
        self.nodes[number] = node.launch(config, kernel, *values, reads=reads, writes=writes, **edge)
        return self.nodes[number]

    def edge(self, before: int, number: int) -> dict[str, EdgeData]:
        """The `edge` of a node. Cooperative launches begin when all is over: they may need the whole device."""
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
