# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Fuses neighbouring parallel tasks: one launch, and one pass over memory.

    for i in b: b[i] = b[i] * 2; for i in b: b[i] = b[i] + c[i]     =>     for i in b: b[i] = b[i] * 2 + c[i]

The tasks have the same index space. An iteration of the fused loop is that of the first task, then that of the second.
This changes no result if the tasks depend on each other only within an iteration. So where one task writes an array
that the other one uses, both access it at the indices of the loop, in the same positions. Other arrays must not be the
same memory. Two parameters of one element type may be, so such a pair is a condition on calls: `Program.apart`.

Within an iteration, values pass in registers (forward_stores.py). A task is a candidate if its iterations are straight
code with branches. Each refusal has a reason, which `explain()` shows.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby

from cuda_graphs.compiler.artifact import MOST_LIGHT
from cuda_graphs.compiler.ir import ir

from .alias_classes import may_alias
from .copy import Copier
from .demote_atomics import positions
from .forward_stores import Numbers, forward_stores
from .fuse_tests import renumbered
from .propagate import without_unused

__all__ = ["fuse_tasks"]

# Statements of iterations that may share a loop. Their order among iterations cannot be seen.
STRAIGHT = (ir.Op, ir.Extent, ir.Load, ir.Store, ir.Get, ir.Set, ir.If)
# Other statements -> what they do.
REASONS: dict[type, str] = {
    ir.Atomic: "is atomic",
    ir.Print: "prints",
    ir.Assert: "checks a condition, which may end the task",
    ir.Exit: "may end the task",
    ir.Continue: "may end the iteration",
    ir.Call: "calls a function that is not inlined",
    ir.For: "is a loop in an iteration",
    ir.While: "is a loop in an iteration",
    ir.Worker: "depends on the thread that runs it",
}
PASSED = (ir.Space.PARAM, ir.Space.FIELD)  # the spaces of arrays whose ranges a call can compare
CONTRACTS = "fast_math=True may round a value differently if it does not pass through memory"

Pair = tuple[ir.Array, ir.Array]
Pairs = dict[Pair, None]


@dataclass(frozen=True)
class Access:
    """An access of a task. `at`: the positions of the loop's axes in the index; None if one is missing."""

    array: ir.Array
    at: tuple[int, ...] | None
    writes: bool
    line: int

    @property
    def verb(self) -> str:
        return "writes" if self.writes else "reads"


@dataclass
class Group:
    """One task, or several that become one. The loop is that of the first.

    numbers   of the tasks, and their `lines`
    why       the reason why the task shares its loop with no other; "" if it may
    prologue  the statements before the loop
    body      an iteration
    apart     pairs of arrays that must not overlap
    """

    numbers: list[int]
    lines: list[int]
    why: str
    loop: ir.For | None
    prologue: list[ir.Statement]
    body: ir.Block
    accesses: list[Access]
    apart: Pairs

    def joined(self, other: Group, apart: Pairs) -> Group:
        """Returns both groups as one."""
        assert self.loop is not None
        assert other.loop is not None
        apart = {**self.apart, **other.apart, **apart}

        def aliases(a: ir.Array, b: ir.Array) -> bool:
            return may_alias(a, b) and (a, b) not in apart and (b, a) not in apart

        axes = zip(self.loop.axes, other.loop.axes, strict=True)
        indices: dict[ir.Value, ir.Value] = {b.index: a.index for a, b in axes}
        second = Copier(indices).block(other.body)
        body = forward_stores(ir.Block([*self.body.body, *second.body]), aliases)
        return Group(
            self.numbers + other.numbers, self.lines + other.lines, "", self.loop,
            self.prologue + other.prologue, body, self.accesses + other.accesses, apart,
        )  # fmt: skip


def fuse_tasks(program: ir.Program, knows_calls: bool = True, contracts: bool = False) -> ir.Program:
    """Returns the program with fused tasks, `fusion`, and `apart`.

    `knows_calls`: the caller compares the arrays of each call. `contracts`: the code generator may contract floats.
    """
    fuser = _Fuser(program, knows_calls, contracts)
    plan = fuser.plan(program.plan)
    kept = sorted(ir.tasks_of(plan))
    numbers = {number: place for place, number in enumerate(kept)}
    return ir.replace(
        program, tasks=tuple(fuser.tasks[number] for number in kept), plan=renumbered(plan, numbers),
        fusion=tuple(sorted(fuser.notes)), apart=tuple(fuser.apart),
    )  # fmt: skip


