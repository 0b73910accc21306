# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""How large stacks become: expressions of what the host knows in a call, the extents of arrays and the scalar
arguments.

A number of the kernel is between two expressions (interval arithmetic), so begins and subtrahends may be negative. What
is between none, as what depends on the content of an array or on a `while`, has no expression: it is counted
(counting.py).

An expression is an int; ("extent", path, axis); ("scalar", path, type); (operation, a, b, type): its result has to fit
the type as the kernel computes it, or the kernel's number is another one, and counting has to tell.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from .. import ir
from ..types import SCALARS, ScalarType

__all__ = ["Expression", "Wrapped", "evaluate", "leaves_of", "room"]

Expression = Any
Interval = tuple[Expression, Expression]

EXACT: dict[str, Callable[[int, int], int]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "floor_div": operator.floordiv,
    "min": min,
    "max": max,
}
LARGEST = (1 << 63) - 1


class Wrapped(ArithmeticError):
    """A number of the kernel does not fit its type, so nobody knows what it becomes."""


def evaluate(expression: Expression, leaf: Callable[..., int]) -> int:
    """The value of an expression; `leaf` gives that of an extent or scalar, taken apart. Raises Wrapped."""
    if isinstance(expression, int):
        return expression
    if expression[0] in ("extent", "scalar"):
        return leaf(*expression)
    name, a, b, kind = expression
    found = EXACT[name](evaluate(a, leaf), evaluate(b, leaf))
    type = SCALARS[kind]
    if not type.minimum <= found <= type.maximum:
        raise Wrapped
    return found


def leaves_of(expression: Expression) -> set[tuple[Any, ...]]:
    """The extents and scalars that an expression depends on."""
    if isinstance(expression, int):
        return set()
    if expression[0] in ("extent", "scalar"):
        return {expression}
    return leaves_of(expression[1]) | leaves_of(expression[2])


def room(sites: Iterable[Sequence[ir.For | ir.While]], body: ir.Block) -> Expression | None:
    """How many values are put on a stack at most; None: it has to be counted.

    `sites` are, for each place where one is put there, the loops around it in its unit; `body` is of the kernel in
    normal form.
    """
    bounds = Bounds(body)
    total: Expression = 0
    for loops in sites:
        times: Expression = 1
        for loop in loops:
            trips = bounds.trips(loop)
            if trips is None:
                return None
            times = combined("mul", times, trips, "i64")
        total = combined("add", total, times, "i64")
    return total


def combined(name: str, a: Expression, b: Expression, kind: str) -> Expression:
    """An operation on expressions, done where both are numbers that fit."""
    if isinstance(a, int) and isinstance(b, int):
        found = EXACT[name](a, b)
        if SCALARS[kind].minimum <= found <= SCALARS[kind].maximum:
            return found
    if name in ("min", "max") and a == b:
        return a
    if (name, b) in (("add", 0), ("sub", 0), ("mul", 1)):
        return a
    if (name, a) in (("add", 0), ("mul", 1)):
        return b
    return name, a, b, kind


def least(numbers: Iterable[Expression], name: str) -> Expression:
    """The least of several, or with "max" the greatest."""
    first, *rest = numbers
    for each in rest:
        first = combined(name, first, each, "i64")
    return first


