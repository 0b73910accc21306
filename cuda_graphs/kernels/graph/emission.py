# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Nodes for the tasks of a kernel in a graph.

Each task becomes a KernelNode; consecutive tasks form a chain. Control flow between tasks becomes conditional nodes,
whose bodies contain tasks. Sections become branches, which an EmptyNode joins. Resident tasks share one node. Host
objects add the nodes of their calls themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from cuda_graphs.compiler.artifact import STOP
from cuda_graphs.compiler.ir.ir import LOOPS
from cuda_graphs.graph.operands.edge_data import EdgeData
from cuda_graphs.graph.operands.stop_words import StopWord
from cuda_graphs.kernels.shapes import early_limit
from cuda_graphs.objects.code.kernel import Kernel
from cuda_graphs.objects.code.launch_config import LaunchConfig

from .host_calls import BoundCall

__all__ = ["ConditionSlot", "Emission", "TaskLaunch"]


class ConditionSlot(str):
    """The name of a condition, or of the word that ends its loop, that stands in the arguments of a task."""


class TaskLaunch(NamedTuple):
    """The launch of one task, as a KernelNode.

    Attributes:
        config: The grid and the block.
        kernel: The compiled task.
        arguments: Its arguments, with a ConditionSlot for each condition.
        reads, writes: Owners of the arrays that the task accesses.
    """

    config: LaunchConfig
    kernel: Kernel
    arguments: tuple[Any, ...]
    reads: Sequence[Any]
    writes: Sequence[Any]


class Emission:
    """Adds the nodes after `start`, a node or an empty definition.

    Args:
        launches: The TaskLaunch of each task.
        plan: The plan of the Artifact.
        early: The `early` of the Artifact: True makes edges between consecutive tasks programmatic.
        calls: The BoundCall of each call of a host object, in the order of the plan.

    Attributes:
        last: The last of the nodes, or `start` if the plan is empty.
        nodes: The nodes of the tasks, by number.
        conditions: The Conditions and the words that end loops, by name.
        count: The number of nodes added, including nodes in bodies of conditional nodes.
    """

    def __init__(
        self,
        start: Any,
        launches: Sequence[TaskLaunch],
        plan: Sequence[Any],
        early: bool = False,
        calls: Sequence[BoundCall] = (),
    ) -> None:
        self.launches, self.early, self.count = launches, early, 0
        for call in calls:
            call.check()
        self.calls = iter(calls)
        self.conditions: dict[str, Any] = {}
        self.nodes: dict[int, Any] = {}
        self.last = self.add_chain(start, plan)

    def add_chain(self, node: Any, plan: Sequence[Any]) -> Any:
        """Add the nodes of a plan after `node`, one after another, and return the last of them."""
        graph = getattr(node, "graph", node)
        for step in plan:
            if not isinstance(step, int) and step[0] not in ("parallel", "call"):
                _, name, initial, _ = step
                self.conditions[name] = condition = graph.create_condition(default_value=initial)
                if step[0] in LOOPS:
                    self.conditions[f"{STOP}.{name}"] = StopWord.of(condition.handle)
        before = None
        for step in plan:
            if isinstance(step, int):
                node = self.add_task(node, step, before)
            elif step[0] == "parallel":
                node = self.add_sections(node, step[3])
            elif step[0] == "call":
                node = next(self.calls).emit(node)
                self.count += 1
            else:
                node = self.add_conditional(node, *step)
            before = step
        return node

    def add_sections(self, node: Any, plans: Sequence[Any]) -> Any:
        """Add a branch for each plan with tasks, and return the node that joins them."""
        ends = [self.add_chain(node, plan) for plan in plans if plan]
        if len(ends) > 1:
            self.count += 1
            return ends[0].join(*ends[1:])
        return ends[0] if ends else node

    def add_task(self, node: Any, number: int, before: Any) -> Any:
        """Add the KernelNode of a task after `node`. `before` is the step of the plan that added `node`, if any."""
        task = self.launches[number]
        edge = self.edge_keyword(before, number) if self.early and isinstance(before, int) else {}
        self.nodes[number] = node.launch(
            task.config, task.kernel, *self.arguments(number), reads=task.reads, writes=task.writes, **edge
        )
        self.count += 1
        return self.nodes[number]

    def arguments(self, number: int) -> tuple[Any, ...]:
        """Return the arguments of a task, with its Conditions."""
        values = self.launches[number].arguments
        return tuple([self.conditions[v] if isinstance(v, ConditionSlot) else v for v in values])

    def edge_keyword(self, before: int, number: int) -> dict[str, EdgeData]:
        """Return the keyword `edge` of a launch, which is empty for a full edge.

        Edges of cooperative launches are full, as such a launch may need the whole device. Edges of large launches are
        full too, as their blocks would be placed more slowly.
        """
        one, other = (self.launches[each].config for each in (before, number))
        limit = early_limit()
        is_large = limit is not None and not limit.allows(one, other)
        alone = one.is_cooperative or other.is_cooperative or is_large
        return {} if alone else {"edge": EdgeData.programmatic()}

    def add_conditional(
        self, node: Any, kind: str, name: str, initial: int | None, plans: Sequence[Any]
    ) -> Any:
        """Add a conditional node with the nodes of one plan in each body, and return it."""
        condition = self.conditions[name]
        if kind == "while":
            added = node.while_loop(condition)
        elif kind == "switch":
            added = node.switch(condition, len(plans))
        else:
            added = node.if_then(condition) if len(plans) == 1 else node.if_else(condition)
        self.count += 1
        for body, plan in zip(added.branches, plans, strict=True):
            self.add_chain(body, plan)
        return added
