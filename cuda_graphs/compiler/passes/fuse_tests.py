# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Moves the test of a loop's condition into the parallel task before it. The last thread of that task does the test.

    while {1: a loop, 2: set_condition load flag}   =>   while {1: a loop, the last thread: set_condition load flag}

After statements of one thread, the test is in their task anyway. A thread that an assert ends early would not be
counted, so a task with asserts keeps the test separate. The counter is memory of the graph. Therefore the pass applies
only to graphs that never run twice at the same time: the private graphs of kernels.
"""

from __future__ import annotations

from cuda_graphs.compiler.artifact import BARRIER
from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.ir.types import u32

__all__ = ["fuse_tests"]


def fuse_tests(program: ir.Program) -> ir.Program:
    """Returns the program with tests of conditions in the last tasks of loop bodies."""
    fuser = _Fuser(program)
    plan = fuser.plan(program.plan)
    kept = sorted(ir.tasks_of(plan))
    numbers = {number: place for place, number in enumerate(kept)}
    tasks = tuple(fuser.tasks[number] for number in kept)
    temps = (*program.temps, *fuser.counters)
    return ir.replace(program, tasks=tasks, plan=renumbered(plan, numbers), temps=temps)


class _Fuser:
    def __init__(self, program: ir.Program) -> None:
        self.tasks = list(program.tasks)
        self.counters: list[ir.Array] = []

    def plan(self, plan: ir.Plan) -> ir.Plan:
        return tuple(self.step(step) for step in plan)

    def step(self, step: ir.Step) -> ir.Step:
        if not isinstance(step, (ir.Branch, ir.Fork)):
            return step
        plans = tuple(self.plan(inner) for inner in step.plans)
        if isinstance(step, ir.Branch) and step.kind == "while":
            plans = tuple(self.body(inner) for inner in plans)
        return ir.replace(step, plans=plans)

    def body(self, plan: ir.Plan) -> ir.Plan:
        """Returns the plan of a loop's body with its test fused, if possible."""
        if len(plan) < 2 or not isinstance(plan[-1], int) or not isinstance(plan[-2], int):
            return plan
        loop, test = self.tasks[plan[-2]], self.tasks[plan[-1]]
        if loop.loop is None or not is_test(test) or ends_early(loop):
            return plan
        counter = ir.Array(f"{BARRIER}.last.{len(self.counters)}", u32, 0, ir.Space.TEMP, ())
        self.counters.append(counter)
        last = ir.Last(test.body, counter, test.loc)
        self.tasks[plan[-2]] = ir.replace(loop, body=ir.Block([*loop.body.body, last]))
        return plan[:-1]


def is_test(task: ir.Task) -> bool:
    """Returns whether the task changes only conditions and its own variables."""
    pure = (ir.Load, ir.Op, ir.Extent, ir.Get, ir.Set, ir.If, ir.SetCondition)
    return task.loop is None and all(isinstance(each, pure) for each in ir.walk(task.body))


def ends_early(task: ir.Task) -> bool:
    """Returns whether a thread may end before the others."""
    return any(isinstance(each, (ir.Assert, ir.Exit)) for each in ir.walk_called(task.body))


def renumbered(plan: ir.Plan, numbers: dict[int, int]) -> ir.Plan:
    """Returns the plan with new task numbers."""

    def step(old: ir.Step) -> ir.Step:
        if isinstance(old, int):
            return numbers[old]
        assert not isinstance(old, ir.Resident)
        return ir.replace(old, plans=tuple(renumbered(inner, numbers) for inner in old.plans))

    return tuple(step(old) for old in plan)
