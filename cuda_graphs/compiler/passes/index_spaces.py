# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Compares the index spaces of two loops, and tells whether an index of one loop is in the space of the other.

    for i in range(n): ...; for i in range(1, n - 1): ...      the first space contains the second
    i + 1, max(i - 1, 0), (i + 1) % n                          in the first space, for each i of the second

The producer is the loop that writes an array, and the consumer the loop that reads it. Bounds are compared as a value
plus a number. Two extents may be equal in a call: such pairs become conditions (`Program.equal`). An index that wraps
around is out of bounds, which is an error by itself. Sums of signed integers therefore count as exact.
"""

from __future__ import annotations

from collections.abc import Iterator

from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.records import record

from .forward_stores import Numbers
from .task_groups import Extents, are_equal

__all__ = ["FIXED", "Limit", "Spaces", "leaves_of", "linear"]

FIXED = (ir.Const, ir.Param, ir.Extent)  # values that are the same in all iterations of all loops


@record
class Limit:
    """An index of a loop is less than `value` + `more`, or, unless `is_upper`, at least that."""

    index: ir.LoopIndex
    is_upper: bool
    value: ir.Value
    more: int


class Spaces:
    """Two loops with as many axes, which count upwards by 1.

    consumed  index of the fused loop -> the axis of the consumer
    limits    what else is known of these indices where the consumer reads an element
    equal     gets the pairs of extents that calls must compare; None: calls do not compare extents
    """

    def __init__(self, producer: ir.For, consumer: ir.For, equal: Extents | None) -> None:
        self.producer, self.consumer, self.equal = producer.axes, consumer.axes, equal
        self.consumed = {a.index: b for a, b in zip(producer.axes, consumer.axes, strict=True)}
        self.limits: list[Limit] = []
        self.numbers = Numbers()
        self.consumer_is_inside = self.contains(self.producer, self.consumer)
        self.producer_is_inside = self.contains(self.consumer, self.producer)

    def contains(self, outer: tuple[ir.Axis, ...], inner: tuple[ir.Axis, ...]) -> bool:
        """Returns whether each point of the inner space is in the outer space."""
        return all(
            self.at_most(a.begin, 0, b.begin, 0) and self.at_most(b.end, 0, a.end, 0)
            for a, b in zip(outer, inner, strict=True)
        )

    def at_most(self, a: ir.Value, more: int, b: ir.Value, other: int) -> bool:
        """Returns whether a + more <= b + other, as far as it is known."""
        (base, x), (limit, y) = linear(a), linear(b)
        if x + more > y + other:
            return False
        if base is None or limit is None:
            return base is limit
        found: Extents | None = None if self.equal is None else {}
        if not are_equal(base, limit, self.numbers, found):
            return False
        if self.equal is not None and found is not None:
            self.equal.update(found)
        return True

    def is_above(self, index: ir.Value, number: int) -> bool:
        """Returns whether an index in an iteration of the consumer is at least the begin of an axis of the producer."""
        axis, here = self.producer[number], self.consumer[number]
        match index:
            case ir.Op("max", (a, b)):
                return self.is_above(a, number) or self.is_above(b, number)
            case ir.Op("min", (a, b)):
                return self.is_above(a, number) and self.is_above(b, number)
            case ir.Op("mod", (_, period)):
                return self.is_period(period, axis)
        base, more = linear(index)
        if isinstance(base, ir.LoopIndex):
            return base in self.consumed and (
                self.at_most(axis.begin, 0, self.consumed[base].begin, more)
                or any(
                    self.at_most(axis.begin, 0, v, n + more) for v, n in self.limits_of(base, is_upper=False)
                )
            )
        if self.at_most(axis.begin, 0, index, 0):
            return True
        # It is at least the last index of the consumer, which is in the space.
        return self.at_most(here.end, -1, index, 0) and self.at_most(axis.begin, 0, here.begin, 0)

    def is_below(self, index: ir.Value, number: int) -> bool:
        """Returns whether an index in an iteration of the consumer is less than the end of an axis of the producer."""
        axis, here = self.producer[number], self.consumer[number]
        match index:
            case ir.Op("max", (a, b)):
                return self.is_below(a, number) and self.is_below(b, number)
            case ir.Op("min", (a, b)):
                return self.is_below(a, number) or self.is_below(b, number)
            case ir.Op("mod", (_, period)):
                return self.is_period(period, axis)
        base, more = linear(index)
        if isinstance(base, ir.LoopIndex):
            return base in self.consumed and (
                self.at_most(self.consumed[base].end, more, axis.end, 0)
                or any(self.at_most(v, n + more, axis.end, 0) for v, n in self.limits_of(base, is_upper=True))
            )
        if self.at_most(index, 1, axis.end, 0):
            return True
        # It is at most the first index of the consumer, which is in the space.
        return self.at_most(index, 0, here.begin, 0) and self.at_most(here.end, 0, axis.end, 0)

    def limits_of(self, index: ir.LoopIndex, is_upper: bool) -> list[tuple[ir.Value, int]]:
        return [
            (each.value, each.more)
            for each in self.limits
            if (each.index, each.is_upper) == (index, is_upper)
        ]

    def is_period(self, period: ir.Value, axis: ir.Axis) -> bool:
        """Returns whether remainders of a division are in an axis. It is not empty, as it contains the iteration."""
        return (
            self.consumer_is_inside
            and linear(axis.begin) == (None, 0)
            and self.at_most(period, 0, axis.end, 0)
            and self.at_most(axis.end, 0, period, 0)
        )


def leaves_of(value: ir.Value) -> Iterator[ir.Value]:
    """Yields the values from which operations compute a value, each once: they may use one many times."""
    left, seen = [value], {value}
    while left:
        each = left.pop()
        if not isinstance(each, ir.Op):
            yield each
            continue
        left += [arg for arg in each.args if arg not in seen]
        seen.update(each.args)


# The largest number in a sum with an index. The sum wraps only for arrays of more than 2**31 - 2**20 elements.
LARGEST = 1 << 20


def linear(value: ir.Value) -> tuple[ir.Value | None, int]:
    """Returns an integer as a value, or None for 0, plus a number that is not so large that the sum may wrap."""
    match value:
        case ir.Const():
            return None, int(value.value)
        case ir.Op("add", (a, ir.Const() as more)) | ir.Op("add", (ir.Const() as more, a)):
            base, number = linear(a)
            number += int(more.value)
        case ir.Op("sub", (a, ir.Const() as less)):
            base, number = linear(a)
            number -= int(less.value)
        case _:
            return value, 0
    return (base, number) if abs(number) <= LARGEST else (value, 0)
