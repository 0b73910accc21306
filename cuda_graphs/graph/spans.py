# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Span: which bytes a node touches, and whether two spans share one.

A span is a box of rows, as memset and memcpy nodes describe it. One row is an interval; a column of a matrix is many
short rows. Two spans share a byte when a row of one meets a row of the other, which for rows equally far apart (two
tiles of one matrix) is a question about one integer and takes no loop.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

__all__ = ["Span"]


class Span(NamedTuple):
    """`depth` slices of `height` rows of `width` bytes; rows `pitch` and slices `slice_pitch` bytes apart."""

    start: int
    width: int
    height: int = 1
    pitch: int = 0
    depth: int = 1
    slice_pitch: int = 0

    @staticmethod
    def of(
        start: int, width: int, height: int = 1, pitch: int = 0, depth: int = 1, slice_pitch: int = 0
    ) -> Span:
        """The simplest span of these bytes: rows that touch become one."""
        if height == 1 or pitch == width:
            width, height, pitch = width * height, 1, 0
        if depth == 1:
            return Span(start, width, height, pitch)
        if height == 1:  # slices of one row each are rows
            return Span.of(start, width, depth, slice_pitch)
        if slice_pitch == height * pitch:
            return Span(start, width, height * depth, pitch)
        return Span(start, width, height, pitch, depth, slice_pitch)

    @property
    def end(self) -> int:
        """After the last byte."""
        return self.start + self.width + (self.height - 1) * self.pitch + (self.depth - 1) * self.slice_pitch

    def is_empty(self) -> bool:
        """Whether there is no byte in it."""
        return self.width == 0 or self.height == 0 or self.depth == 0

    def meets(self, other: Span) -> bool:
        """Whether both hold one and the same byte. Neither is empty."""
        if self.end <= other.start or other.end <= self.start:
            return False
        if self.depth == other.depth == 1 and self.pitch == other.pitch:
            return self._meets_tile(other)
        few, many = sorted((self, other), key=lambda span: span.height * span.depth)
        return any(many._meets_row(row, few.width) for row in few._rows())

    def _meets_tile(self, other: Span) -> bool:
        """Of rows equally far apart. Row i of self meets row j of other when the distance of the starts, shifted by
        k = i - j rows, is less than a width; k takes every value from 1 - other.height to self.height - 1."""
        if self.pitch == 0:
            return True  # two intervals, whose ends were looked at
        distance = other.start - self.start
        least = max((distance - self.width) // self.pitch + 1, 1 - other.height)
        most = min(-((-distance - other.width) // self.pitch) - 1, self.height - 1)
        return least <= most

    def _rows(self) -> Iterator[int]:
        for k in range(self.depth):
            for i in range(self.height):
                yield self.start + k * self.slice_pitch + i * self.pitch

    def _meets_row(self, start: int, width: int) -> bool:
        plane_bytes = self.width + (self.height - 1) * self.pitch
        return any(
            meets_one_of(start, width, self.start + k * self.slice_pitch, self.width, self.height, self.pitch)
            for k in which_meet(start, width, self.start, plane_bytes, self.depth, self.slice_pitch)
        )

    def __str__(self) -> str:
        rows = f" in {self.height * self.depth} rows of {self.width}" if self.height * self.depth > 1 else ""
        return f"{self.start:#x}..{self.end - 1:#x}{rows}"


def which_meet(start: int, width: int, first: int, length: int, count: int, pitch: int) -> range:
    """Which of `count` intervals of `length` bytes, `pitch` apart from `first` on, hold a byte of the row."""
    if count == 1 or pitch == 0:
        return range(first < start + width and start < first + length)
    least = (start - first - length) // pitch + 1
    most = (start + width - 1 - first) // pitch
    return range(max(least, 0), min(most, count - 1) + 1)


def meets_one_of(start: int, width: int, first: int, length: int, count: int, pitch: int) -> bool:
    return len(which_meet(start, width, first, length, count, pitch)) > 0
