# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Cuts a kernel into tasks. Each parallel loop is a task. The statements between two of them are a task of one thread.

A task recomputes a value of an earlier task if the value depends only on parameters and extents. The bounds of most
loops thus need no task of their own. A load moves into the loop whose bounds it feeds, if no statement between them or
in the loop may write to its memory, and no assert guards it. All other values pass through memory of the kernel
(Space.TEMP).

The blocks of a Conditional and of Sections are cut separately: nothing moves across their edges, and nothing across
the call of an object of the host.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from itertools import pairwise
from typing import Any

from cuda_graphs.compiler.artifact import bound_of
from cuda_graphs.compiler.errors import CompileTypeError, compile_error
from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.ir.host_calls import Argument
from cuda_graphs.compiler.records import entity

from .alias_classes import may_alias
from .copy import Copier

__all__ = ["offload"]


@entity
class Segment:
    """The statements of one task, before they are copied into it."""

    body: list[ir.Statement] = field(default_factory=list)
    loop: ir.For | None = None

    def all_statements(self) -> list[ir.Statement]:
        return list(ir.walk(ir.Block(self.body)))


@entity
class NestedSegments:
    """A Conditional or Sections with its blocks cut."""

    statement: ir.Conditional | ir.Sections
    blocks: list[list[Item]]


Item = Segment | NestedSegments | ir.HostCall


def offload(kernel: ir.Kernel) -> ir.Program:
    """Returns the kernel as a program of tasks."""
    items = split_into_segments(kernel.body)
    boundaries = TaskBoundaries(list(segments_of(items)))
    segments = boundaries.tasks
    results = tuple(
        ir.Array(f"return.{i}", type, 0, ir.Space.TEMP, ()) for i, type in enumerate(kernel.returns)
    )
    tasks = tuple(
        boundaries.task(kernel, number, segment, results) for number, segment in enumerate(segments)
    )
    plan = make_plan(items, {segment: number for number, segment in enumerate(segments)})
    own = [array for array in kernel.arrays if array.space is ir.Space.TEMP]
    return ir.Program(
        kernel, tasks, plan, (*own, *boundaries.temps.values(), *results), results, apart=kernel.apart
    )


def split_into_segments(body: ir.Block) -> list[Item]:
    """Returns the segments in order. The segment of a parallel loop has the loop, and loads that feed its bounds.

    Some segments only compute values (`is_task`).
    """
    items: list[Item] = []
    run: list[Segment] = [Segment()]  # segments without a conditional between them

    def finish() -> None:
        found = [segment for segment in run if segment.body]
        sink_bounds(found)
        items.extend(found)
        run[:] = [Segment()]

    for statement in body.body:
        if isinstance(statement, (ir.Conditional, ir.Sections)):
            finish()
            items.append(
                NestedSegments(statement, [split_into_segments(block) for block in statement.blocks])
            )
        elif isinstance(statement, ir.HostCall):
            finish()
            items.append(statement)
        elif isinstance(statement, ir.For) and statement.parallel:
            run += [Segment([statement], statement), Segment()]
        else:
            run[-1].body.append(statement)
    finish()
    return items


def segments_of(items: list[Item]) -> Iterator[Segment]:
    """Yields all segments, in the order of the source."""
    for item in items:
        if isinstance(item, Segment):
            yield item
        elif isinstance(item, NestedSegments):
            for block in item.blocks:
                yield from segments_of(block)


def make_plan(items: list[Item], numbers: dict[Segment, int]) -> ir.Plan:
    """Returns the numbers of the segments, nested like their levels, with the calls of the host between them."""
    return tuple(
        make_step(item, numbers) for item in items if not isinstance(item, Segment) or item in numbers
    )


def make_step(item: Item, numbers: dict[Segment, int]) -> ir.Step:
    if isinstance(item, ir.HostCall):
        return host_step(item)
    return numbers[item] if isinstance(item, Segment) else make_nested_plan(item, numbers)


