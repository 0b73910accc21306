# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The elements of an array that an access may touch: for each axis a range from `begin` to before `end`.

A bound is a number, or an expression that stays the same in a call: a parameter, an extent, or arithmetic on them. Two
accesses touch no common element if their ranges of one axis are disjoint. An index that wraps around is out of bounds,
which is an error by itself. Sums of signed integers therefore count as exact.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.records import record

__all__ = ["Range", "Ranges", "Region", "disjoint"]

Bound = int | tuple[Any, ...]  # a number, or a value that stays the same: equal tuples are equal values


@record
class Range:
    """Indices from `begin` to before `end`; None: unknown."""

    begin: Bound | None
    end: Bound | None


ANY = Range(None, None)
Region = tuple[Range, ...]


def disjoint(one: Region, other: Region) -> bool:
    """Returns whether the regions have no element in common."""
    return any(ends_before(a, b) or ends_before(b, a) for a, b in zip(one, other, strict=True))


def ends_before(a: Range, b: Range) -> bool:
    if a.end is None or b.begin is None:
        return False
    if isinstance(a.end, int) and isinstance(b.begin, int):
        return a.end <= b.begin
    return a.end == b.begin


class Ranges:
    """Computes ranges of the values of one kernel."""

    def __init__(self, kernel: ir.Kernel) -> None:
        statements = list(ir.walk(kernel.body))
        self.axes = {axis.index: axis for s in statements if isinstance(s, ir.For) for axis in s.axes}
        changed = [s.array for s in statements if isinstance(s, ir.Atomic)]
        sets = [s for s in statements if isinstance(s, ir.Set)]
        count = Counter([s.local for s in sets] + [local for local in changed if isinstance(local, ir.Local)])
        self.values = {s.local: s.value for s in sets if count[s.local] == 1}  # of locals that are set once

    def region(self, index: tuple[ir.Value, ...]) -> Region:
        """Returns the range of each axis of an access."""
        return tuple(self.range(each) for each in index)

    def range(self, value: ir.Value) -> Range:
        """Returns the range of an index."""
        match value:
            case ir.LoopIndex():
                return self.of_axis(self.axes.get(value))
            case ir.Get() if value.local in self.values:
                return self.range(self.values[value.local])
            case ir.Op(name="cast") if is_widened(value):
                return self.range(value.args[0])
            case ir.Op(name="add" | "sub") if value.type.kind == "int":
                return self.moved(value)
        fixed = self.fixed(value)
        return ANY if fixed is None else Range(fixed, plus(fixed, 1))

    def of_axis(self, axis: ir.Axis | None) -> Range:
        """Returns the range of a loop that counts upwards."""
        if axis is None or axis.step <= 0:
            return ANY
        return Range(self.fixed(axis.begin), self.fixed(axis.end))

    def moved(self, value: ir.Op) -> Range:
        """Returns the range of one operand, moved by the other operand."""
        a, b = value.args
        sign = 1 if value.name == "add" else -1
        for each, by in ((a, b), (b, a)) if sign == 1 else ((a, b),):
            distance, found = self.fixed(by), self.range(each)
            if distance is not None and found != ANY:
                return Range(moved(found.begin, distance, sign), moved(found.end, distance, sign))
        return ANY

    def fixed(self, value: ir.Value) -> Bound | None:
        """Returns a key for a value that stays the same in a call, or None."""
        match value:
            case ir.Const():
                return int(value.value) if value.type.kind in ("int", "uint") else None
            case ir.Param():
                return ("param", value.path)
            case ir.Extent():
                return ("extent", value.array.path, value.axis)
            case ir.Get() if value.local in self.values:
                return self.fixed(self.values[value.local])
            case ir.Op(name="cast") if is_widened(value):
                return self.fixed(value.args[0])
            case ir.Op() if value.name in ("add", "sub", "mul", "floor_div", "mod"):
                parts = [self.fixed(each) for each in value.args]
                return None if None in parts else (value.name, value.type.name, *parts)
        return None


def is_widened(value: ir.Op) -> bool:
    """Returns whether a cast keeps every value of its operand."""
    before, after = value.args[0].type, value.type
    kinds = before.kind, after.kind
    return (kinds == ("int", "int") and before.bits <= after.bits) or (
        kinds == ("uint", "int") and before.bits < after.bits
    )


def moved(bound: Bound | None, distance: Bound, sign: int) -> Bound | None:
    if bound is None:
        return None
    if isinstance(distance, int):
        return plus(bound, sign * distance)
    return distance if bound == 0 and sign == 1 else None


def plus(bound: Bound, number: int) -> Bound | None:
    """Returns the sum of a bound and a number."""
    if isinstance(bound, int):
        return bound + number
    return bound if number == 0 else ("plus", bound, number)
