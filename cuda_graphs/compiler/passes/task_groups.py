# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Groups of tasks for fuse_tasks.py: what a task accesses, how it runs, and two tasks as one."""

from __future__ import annotations

from cuda_graphs.compiler.artifact import bound_of
from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.ir.types import f32
from cuda_graphs.compiler.records import entity, record

from .alias_classes import aliases_of
from .copy import Copier
from .demote_atomics import positions
from .forward_stores import Numbers, forward_stores
from .free_order import order_matters

__all__ = [
    "REASONS", "SINES", "STRAIGHT", "Access", "Extents", "Group", "Pairs", "accesses_of", "are_equal",
    "different_spaces", "group_of",
]  # fmt: skip

# Statements of iterations that may share a loop. Their order among iterations cannot be seen.
STRAIGHT = (ir.Op, ir.Extent, ir.Load, ir.Store, ir.Get, ir.Set, ir.If, ir.Atomic)
# Other statements -> what they do.
REASONS: dict[type, str] = {
    ir.Print: "prints",
    ir.Assert: "checks a condition, which may end the task",
    ir.Exit: "may end the task",
    ir.Continue: "may end the iteration",
    ir.Call: "calls a function that is not inlined",
    ir.Fence: "orders its accesses to memory",
    ir.For: "is a loop in an iteration",
    ir.While: "is a loop in an iteration",
    ir.Worker: "depends on the thread that runs it",
}
# Functions of f32 of which a CPU has two implementations: whether iterations become lanes decides which one runs.
SINES = ("sin", "cos")
Pair = tuple[ir.Array, ir.Array]
Pairs = dict[Pair, None]
Extents = dict[tuple[object, object], None]  # pairs of results of `bound_of`


@record
class Access:
    """An access of a task.

    at    the positions of the loop's axes in the index; None if one is missing
    kind  the kind of an atomic; "" for other accesses
    """

    array: ir.Array
    at: tuple[int, ...] | None
    writes: bool
    line: int
    kind: str = ""

    @property
    def verb(self) -> str:
        return "changes" if self.kind else "writes" if self.writes else "reads"


@entity
class Group:
    """One task, or several that become one. The loop is that of the first; None for statements of one thread.

    numbers   of the tasks, and their `lines`
    why       the reason why the task shares its loop with no other; "" if it may
    straight  the statements are plain: nothing but their accesses depends on their place
    prologue  the statements before the loop
    body      an iteration
    apart     pairs of arrays that must not overlap
    equal     pairs of extents that must be equal
    again     what iterations compute again, in words (fuse_stencils.py)
    """

    numbers: list[int]
    lines: list[int]
    why: str
    straight: bool
    loop: ir.For | None
    prologue: list[ir.Statement]
    body: ir.Block
    accesses: list[Access]
    apart: Pairs
    equal: Extents
    again: tuple[str, ...] = ()

    @property
    def is_movable(self) -> bool:
        """True for statements of one thread that may change places with a loop."""
        return self.loop is None and self.straight

    def followed_by(self, other: Group) -> Group:
        """Returns two groups of statements of one thread as one."""
        return Group(
            self.numbers + other.numbers, self.lines + other.lines, self.why, True, None,
            self.prologue + other.prologue, self.body, self.accesses + other.accesses, {**self.apart, **other.apart},
            {},
        )  # fmt: skip

    def joined(self, other: Group, apart: Pairs, equal: Extents) -> Group:
        """Returns the groups of two loops as one, under further conditions on calls."""
        assert self.loop is not None
        assert other.loop is not None
        apart = {**self.apart, **other.apart, **apart}
        axes = zip(self.loop.axes, other.loop.axes, strict=True)
        indices: dict[ir.Value, ir.Value] = {b.index: a.index for a, b in axes}
        second = Copier(indices).block(other.body)
        body = forward_stores(ir.Block([*self.body.body, *second.body]), aliases_of(apart))
        return Group(
            self.numbers + other.numbers, self.lines + other.lines, "", True, self.loop,
            self.prologue + other.prologue, body, self.accesses + other.accesses, apart,
            {**self.equal, **other.equal, **equal}, self.again,
        )  # fmt: skip


