# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Span: which bytes a node touches, and whether two spans share one.

A span is a run of bytes that is repeated along axes, as in layout.py, from an address on. A plain copy is one run; a
column of a matrix is many short ones. Whether a run meets a span is a question about integers for each axis, from the
outermost in; and whether two tiles of one matrix meet is one about a single integer, however many rows they have.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

__all__ = ["Span"]

Axes = tuple[tuple[int, int], ...]


class Span(NamedTuple):
    """`run` bytes from `start` on, repeated `count` times `stride` bytes apart for each (count, stride) of `axes`,
    innermost first. Counts and strides are 1 or more. Instead of an address, `start` may be the name of the parameter
    that will be it; such a span can only be looked at."""

    start: Any  # int, or str
    run: int
    axes: Axes = ()

    @staticmethod
    def of(start: int, run: int, *axes: tuple[int, int]) -> Span:
        """The simplest span of these bytes: runs that touch become one."""
        simple: list[tuple[int, int]] = []
        for count, stride in axes:
            if count == 1:
                continue
            if not simple and stride == run:
                run *= count
            elif simple and stride == simple[-1][0] * simple[-1][1]:
                simple[-1] = (simple[-1][0] * count, simple[-1][1])
            else:
                simple.append((count, stride))
        return Span(start, run, tuple(simple))

    @property
    def end(self) -> int:
        """After the last byte."""
        return int(self.start + reach(self.run, self.axes))

    @property
    def runs(self) -> int:
        """How many runs there are."""
        runs = 1
        for count, _ in self.axes:
            runs *= count
        return runs

    def meets(self, other: Span) -> bool:
        """Whether both hold one and the same byte. Neither is empty."""
        if self.end <= other.start or other.end <= self.start:
            return False
        if not self.axes and not other.axes:
            return True
        if len(self.axes) == len(other.axes) == 1 and self.axes[0][1] == other.axes[0][1]:
            return self._meets_tile(other)
        few, many = (self, other) if self.runs < other.runs else (other, self)
        return any(holds(many.run, many.axes, start - many.start, few.run) for start in few._starts())

    def _meets_tile(self, other: Span) -> bool:
        """Of rows equally far apart. Row i of self meets row j of other when the distance of the starts, less i - j
        rows, is less than a row; i - j takes every value from 1 - other's count to self's count - 1."""
        (count, stride), (other_count, _) = self.axes[0], other.axes[0]
        distance = other.start - self.start
        least = max((distance - self.run) // stride + 1, 1 - other_count)
        most = min(-((-distance - other.run) // stride) - 1, count - 1)
        return bool(least <= most)

    def _starts(self) -> Iterator[int]:
        starts = [self.start]
        for count, stride in self.axes:
            starts = [start + i * stride for start in starts for i in range(count)]
        return iter(starts)

    def __str__(self) -> str:
        rows = f" in {self.runs} runs of {self.run}" if self.axes else ""
        if isinstance(self.start, str):
            return f"what parameter {self.start!r} points to{rows}"
        return f"{self.start:#x}..{self.end - 1:#x}{rows}"


def reach(run: int, axes: Axes) -> int:
    """From the first byte to after the last."""
    return run + sum((count - 1) * stride for count, stride in axes)


def holds(run: int, axes: Axes, start: int, width: int) -> bool:
    """Whether a span from 0 on holds one of the `width` bytes from `start` on."""
    if not axes:
        return -width < start < run
    inner, (count, stride) = axes[:-1], axes[-1]
    least = max((start - reach(run, inner)) // stride + 1, 0)
    most = min((start + width - 1) // stride, count - 1)
    return any(holds(run, inner, start - i * stride, width) for i in range(least, most + 1))
