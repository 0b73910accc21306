# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Resident tasks: one function that calls the functions of the tasks in the order of their plan.

The function reads conditions in memory. Targets define how threads wait for each other. The class here is for a CPU,
where one thread runs everything.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cuda_graphs.compiler.artifact import Layout, layout
from cuda_graphs.compiler.ir import ir

if TYPE_CHECKING:
    from .emitter import Emitter

__all__ = ["ResidentTasks", "slots_of"]


def slots_of(step: int | ir.Resident, program: ir.Program) -> Layout:
    """Return the parameters of the entry of a step. The functions of a resident entry's tasks have the same ones."""
    if isinstance(step, int):
        return layout(program.tasks[step])
    tasks = [program.tasks[number] for number in ir.tasks_of(step.plan)]
    return layout(*tasks, words=step.words)


class ResidentTasks:
    """Emits the body of the function.

    Args:
        e: The emitter, which has received the parameters.
        arguments: Text of the arguments of a task.
    """

    def __init__(
        self, e: Emitter, resident: ir.Resident, program: ir.Program, slots: Layout, arguments: str
    ) -> None:
        self.e, self.resident, self.tasks, self.arguments = e, resident, program.tasks, arguments
        self.conditions = {slot.path: what for slot, what in slots if isinstance(what, ir.Array)}
        self.stop = e.slot("i32")  # the word that ends loops, as it was last loaded
        e.line(f"store i32 0, ptr {self.stop}")

    def run(self) -> None:
        """Emit the whole plan."""
        self.plan(self.resident.plan)

    def plan(self, plan: ir.Plan) -> None:
        for step in plan:
            match step:
                case int():
                    self.task(self.tasks[step])
                case ir.Branch():
                    self.synchronise()
                    self.branch(step)
                case ir.Fork():
                    self.sections(step)
                case ir.Exchange():
                    self.exchange(step)

    def sections(self, fork: ir.Fork) -> None:
        """Emit sections one after the other, as any order is allowed."""
        for plan in fork.plans:
            self.plan(plan)

    def body(self, plan: ir.Plan) -> None:
        """Emit a part of the plan, followed by a barrier."""
        self.plan(plan)
        self.synchronise()

    def synchronise(self) -> None:
        """Emit a barrier: all threads wait until all tasks so far are done."""

    def task(self, task: ir.Task) -> None:
        self.call(task)

    def exchange(self, step: ir.Exchange) -> None:
        """Emit a reduction over all ranks."""
        raise TypeError(f"{step.call.object}.{step.call.method} is not resident on this target")

    def call(self, task: ir.Task) -> None:
        self.e.line(f"call void @{task.name}({self.arguments})")

    # Control flow, which is the same in all threads

    def branch(self, branch: ir.Branch) -> None:
        if branch.kind == "switch":
            self.switch(branch)
        elif branch.kind == "if":
            self.if_else(branch)
        else:
            self.loop(branch)

    def condition_value(self, condition: ir.Condition) -> str:
        """Emit a load of the condition; return its value."""
        array = self.conditions[condition.name]
        return self.e.let(f"load i32, {self.e.pointer(array)} {self.e.addresses[array]}")

    def holds(self, condition: ir.Condition) -> str:
        return self.e.let(f"icmp ne i32 {self.condition_value(condition)}, 0")

    def read_stop(self) -> None:
        """Emit a load of the word that ends loops. An iteration begins with it, so that its latency is hidden."""
        array = self.resident.stop
        assert array is not None
        word = self.e.let(f"load volatile i32, {self.e.pointer(array)} {self.e.addresses[array]}")
        self.e.line(f"store i32 {word}, ptr {self.stop}")

    def is_stopped(self) -> str:
        return self.e.let(f"icmp ne i32 {self.e.let(f'load i32, ptr {self.stop}')}, 0")

    def goes_on(self, condition: ir.Condition) -> str:
        """Emit the test of a loop; return its value."""
        return self.e.let(f"select i1 {self.is_stopped()}, i1 false, i1 {self.holds(condition)}")

    def loop(self, branch: ir.Branch) -> None:
        e = self.e
        head, again, after = (e.label(stem) for stem in ("round", "again", "over"))
        e.line(f"br label %{head if branch.kind == 'do' else again}")
        e.start(head)
        self.read_stop()
        self.body(branch.plans[0])
        e.jump(again)
        e.start(again)
        e.jump_if(self.goes_on(branch.condition), head, after)
        e.start(after)

    def if_else(self, branch: ir.Branch) -> None:
        e = self.e
        labels = [e.label("taken") for _ in branch.plans]
        after = e.label("chosen")
        otherwise = labels[1] if len(labels) > 1 else after
        e.jump_if(self.holds(branch.condition), labels[0], otherwise)
        self.cases(branch, labels, after)

    def switch(self, branch: ir.Branch) -> None:
        e = self.e
        labels = [e.label("case") for _ in branch.plans]
        after = e.label("chosen")
        cases = " ".join(f"i32 {number}, label %{label}" for number, label in enumerate(labels))
        e.line(f"switch i32 {self.condition_value(branch.condition)}, label %{after} [{cases}]")
        self.cases(branch, labels, after)

    def cases(self, branch: ir.Branch, labels: list[str], after: str) -> None:
        for label, plan in zip(labels, branch.plans, strict=True):
            self.e.start(label)
            self.body(plan)
            self.e.jump(after)
        self.e.start(after)