def host_step(call: ir.HostCall) -> ir.HostStep:
    return ir.HostStep(call.object, call.method, tuple(plain(each, call) for each in call.args), call.loc)


def plain(argument: Any, call: ir.HostCall) -> Argument:
    """Returns an argument of a call of the host as ir/host_calls.py describes it."""
    match argument:
        case tuple():
            return "tuple", tuple(plain(each, call) for each in argument)
        case ir.HostConstant():
            return "constant", argument.value
        case ir.HostMethod():
            return "method", argument.name
        case ir.Array():
            return "array", argument.path, argument.element.name, argument.ndim, argument.inner
    bound = bound_of(argument)
    if bound is None:
        raise compile_error(
            CompileTypeError, call.loc, f"{call.object}.{call.method} gets a number that is known on the device only",
            "compute it from parameters and extents, with +, -, *, //, min and max",
        )  # fmt: skip
    return "number", bound


def make_nested_plan(nested: NestedSegments, numbers: dict[Segment, int]) -> ir.Branch | ir.Fork:
    plans = tuple(make_plan(block, numbers) for block in nested.blocks)
    of = nested.statement
    return ir.Fork(plans) if isinstance(of, ir.Sections) else ir.Branch(of.kind, of.condition, plans)


def is_task(segment: Segment) -> bool:
    """Returns whether a segment does more than compute values, which the tasks that need them compute themselves."""
    return not all(isinstance(statement, (ir.Op, ir.Extent)) for statement in segment.body)


def writes(segment: Segment) -> list[ir.Array]:
    return [
        s.array
        for s in ir.walk_called(ir.Block(segment.body))
        if isinstance(s, (ir.Store, ir.Atomic)) and isinstance(s.array, ir.Array)
    ]


def sink_bounds(segments: list[Segment]) -> None:
    """Moves loads that only feed the bounds of the next loop to the front of its segment."""
    for before, after in pairwise(segments):
        if before.loop is not None or after.loop is None:
            continue
        # A thread whose assert fails leaves its task only, so loads behind an assert stay in the task.
        is_guarded = any(isinstance(each, ir.Assert) for each in ir.walk_called(ir.Block(before.body)))
        written = writes(after)
        moved: list[ir.Statement] = []
        while before.body and may_move(before.body[-1], is_guarded, written):
            moved.insert(0, before.body.pop())
        after.body[:0] = moved


def may_move(statement: ir.Statement, is_guarded: bool, written: list[ir.Array]) -> bool:
    """Returns whether the last statement of a segment may move to the next segment, which writes these arrays."""
    if isinstance(statement, ir.Load):
        return not is_guarded and not any(may_alias(statement.array, array) for array in written)
    return isinstance(statement, (ir.Op, ir.Extent))


