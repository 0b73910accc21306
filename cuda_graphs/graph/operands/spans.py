# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Span: the bytes that a node accesses, and a test whether two spans overlap.

A span is a run of bytes that is repeated along axes, as in layout.py, from an address on. The test for spans with axes
is that of the handle layer (span.hpp).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from .overlap import spans_overlap

__all__ = ["Span", "temporary_parts"]

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
        return spans_overlap(self.run, self.axes, other.start - self.start, other.run, other.axes)

    def __str__(self) -> str:
        rows = f" in {self.runs} runs of {self.run}" if self.axes else ""
        if isinstance(self.start, str):
            return f"{memory_text(self.start)}{rows}"
        return f"{self.start:#x}..{self.end - 1:#x}{rows}"


def memory_text(parameter: str) -> str:
    """Return the words for the memory of a parameter. A dot begins the name of a temporary (parameter.pyx)."""
    if not parameter.startswith("."):
        return f"memory of parameter {parameter!r}"
    number, given = temporary_parts(parameter)
    return f"temporary {given!r}" if given else f"temporary {number}"


def temporary_parts(parameter: str) -> tuple[str, str]:
    """Return the number of a temporary, and its given name or "", from the name of its parameter."""
    _, number, given = parameter.split(" ", 2)
    return number, given


def reach(run: int, axes: Axes) -> int:
    """Return the number of bytes from the first byte to the end of the last byte."""
    return run + sum((count - 1) * stride for count, stride in axes)
