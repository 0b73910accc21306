# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Writes of one element by two iterations of a parallel loop, found by running the indices of some iterations.

This decides what the affine forms of indices leave open, such as x[i] and x[n - 1 - i], or x[k] in a `while` that
changes k. All extents and integer parameters get one number, then another. An offset by a parameter therefore stays
apart: it is usually the length of something. Elements of arrays and other data are symbols: equal symbols are equal
numbers, and all else about them is unknown.

A branch on data or on parameters runs both ways. A loop whose number of iterations is unknown runs its first iteration,
and then one in which all that the loop changes is unknown: a parameter may always be smaller than a stride.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from contextlib import suppress
from itertools import chain, count, islice, product
from typing import Any, NamedTuple

import numpy as np

from cuda_graphs.compiler.ir import ir, ops
from cuda_graphs.compiler.ir.scalars import scalar

from .program_points import ProgramPoints

__all__ = ["Write", "meeting_writes"]

SIZES = (6, 9)  # of all extents and parameters: an even and an odd number
FEWEST_ITERATIONS, MOST_ITERATIONS = 8, 1000  # of a parallel loop
MOST_STEPS = 30000  # statements of a parallel loop that run, unless the fewest iterations need more
MOST_ROUNDS = 16  # iterations of a serial loop
MOST_STATEMENTS = 2000  # of an iteration, or of the kernel itself

Write = ir.Store | ir.Atomic


def meeting_writes(
    kernel: ir.Kernel, points: ProgramPoints, pairs: set[tuple[Write, Write]]
) -> set[tuple[Write, Write]]:
    """Return the pairs of writes of which two iterations write one element, in samples of each size.

    One of the two iterations certainly writes it, and the other one does for some data. Two stores of one value do not
    count.
    """
    found = set(pairs)
    for size in SIZES:
        sampler = Sampler(points, found, size)
        found &= sampler.meetings(kernel)
        if not (found and sampler.has_sizes):
            break
    return found


class Sample(NamedTuple):
    """A value in one iteration: a number, or a symbol plus a number.

    varies    whether it may differ between iterations of the parallel loop
    is_exact  whether it is the same number for all sizes and data
    """

    symbol: Hashable
    number: Any
    varies: bool = False
    is_exact: bool = False

    @property
    def key(self) -> tuple[Hashable, Any]:
        """Equal keys are equal values."""
        return self.symbol, self.number


class OutOfSteps(Exception):
    """The iteration has run as many statements as it may."""