class TaskBoundaries:
    """The values and locals that tasks pass to later tasks, and the temporary array of each.

    tasks  the segments that are tasks
    """

    def __init__(self, segments: list[Segment]) -> None:
        self.tasks = list(filter(is_task, segments))
        self.temps: dict[ir.Value | ir.Local, ir.Array] = {}
        self.home: dict[ir.Value, Segment] = {}
        users: dict[ir.Local, set[int]] = {}
        for number, segment in enumerate(segments):
            for statement in segment.all_statements():
                if isinstance(statement, ir.Value):
                    self.home[statement] = segment
                local = getattr(statement, "local", None)
                if isinstance(statement, ir.Atomic) and isinstance(statement.array, ir.Local):
                    local = statement.array
                if local is not None:
                    users.setdefault(local, set()).add(number)
        for local, where in users.items():
            if len(where) > 1:
                self.add(local, local.name)
        for segment in self.tasks:
            for statement in segment.all_statements():
                for value in ir.operands_of(statement):
                    self.pass_value(value, segment)

    def add(self, what: ir.Value | ir.Local, name: str) -> ir.Array:
        if what not in self.temps:
            self.temps[what] = ir.Array(f"{name}.{len(self.temps)}", what.type, 0, ir.Space.TEMP, ())
        return self.temps[what]

    def pass_value(self, value: ir.Value, segment: Segment) -> None:
        """Gives a value that `segment` uses a temporary, if another segment computes it and it cannot be recomputed."""
        home = self.home.get(value)
        if home is None or home is segment:
            return
        if isinstance(value, (ir.Op, ir.Extent)):
            for operand in ir.operands_of(value):
                self.pass_value(operand, segment)
        else:
            self.add(value, "value")

    def task(
        self, kernel: ir.Kernel, number: int, segment: Segment, results: tuple[ir.Array, ...]
    ) -> ir.Task:
        copier = TaskCopier(self, segment, results)
        block = copier.block(ir.Block(segment.body))
        block.body[:0] = copier.prologue
        loop = next((s for s in block.body if isinstance(s, ir.For) and s.parallel), None)
        kind = "loop" if loop is not None else "serial"
        name = f"{kernel.name}_{number}_{kind}"
        if loop is not None and loop.settings is not None and loop.settings.name:
            name = f"{kernel.name}_{number}_{loop.settings.name}"
        return ir.Task(name, block, loop, getattr(segment.body[0], "loc", None))


class TaskCopier(Copier):
    """Copies a segment into a task. It fetches values of other segments first, and turns shared locals into memory."""

    def __init__(self, boundaries: TaskBoundaries, segment: Segment, results: tuple[ir.Array, ...]) -> None:
        super().__init__()
        self.boundaries, self.segment, self.results = boundaries, segment, results
        self.prologue: list[ir.Statement] = []

    def part(self, part: object) -> object:
        if isinstance(part, ir.Value) and part not in self.values:
            home = self.boundaries.home.get(part)
            if home is not None and home is not self.segment:
                return self.fetch(part)
        return super().part(part)

    def fetch(self, value: ir.Value) -> ir.Value:
        temp = self.boundaries.temps.get(value)
        if temp is not None:
            made: ir.Value = ir.Load(temp, (), value.loc)
        elif isinstance(value, ir.Op):
            made = ir.Op(value.name, tuple(self.part(arg) for arg in value.args), value.type, value.loc)  # type: ignore[misc]
        else:
            assert isinstance(value, ir.Extent)
            made = ir.Extent(value.array, value.axis, value.type, value.loc)
        self.prologue.append(made)
        self.values[value] = made
        return made

    def statement(self, statement: ir.Statement) -> list[ir.Statement]:
        made = super().statement(statement)
        temp = self.boundaries.temps.get(statement) if isinstance(statement, ir.Value) else None
        if temp is not None:  # another task reads it
            stored = ir.Store(temp, (), made[-1], statement.loc)  # type: ignore[arg-type]
            self_value = self.values[statement]  # type: ignore[index]
            made = [*made, stored]
            self.values[statement] = self_value  # type: ignore[index]
        return made

    def Get(self, get: ir.Get) -> list[ir.Statement]:  # noqa: N802
        temp = self.boundaries.temps.get(get.local)
        return [get] if temp is None else [ir.Load(temp, (), get.loc)]

    def Set(self, statement: ir.Set) -> list[ir.Statement]:  # noqa: N802
        temp = self.boundaries.temps.get(statement.local)
        return [statement] if temp is None else [ir.Store(temp, (), statement.value, statement.loc)]

    def Atomic(self, atomic: ir.Atomic) -> list[ir.Statement]:  # noqa: N802
        if isinstance(atomic.array, ir.Local):
            temp = self.boundaries.temps[atomic.array]
            return [ir.Atomic(atomic.kind, temp, (), atomic.value, atomic.compare, atomic.loc)]
        return [atomic]

    def Return(self, statement: ir.Return) -> list[ir.Statement]:  # noqa: N802
        pairs = zip(self.results, statement.values, strict=True)
        return [ir.Store(array, (), value, statement.loc) for array, value in pairs]