class Bounds:
    """Between which expressions values of a kernel are."""

    def __init__(self, body: ir.Block) -> None:
        self.sets: dict[ir.Local, list[ir.Value]] = {}
        self.axes: dict[ir.Value, ir.Axis] = {}
        self.changed: set[ir.Local] = set()  # by atomics
        self.open: set[ir.Local] = set()
        for statement in ir.walk(body):
            if isinstance(statement, ir.Set):
                self.sets.setdefault(statement.local, []).append(statement.value)
            elif isinstance(statement, ir.For):
                self.axes.update({axis.index: axis for axis in statement.axes})
            elif isinstance(statement, ir.Atomic) and isinstance(statement.array, ir.Local):
                self.changed.add(statement.array)

    def trips(self, loop: ir.For | ir.While) -> Expression | None:
        """How many iterations a loop has at most."""
        if isinstance(loop, ir.While):
            return None
        axis = loop.axes[0]
        begin, end = self.of(axis.begin), self.of(axis.end)
        if begin is None or end is None:
            return None
        span = (
            combined("sub", end[1], begin[0], "i64")
            if axis.step > 0
            else combined("sub", begin[1], end[0], "i64")
        )
        size = abs(axis.step)
        if size > 1:
            span = combined("floor_div", combined("add", span, size - 1, "i64"), size, "i64")
        return combined("max", span, 0, "i64")

    def of(self, value: ir.Value) -> Interval | None:
        """The least and the greatest that a value can be."""
        match value:
            case ir.Const():
                return (int(value.value),) * 2
            case ir.Param() if value.type.kind in ("int", "uint"):
                return (("scalar", value.path, value.type.name),) * 2
            case ir.Extent():
                shape = value.array.shape
                known: Expression = (
                    ("extent", value.array.path, value.axis) if shape is None else shape[value.axis]
                )
                return known, known
            case ir.LoopIndex():
                return self.index(value)
            case ir.Get():
                return self.local(value.local)
            case ir.Op():
                return self.op(value)
        return None

    def index(self, index: ir.LoopIndex) -> Interval | None:
        axis = self.axes[index]
        first, last = (axis.begin, axis.end) if axis.step > 0 else (axis.end, axis.begin)
        low, high = self.of(first), self.of(last)
        if low is None or high is None:
            return None
        ahead = 0 if axis.step > 0 else 1
        return combined("add", low[0], ahead, "i64"), combined("sub", high[1], 1 - ahead, "i64")

    def local(self, local: ir.Local) -> Interval | None:
        """Between all that is ever written to it."""
        if local in self.changed or local in self.open:
            return None
        self.open.add(local)
        found = [self.of(value) for value in self.sets.get(local, ())]
        self.open.discard(local)
        known = [each for each in found if each is not None]
        if len(known) != len(found) or not known:
            return None
        return least([low for low, _ in known], "min"), least([high for _, high in known], "max")

    def op(self, op: ir.Op) -> Interval | None:
        if op.type.kind not in ("int", "uint"):
            return None
        args = [self.of(arg) for arg in (op.args[1:] if op.name == "select" else op.args)]
        if any(arg is None for arg in args):
            return self.by_constant(op, args)
        rule = RULES.get(op.name)
        return self.by_constant(op, args) if rule is None else rule(args, op.type)

    def by_constant(self, op: ir.Op, args: list[Interval | None]) -> Interval | None:
        """Operations with a positive number, whatever the other operand is."""
        if op.name not in ("mod", "floor_div", "bit_and") or not isinstance(op.args[1], ir.Const):
            return None
        number, given = int(op.args[1].value), args[0]
        if number <= 0:
            return None
        if op.name == "mod":
            return 0, number - 1
        if op.name == "bit_and":
            return 0, number
        if given is None:
            return None
        kind = op.type.name
        return combined("floor_div", given[0], number, kind), combined("floor_div", given[1], number, kind)


def monotone(name: str) -> Callable[[list[Any], ScalarType], Interval]:
    return lambda args, type: (
        combined(name, args[0][0], args[1][0], type.name),
        combined(name, args[0][1], args[1][1], type.name),
    )


def difference(args: list[Any], type: ScalarType) -> Interval:
    (a, b), (c, d) = args
    return combined("sub", a, d, type.name), combined("sub", b, c, type.name)


def product(args: list[Any], type: ScalarType) -> Interval:
    (a, b), (c, d) = args
    found = list(dict.fromkeys(combined("mul", x, y, type.name) for x in (a, b) for y in (c, d)))
    return least(found, "min"), least(found, "max")


def cast(args: list[Any], type: ScalarType) -> Interval:
    """The same numbers, if they fit."""
    (bounds,) = args
    fits = [isinstance(each, int) and type.minimum <= each <= type.maximum for each in bounds]
    low, high = (each if fit else ("add", each, 0, type.name) for each, fit in zip(bounds, fits, strict=True))
    return low, high


RULES: dict[str, Callable[[list[Any], ScalarType], Interval]] = {
    "add": monotone("add"),
    "min": monotone("min"),
    "max": monotone("max"),
    "sub": difference,
    "neg": lambda args, type: difference([(0, 0), *args], type),
    "mul": product,
    "cast": cast,
    "abs": lambda args, type: (
        0,
        least([0, args[0][1], combined("sub", 0, args[0][0], type.name)], "max"),
    ),
    "select": lambda args, type: (
        least([args[0][0], args[1][0]], "min"),
        least([args[0][1], args[1][1]], "max"),
    ),
}