class Sampler:
    """Runs a kernel in normal form on samples.

    known       values and locals of the current unit
    loop        the parallel loop that runs, and `iteration` the number of its iteration
    changed     arrays that this loop changes
    has_sizes   whether an extent or a parameter was used
    is_certain  whether the iteration runs the current statement for all data
    jumped      whether the statements that ran last ended in a `break`; None if data decides
    elements    (array, indices) -> (write, value, is_certain) -> numbers of the iterations
    """

    def __init__(self, points: ProgramPoints, pairs: set[tuple[Write, Write]], size: int) -> None:
        self.points, self.pairs, self.size = points, pairs, size
        self.recorded = {write for pair in pairs for write in pair}
        self.numbers = count()
        self.symbols: dict[Hashable, int] = {}
        self.known: dict[ir.Value | ir.Local, Sample] = {}
        self.loop: ir.For | None = None
        self.iteration = 0
        self.steps = 0
        self.has_sizes = False
        self.is_certain = True
        self.jumped: bool | None = False
        self.changed: set[ir.Array | ir.Local] = set()
        self.elements: dict[Hashable, dict[tuple[Write, Hashable, bool], set[int]]] = {}

    def meetings(self, kernel: ir.Kernel) -> set[tuple[Write, Write]]:
        """Return the pairs of writes of which two iterations write one element."""
        self.steps = self.allowance(kernel.body)
        with np.errstate(all="ignore"), suppress(OutOfSteps):  # what was found before remains true
            self.block(kernel.body)
        return {
            (a, b)
            for writes in self.elements.values()
            for ((a, x, is_sure), ours), ((b, y, is_other_sure), theirs) in product(writes.items(), repeat=2)
            if (a, b) in self.pairs and (is_sure or is_other_sure) and len(ours | theirs) > 1
            if not (isinstance(b, ir.Store) and x == y)
        }

    def allowance(self, block: ir.Block) -> int:
        return max(MOST_STATEMENTS, sum(1 for _ in ir.walk(block)))

    # Statements

    def block(self, block: ir.Block) -> None:
        self.jumped = False
        for statement in block.body:
            self.steps -= 1
            if self.steps < 0:
                raise OutOfSteps
            self.statement(statement)

    def statement(self, statement: ir.Statement) -> None:
        match statement:
            case ir.Op():
                self.known[statement] = self.result(statement)
            case ir.Load():
                self.known[statement] = self.loaded(statement)
            case ir.Get():
                self.known[statement] = self.known.get(statement.local) or self.unknown()
            case ir.Set():
                self.known[statement.local] = self.value(statement.value)
            case ir.Extent():
                self.known[statement] = self.sized(statement)
            case ir.Store() | ir.Atomic():
                self.write(statement)
            case ir.If():
                self.branch(statement)
            case ir.For():
                self.parallel(statement) if statement.parallel else self.serial(statement)
            case ir.While():
                self.while_loop(statement)
            case ir.Break():
                self.jumped = True

    def write(self, write: Write) -> None:
        if isinstance(write.array, ir.Local):
            self.known[write.array] = self.unknown()
        if write not in self.recorded:
            return
        at = write.array, tuple(self.value(index).key for index in write.index)
        what = write, self.value(write.value).key, self.is_certain
        self.elements.setdefault(at, {}).setdefault(what, set()).add(self.iteration)

    def branch(self, statement: ir.If) -> None:
        condition = self.value(statement.condition)
        is_known = condition.symbol is None and (condition.is_exact or condition.varies)
        if is_known and condition.is_exact:
            self.block(statement.then if condition.number else statement.orelse)
            return
        was_certain, changed = self.is_certain, self.points.written(statement)
        before = {local: self.known.get(local) for local in changed}
        self.is_certain = was_certain and self.is_test(statement) and not condition.varies
        outcomes: list[dict[ir.Local, Sample | None]] = []
        jumps = set()
        for block, is_true in ((statement.then, True), (statement.orelse, False)):
            if is_known and is_true != bool(condition.number):
                continue
            self.known |= {local: value for local, value in before.items() if value is not None}
            self.known[statement.condition] = Sample(None, np.bool_(is_true), False, True)
            self.block(block)
            jumps.add(self.jumped)
            outcomes.append({local: self.known.get(local) for local in changed})
        self.known[statement.condition], self.is_certain = condition, was_certain
        self.jumped = jumps.pop() if len(jumps) == 1 else None
        for local in changed:
            self.known[local] = self.merged([values[local] for values in outcomes], condition)

    def is_test(self, statement: ir.If) -> bool:
        """Return True for the test of a `while`, the last statement of its body."""
        owner = self.points.owner.get(self.points.home[statement])
        return isinstance(owner, ir.While) and owner.body.body[-1] is statement

    def merged(self, values: list[Sample | None], condition: Sample) -> Sample:
        """Return the value of a local after the blocks of a branch that data may decide."""
        first = values[0]
        varies = condition.varies or any(each is None or each.varies for each in values)
        if first is None or any(each is None or each.key != first.key for each in values):
            return self.unknown(varies)
        is_exact = len(values) == 2 and all(each is not None and each.is_exact for each in values)
        return Sample(first.symbol, first.number, varies, is_exact)

    # Loops

    def parallel(self, loop: ir.For) -> None:
        outside, steps, left = self.known, self.steps, MOST_STEPS
        allowance = self.allowance(loop.body)
        self.loop, self.changed = loop, {s.array for s in ir.walk(loop.body) if isinstance(s, Write)}
        for number, indices in enumerate(self.iterations(loop)):
            self.iteration = number
            self.known, self.steps, self.is_certain = {**outside, **indices}, allowance, True
            with suppress(OutOfSteps):
                self.block(loop.body)
            left -= allowance - self.steps
            if left < 0 and number + 1 >= FEWEST_ITERATIONS:
                break
        self.loop, self.known, self.steps = None, outside, steps
        self.forget(loop)

    def iterations(self, loop: ir.For) -> Iterator[dict[ir.Value | ir.Local, Sample]]:
        """Yield the variables of the first and last iterations of each axis."""
        many = MOST_STEPS // sum(1 for _ in ir.walk(loop.body))
        most = round(min(max(many, FEWEST_ITERATIONS), MOST_ITERATIONS) ** (1 / len(loop.axes)))
        for point in product(*(ends(self.span(axis), most) for axis in loop.axes)):
            yield {
                axis.index: self.index(axis, at, varies=True, is_exact=True)
                for axis, at in zip(loop.axes, point, strict=True)
            }

    def span(self, axis: ir.Axis) -> range:
        """Return the numbers of a loop variable, without the symbol of the begin."""
        begin, end = self.value(axis.begin), self.value(axis.end)
        if begin.symbol == end.symbol:
            return range(int(begin.number), int(end.number), axis.step)
        return range(int(begin.number), int(begin.number) + self.size * axis.step, axis.step)

    def index(self, axis: ir.Axis, at: int, varies: bool, is_exact: bool) -> Sample:
        """Return a loop variable. A begin that is a symbol is a part of it."""
        symbol = self.value(axis.begin).symbol
        return Sample(symbol, scalar(at, axis.index.type), varies, is_exact and symbol is None)

    def serial(self, loop: ir.For) -> None:
        (axis,) = loop.axes
        begin, end = self.value(axis.begin), self.value(axis.end)
        is_exact, span = begin.is_exact and end.is_exact, self.span(axis)
        if not span:
            return
        for at in span[: MOST_ROUNDS if is_exact else 1]:
            self.known[axis.index] = self.index(axis, at, begin.varies or end.varies, is_exact)
            self.block(loop.body)
            if self.jumped is not False:
                break
        if self.jumped is None or (not self.jumped and (not is_exact or len(span) > MOST_ROUNDS)):
            self.any_round(loop)
        self.jumped = False

    def while_loop(self, loop: ir.While) -> None:
        for _ in range(MOST_ROUNDS):
            self.block(loop.head)
            condition = self.value(loop.condition)
            if not condition.is_exact:
                break
            if not condition.number:
                return
            self.block(loop.body)
        self.any_round(loop)

    def any_round(self, loop: ir.For | ir.While) -> None:
        """Run an iteration of a serial loop of which nothing is known."""
        self.forget(loop)
        was_certain, self.is_certain = self.is_certain, False
        if isinstance(loop, ir.For):
            self.known[loop.axes[0].index] = self.unknown()
        else:
            self.block(loop.head)
        self.block(loop.body)
        self.is_certain, self.jumped = was_certain, False
        self.forget(loop)

    def forget(self, statement: ir.Statement) -> None:
        """Make the locals that a statement changes unknown."""
        for local in self.points.written(statement):
            self.known[local] = self.unknown()

    # Values

    def value(self, value: ir.Value) -> Sample:
        match value:
            case ir.Const():
                return Sample(None, scalar(value.value, value.type), False, True)
            case ir.Param():
                return self.sized(value)
        return self.known.get(value) or self.unknown()

    def sized(self, value: ir.Param | ir.Extent) -> Sample:
        """Return the sample of an extent or a parameter."""
        self.has_sizes = True
        if value.type.kind in ("int", "uint"):
            return Sample(None, scalar(self.size, value.type))
        return self.symbol(value, (), False)

    def unknown(self, varies: bool = True) -> Sample:
        """Return a symbol that differs from all others."""
        return Sample(("new", next(self.numbers)), 0, varies)

    def symbol(self, what: Hashable, args: Iterable[Sample], varies: bool) -> Sample:
        """Return the symbol of a function of samples."""
        name = self.symbols.setdefault((what, *(each.key for each in args)), len(self.symbols))
        return Sample(name, 0, varies)

    def loaded(self, load: ir.Load) -> Sample:
        args = [self.value(index) for index in load.index]
        varies = any(each.varies for each in args)
        if self.loop is None or load.array in self.changed:
            return self.unknown(self.loop is not None)
        return self.symbol((load.array, self.loop), args, varies)

    def result(self, op: ir.Op) -> Sample:
        """Return the result of an operation."""
        args = [self.value(arg) for arg in op.args]
        varies = any(each.varies for each in args)
        if all(each.symbol is None for each in args):
            types = tuple(arg.type for arg in op.args)
            number = ops.evaluate(op.name, types, tuple(each.number for each in args), op.type)
            return Sample(None, number, varies, all(each.is_exact for each in args))
        return moved(op, args, varies) or self.symbol((op.name, op.type), args, varies)


def moved(op: ir.Op, args: list[Sample], varies: bool) -> Sample | None:
    """Return a symbol plus a number if an integer operation gives one."""
    if op.type.kind not in ("int", "uint"):
        return None
    match op.name, args:
        case "add", [a, b] if a.symbol is None or b.symbol is None:
            symbol = a.symbol if b.symbol is None else b.symbol
            return Sample(symbol, int(a.number) + int(b.number), varies)
        case "sub", [a, b] if b.symbol is None or a.symbol == b.symbol:
            symbol = a.symbol if b.symbol is None else None
            return Sample(symbol, int(a.number) - int(b.number), varies)
        case "cast", [a] if op.args[0].type.kind in ("int", "uint") and op.type.size >= op.args[0].type.size:
            return Sample(a.symbol, a.number, varies)
    return None


def ends(span: range, most: int) -> list[int]:
    """Return numbers of a range: the first, the last, the second, the one before the last, and so on."""
    both = chain.from_iterable(zip(span, reversed(span), strict=True))
    return list(islice(both, min(len(span), most)))
