# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Span: the bytes that a node accesses, and a test whether two spans overlap.

A span is a run of bytes that is repeated along axes, as in layout.py, from an address on. A plain copy is one run. A
column of a matrix is many short runs. The test of a run against a span solves one integer inequality per axis, from the
outermost axis inwards. The test of two tiles of one matrix solves a single inequality, for any number of rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

__all__ = ["Span"]

Axes = tuple[tuple[int, int], ...]


class Span(NamedTuple):
    """`run` bytes from `start` on, repeated `count` times `stride` bytes apart for each (count, stride) of `axes`,
    innermost first. Counts and strides are 1 or more. `start` is an address, or the name of the parameter that gives
    the address. A span with a name can be displayed but not compared."""

    start: Any  # int, or str
    run: int
    axes: Axes = ()

    @staticmethod
    def of(start: int, run: int, *axes: tuple[int, int]) -> Span:
        """Return the simplest span of these bytes: adjacent runs are merged."""
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
        """Address after the last byte."""
        return int(self.start + reach(self.run, self.axes))

    @property
    def runs(self) -> int:
        """Number of runs."""
        runs = 1
        for count, _ in self.axes:
            runs *= count
        return runs

    def meets(self, other: Span) -> bool:
        """Return True if two spans share a byte. Neither span is empty."""
        if self.end <= other.start or other.end <= self.start:
            return False
        if not self.axes and not other.axes:
            return True
        if len(self.axes) == len(other.axes) == 1 and self.axes[0][1] == other.axes[0][1]:
            return self._meets_tile(other)
        few, many = (self, other) if self.runs < other.runs else (other, self)
        return any(holds(many.run, many.axes, start - many.start, few.run) for start in few._starts())

    def _meets_tile(self, other: Span) -> bool:
        """Return True if two spans whose rows have the same stride share a byte.

        Row i of self overlaps row j of other if the distance of the starts, minus (i - j) strides, is smaller than a
        row. i - j takes every value from 1 - other's count to self's count - 1.
        """
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
            return f"memory of parameter {self.start!r}{rows}"
        return f"{self.start:#x}..{self.end - 1:#x}{rows}"


def reach(run: int, axes: Axes) -> int:
    """Return the number of bytes from the first byte to the end of the last byte."""
    return run + sum((count - 1) * stride for count, stride in axes)


def holds(run: int, axes: Axes, start: int, width: int) -> bool:
    """Return True if a span that starts at 0 contains one of the `width` bytes from `start` on."""
    if not axes:
        return -width < start < run
    inner, (count, stride) = axes[:-1], axes[-1]
    least = max((start - reach(run, inner)) // stride + 1, 0)
    most = min((start + width - 1) // stride, count - 1)
    return any(holds(run, inner, start - i * stride, width) for i in range(least, most + 1))
