# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Lets the host begin iterations of a loop with host calls before it knows whether they are needed.

    while c: {a task; host call; a task that sets c}   =>   repeated c: {if c: a task; host call; if c: a task ...}

The tasks do nothing once the condition in memory is 0. The host may then start several iterations, and read the
condition after the last of them. Host objects keep no results of such a call if the condition is 0. A body with control
flow stays as it is, since the host reads a condition there anyway, and so do bodies with loops of blocks.
"""

from __future__ import annotations

from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.ir.types import bool_, u32

__all__ = ["REPEATED", "mask_loops"]

REPEATED = "repeated"  # the kind of such a loop


def mask_loops(program: ir.Program) -> ir.Program:
    """Returns the program with loops whose iterations the host may begin in advance."""
    masker = _Masker(program)
    plan = masker.plan(program.plan)
    return ir.replace(program, tasks=tuple(masker.tasks), plan=plan)


class _Masker:
    def __init__(self, program: ir.Program) -> None:
        self.tasks = list(program.tasks)
        self.arrays = {array.path: array for array in program.temps}

    def plan(self, plan: ir.Plan) -> ir.Plan:
        return tuple(self.step(step) for step in plan)

    def step(self, step: ir.Step) -> ir.Step:
        if not isinstance(step, (ir.Branch, ir.Fork)):
            return step
        if isinstance(step, ir.Branch) and step.kind == "while" and self.is_straight(step.plans[0]):
            for number in ir.tasks_of(step.plans[0]):
                self.tasks[number] = masked(self.tasks[number], self.arrays[step.condition.name])
            return ir.replace(step, kind=REPEATED)
        return ir.replace(step, plans=tuple(self.plan(inner) for inner in step.plans))

    def is_straight(self, plan: ir.Plan) -> bool:
        """Returns whether a body is a sequence of calls and of tasks without cooperating threads."""
        calls = [step for step in plan if isinstance(step, ir.HostStep)]
        tasks = [self.tasks[step] for step in plan if isinstance(step, int)]
        blocks = any(task.loop is not None and task.loop.block_dim for task in tasks)
        return bool(calls) and len(calls) + len(tasks) == len(plan) and not blocks


def masked(task: ir.Task, condition: ir.Array) -> ir.Task:
    """Returns the task that does nothing if the condition is 0."""
    load = ir.Load(condition, (), task.loc)
    ended = ir.Op("equal", (load, ir.Const(0, u32)), bool_, task.loc)
    if task.loop is None:
        rest = ir.If(ended, ir.Block(), ir.Block(task.body.body), task.loc)
        return ir.replace(task, body=ir.Block([load, ended, rest]))
    first, *others = task.loop.axes
    end = ir.Op("select", (ended, first.begin, first.end), first.index.type, task.loc)
    loop = ir.replace(task.loop, axes=(ir.replace(first, end=end), *others))
    body: list[ir.Statement] = [load, ended]
    for statement in task.body.body:
        body += [end, loop] if statement is task.loop else [statement]
    return ir.replace(task, body=ir.Block(body), loop=loop)