class _Fuser:
    """`tasks`: by number. `notes` and `apart`: the results `fusion` and `apart` of ir.Program."""

    def __init__(self, program: ir.Program, knows_calls: bool, contracts: bool) -> None:
        self.tasks = list(program.tasks)
        self.knows_calls, self.contracts = knows_calls, contracts
        self.notes: list[tuple[tuple[int, ...], str]] = []
        self.apart: Pairs = {}

    def plan(self, plan: ir.Plan) -> ir.Plan:
        """Returns a plan with fused tasks. Tasks with a conditional or sections between them are no neighbours."""
        found: list[ir.Step] = []
        for is_task, run in groupby(plan, lambda step: isinstance(step, int)):
            steps = list(run)
            found += self.neighbours(steps) if is_task else map(self.inner_plans, steps)  # type: ignore[arg-type]
        return tuple(found)

    def inner_plans(self, step: ir.Branch | ir.Fork) -> ir.Branch | ir.Fork:
        return ir.replace(step, plans=tuple(self.plan(inner) for inner in step.plans))

    def neighbours(self, numbers: Iterable[int]) -> list[int]:
        """Fuses neighbouring tasks as far as possible, from the first on. Returns the numbers of what is left."""
        groups: list[Group] = []
        for number in numbers:
            following = group_of(number, self.tasks[number])
            found = self.join(groups[-1], following) if groups else ""
            if isinstance(found, Group):
                groups[-1] = found
                continue
            if groups:
                self.notes.append(((groups[-1].lines[-1], following.lines[0]), found))
            groups.append(following)
        for group in groups:
            if len(group.numbers) > 1:
                self.finish(group)
        return [group.numbers[0] for group in groups]

    def join(self, one: Group, other: Group) -> Group | str:
        """Returns two neighbours as one group, or the reason why they stay apart."""
        if one.why or other.why:
            return one.why or other.why
        if self.contracts:
            return CONTRACTS
        why = different_spaces(one, other)
        apart: Pairs = {}
        for a in one.accesses:
            for b in other.accesses:
                why = why or self.conflict(a, b, apart)
        if not why and {a.array for a in one.accesses}.isdisjoint(b.array for b in other.accesses):
            why = "they share no array, so one pass over memory is no less work"
        if why:
            return why
        found = one.joined(other, apart)
        length = sum(1 for _ in ir.walk(found.body))
        if length > MOST_LIGHT:
            return f"an iteration of both would have {length} statements, and fused ones have at most {MOST_LIGHT}"
        return found

    def conflict(self, a: Access, b: Access, apart: Pairs) -> str:
        """Returns the reason why iterations of two tasks depend on each other, or "". Adds a condition to `apart`."""
        if not (a.writes or b.writes) or not may_alias(a.array, b.array):
            return ""
        if a.array is b.array:
            if a.at is not None and a.at == b.at:
                return ""
            return f"line {b.line} {b.verb} {a.array.path!r} at other elements than line {a.line} {a.verb}"
        if self.knows_calls and a.array.space in PASSED and b.array.space in PASSED:
            if (b.array, a.array) not in apart:
                apart[a.array, b.array] = None
            return ""
        return (
            f"line {a.line} {a.verb} {a.array.path!r}, and line {b.line} {b.verb} {b.array.path!r}, which may be the "
            "same memory"
        )

    def finish(self, group: Group) -> None:
        """Replaces the first task of a group by the fused task."""
        assert group.loop is not None
        first = self.tasks[group.numbers[0]]
        loop = ir.replace(group.loop, body=group.body)
        body = without_unused(ir.Block([*group.prologue, loop]))
        made = next(each for each in body.body if isinstance(each, ir.For))
        self.tasks[group.numbers[0]] = ir.Task(first.name, body, made, first.loc)
        self.notes.append((tuple(group.lines), ""))
        self.apart.update(group.apart)


def group_of(number: int, task: ir.Task) -> Group:
    """Returns a task as a group."""
    line = ir.line_of(task.loc)
    before = [each for each in task.body.body if each is not task.loop]
    body = ir.Block() if task.loop is None else task.loop.body
    axes = () if task.loop is None else task.loop.axes
    accesses = [*accesses_of(ir.Block(before), ()), *accesses_of(body, axes)]
    return Group([number], [line], why_alone(task), task.loop, before, body, accesses, {})


def accesses_of(block: ir.Block, axes: tuple[ir.Axis, ...]) -> list[Access]:
    """Returns the accesses of a block to memory that tasks share. Without axes, an access has no positions."""
    return [
        Access(
            each.array, positions(axes, each.index) if axes else None, isinstance(each, ir.Store), ir.line_of(each.loc)
        )
        for each in ir.walk(block)
        if isinstance(each, (ir.Load, ir.Store)) and each.array.space is not ir.Space.LOCAL
    ]  # fmt: skip


def why_alone(task: ir.Task) -> str:
    """Returns the reason why a task shares its loop with no other, or ""."""
    line = ir.line_of(task.loc)
    if task.loop is None:
        return f"one thread runs the statements of line {line}"
    if task.loop.block_dim:
        return f"the threads of the loop of line {line} work together in blocks"
    if task.loop.settings not in (None, ir.LoopSettings()):
        return f"cg.loop_config sets how the loop of line {line} runs"
    for each in ir.walk(task.body):
        if each is not task.loop and not isinstance(each, STRAIGHT):
            return f"line {ir.line_of(each.loc)} {REASONS.get(type(each), 'is no plain statement')}"
    if task.body.body[-1] is not task.loop:
        return f"statements follow the loop of line {line}"
    return ""


def different_spaces(one: Group, other: Group) -> str:
    """Returns the reason why two loops have different index spaces, or ""."""
    numbers = Numbers()
    if space_of(one, numbers) == space_of(other, numbers):
        return ""
    return f"the loops of lines {one.lines[-1]} and {other.lines[0]} may have different index spaces"


def space_of(group: Group, numbers: Numbers) -> list[tuple[object, ...]]:
    """Returns a description of each axis; equal descriptions are equal axes."""
    assert group.loop is not None
    return [(a.index.type, a.step, numbers.of(a.begin), numbers.of(a.end)) for a in group.loop.axes]
