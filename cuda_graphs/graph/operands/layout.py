# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Layouts: the bytes of memory that a copy or a fill accesses.

A layout is a run of contiguous bytes that is repeated along axes. For example, a float32 array of shape (4, 3) whose
rows lie 64 bytes apart is a run of 12 bytes with the axis (4, 64). A copy walks two layouts together, in C order.
`pair` first cuts both layouts to the same counts. `join` then merges axes that follow one another in memory without a
gap.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

__all__: list[str] = []


@dataclass(frozen=True)
class Layout:
    """`run` bytes, repeated `count` times `stride` bytes apart for each (count, stride) of `axes`, innermost first."""

    run: int
    axes: tuple[tuple[int, int], ...] = ()

    @property
    def size(self) -> int:
        """Number of bytes in the layout."""
        size = self.run
        for count, _ in self.axes:
            size *= count
        return size

    @property
    def extent(self) -> int:
        """Bytes from the first byte to the end of the last byte."""
        return self.run + sum((count - 1) * stride for count, stride in self.axes)

    def in_memory_order(self) -> Layout:
        """Return the same bytes in the order of addresses. A contiguous array in Fortran order becomes one run."""
        run, axes = join([(self.run, 1, 1), *((count, stride, stride) for count, stride in self.axes)])
        return Layout(run, tuple((count, stride) for count, stride, _ in axes))

    def __str__(self) -> str:
        """Return a text such as "4 x (12 bytes) 64 apart"."""
        text = f"{self.run} bytes"
        for count, stride in self.axes:
            text = f"{count} x ({text}) {stride} apart"
        return text


def layout_of(name: str, shape: Sequence[int], strides: Sequence[int], itemsize: int) -> Layout:
    """Return the layout of an array. `name` is the name of the argument.

    Raises ValueError for an array without elements, and for strides that go backwards or repeat elements.
    """
    if itemsize == 0 or 0 in shape:
        raise ValueError(f"{name} is an empty array of shape {tuple(shape)}; a node needs at least one byte")
    axes = [(count, stride) for count, stride in zip(shape, strides, strict=True) if count > 1]
    if any(stride <= 0 for _, stride in axes):
        raise ValueError(
            f"{name} has the strides {tuple(strides)}, which go backwards or repeat elements: copy the array first"
        )
    return Layout(itemsize, tuple(reversed(axes)))


Axes = list[tuple[int, int, int]]  # (count, stride in dst, stride in src), innermost first


def pair(dst: Layout, src: Layout) -> tuple[int, Axes] | None:
    """Merge two layouts of the same size. Returns the bytes that are contiguous on both sides, and the axes.

    Returns None if the counts of one layout do not divide the counts of the other.
    """
    axes: Axes = []
    rest = [[(layout.run, 1), *layout.axes] for layout in (dst, src)]
    while rest[0] and rest[1]:
        (count_a, stride_a), (count_b, stride_b) = rest[0].pop(0), rest[1].pop(0)
        count = min(count_a, count_b)
        if count_a % count or count_b % count:
            return None
        axes.append((count, stride_a, stride_b))
        if count_a > count:
            rest[0].insert(0, (count_a // count, stride_a * count))
        if count_b > count:
            rest[1].insert(0, (count_b // count, stride_b * count))
    return join(axes)


def join(axes: Axes) -> tuple[int, Axes]:
    """Return the contiguous bytes and the axes in the order of memory. Axes without a gap between them are merged."""
    run = 1
    joined: Axes = []
    for count, dst, src in sorted(axes, key=lambda axis: axis[1:]):
        if count == 1:
            continue
        if not joined and dst == src == run:
            run *= count
        elif joined and (dst, src) == (joined[-1][0] * joined[-1][1], joined[-1][0] * joined[-1][2]):
            joined[-1] = (joined[-1][0] * count, *joined[-1][1:])
        else:
            joined.append((count, dst, src))
    return run, joined
