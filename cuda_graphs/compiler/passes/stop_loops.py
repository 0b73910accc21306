# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Lets the launching code end loops: the condition of a loop is set to 0 while a word of memory is not 0.

    set_condition c = x     =>     stop = load graph.stop.c; set_condition c = select(stop == 0, x, 0)

Each condition has a word of its own. A task of one thread loads the words first, so that the latency of these loads
overlaps with that of its other loads. The conditions are the parameters of the kernel, and those of its own loops if
these become conditional nodes.
"""

from __future__ import annotations

from cuda_graphs.compiler.artifact import STOP
from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.ir.types import bool_, u32

from .copy import Copier

__all__ = ["stop_loops"]


def stop_loops(program: ir.Program, own: bool) -> ir.Program:
    """Returns the program with words that end loops. `own` includes the loops of the kernel itself."""
    loops = conditions_of_loops(program.plan) if own else set()
    words: dict[ir.Condition, ir.Array] = {}
    tasks = []
    for task in program.tasks:
        found = [s.condition for s in ir.walk(task.body) if isinstance(s, ir.SetCondition)]
        stopped = dict.fromkeys(c for c in found if c.is_parameter or c in loops)
        for condition in stopped:
            words.setdefault(condition, ir.Array(f"{STOP}.{condition.name}", u32, 0, ir.Space.TEMP, ()))
        tasks.append(stoppable(task, {c: words[c] for c in stopped}) if stopped else task)
    return ir.replace(program, tasks=tuple(tasks), temps=(*program.temps, *words.values()))


def conditions_of_loops(plan: ir.Plan) -> set[ir.Condition]:
    """Returns the conditions of the loops in a plan."""
    branches = [step for step in ir.all_steps(plan) if isinstance(step, ir.Branch)]
    return {branch.condition for branch in branches if branch.kind in ir.LOOPS}


def stoppable(task: ir.Task, words: dict[ir.Condition, ir.Array]) -> ir.Task:
    """Returns the task with the words in the values of the conditions."""
    loads = {condition: ir.Load(word, (), task.loc) for condition, word in words.items()}
    is_early = task.loop is None
    body = _Selections(loads, is_early).block(task.body)
    if is_early:
        return ir.replace(task, body=ir.Block([*loads.values(), *body.body]))
    return ir.replace(task, body=body, loop=next(s for s in reversed(body.body) if isinstance(s, ir.For)))


class _Selections(Copier):
    def __init__(self, loads: dict[ir.Condition, ir.Load], is_early: bool) -> None:
        super().__init__()
        self.loads, self.is_early = loads, is_early

    def SetCondition(self, statement: ir.SetCondition) -> list[ir.Statement]:  # noqa: N802
        load = self.loads.get(statement.condition)
        if load is None:
            return [statement]
        made: list[ir.Statement] = []
        if not self.is_early:
            load = ir.replace(load)
            made.append(load)
        goes_on = ir.Op("equal", (load, ir.Const(0, u32)), bool_, statement.loc)
        value = ir.Op("select", (goes_on, statement.value, ir.Const(0, u32)), u32, statement.loc)
        return [*made, goes_on, value, ir.replace(statement, value=value)]