def group_of(number: int, task: ir.Task, large: bool) -> Group:
    """Returns a task as a group. `large`: its sums of floats have no fixed order."""
    line = ir.line_of(task.loc)
    before = [each for each in task.body.body if each is not task.loop]
    body = ir.Block() if task.loop is None else task.loop.body
    axes = () if task.loop is None else task.loop.axes
    accesses = [*accesses_of(ir.Block(before), ()), *accesses_of(body, axes)]
    why, odd = why_alone(task), odd_statement(task, large)
    return Group([number], [line], why or odd, not odd, task.loop, before, body, accesses, {}, {})


def accesses_of(block: ir.Block, axes: tuple[ir.Axis, ...]) -> list[Access]:
    """Returns the accesses of a block to memory that tasks share. Without axes, an access has no positions."""
    return [
        Access(
            each.array, positions(axes, each.index) if axes else None, not isinstance(each, ir.Load),
            ir.line_of(each.loc), each.kind if isinstance(each, ir.Atomic) else "",
        )
        for each in ir.walk(block)
        if isinstance(each, (ir.Load, ir.Store, ir.Atomic)) and isinstance(each.array, ir.Array)
    ]  # fmt: skip


def why_alone(task: ir.Task) -> str:
    """Returns the reason why the loop of a task shares its iterations with no other, apart from their statements."""
    line = ir.line_of(task.loc)
    if task.loop is None:
        return f"one thread runs the statements of line {line}"
    if task.loop.block_dim:
        return f"the threads of the loop of line {line} work together in blocks"
    if task.loop.settings not in (None, ir.LoopSettings()):
        return f"cg.loop_config sets how the loop of line {line} runs"
    if task.body.body[-1] is not task.loop:
        return f"statements follow the loop of line {line}"
    return ""


def odd_statement(task: ir.Task, large: bool) -> str:
    """Returns the reason why a statement of a task may not be among those of another task, or ""."""
    used = {value for each in ir.walk(task.body) for value in ir.operands_of(each)}
    for each in ir.walk(task.body):
        if isinstance(each, ir.Atomic):
            why = order_matters(each, used, large)
            if why:
                return why
        elif task.loop is not None and isinstance(each, ir.Op) and each.name in SINES and each.type == f32:
            return f"line {ir.line_of(each.loc)} takes a sine of f32, whose last bit depends on the rest of the loop"
        elif each is not task.loop and not isinstance(each, STRAIGHT):
            return f"line {ir.line_of(each.loc)} {REASONS.get(type(each), 'is no plain statement')}"
    return ""


def different_spaces(one: Group, other: Group, equal: Extents | None) -> str:
    """Returns the reason why two loops may have different index spaces, or "".

    `equal`: gets the pairs of extents that calls must compare. None: calls do not compare extents.
    """
    assert one.loop is not None
    assert other.loop is not None
    numbers = Numbers()
    axes = list(zip(one.loop.axes, other.loop.axes, strict=False))
    if len(one.loop.axes) == len(other.loop.axes) and all(
        a.index.type == b.index.type
        and a.step == b.step
        and are_equal(a.begin, b.begin, numbers, equal)
        and are_equal(a.end, b.end, numbers, equal)
        for a, b in axes
    ):
        return ""
    return f"the loops of lines {one.lines[-1]} and {other.lines[0]} may have different index spaces"


def are_equal(a: ir.Value, b: ir.Value, numbers: Numbers, equal: Extents | None) -> bool:
    """Returns whether two bounds are equal if the extents in `equal` are. Adds such pairs."""
    if numbers.of(a) == numbers.of(b):
        return True
    match a, b:
        case ir.Extent(), ir.Extent():
            if equal is None or not a.array.space is b.array.space is ir.Space.PARAM:
                return False
            equal[bound_of(a), bound_of(b)] = None
            return True
        case ir.Op(), ir.Op():
            pairs = zip(a.args, b.args, strict=False)
            same = (a.name, a.type, len(a.args)) == (b.name, b.type, len(b.args))
            return same and all(are_equal(x, y, numbers, equal) for x, y in pairs)
    return False
