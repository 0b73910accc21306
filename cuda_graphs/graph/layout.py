# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Which bytes of memory a copy or a fill touches.

A layout is a run of contiguous bytes that is repeated along axes: an array of shape (4, 3) float32 whose rows lie 64
bytes apart is a run of 12 bytes and the axis (4, 64). A copy walks two layouts at once, in C order, so both are first
cut to the same counts (`pair`). Axes that then follow one another in memory without a gap become one (`join`).
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
        """How many bytes these are."""
        size = self.run
        for count, _ in self.axes:
            size *= count
        return size

    @property
    def extent(self) -> int:
        """From the first byte to the last, plus one."""
        return self.run + sum((count - 1) * stride for count, stride in self.axes)

    def in_memory_order(self) -> Layout:
        """The same bytes in the order of their addresses: an array in Fortran order becomes one run."""
        run, axes = join([(self.run, 1, 1), *((count, stride, stride) for count, stride in self.axes)])
        return Layout(run, tuple((count, stride) for count, stride, _ in axes))

    def __str__(self) -> str:
        """For a reader: "4 x (12 bytes) 64 apart"."""
        text = f"{self.run} bytes"
        for count, stride in self.axes:
            text = f"{count} x ({text}) {stride} apart"
        return text


def layout_of(name: str, shape: Sequence[int], strides: Sequence[int], itemsize: int) -> Layout:
    """The layout of an array. `name` is that of the argument. ValueError for an array without elements, and for one
    that goes backwards or repeats elements."""
    if itemsize == 0 or 0 in shape:
        raise ValueError(f"{name} is an empty array of shape {tuple(shape)}; a node takes one byte at least")
    axes = [(count, stride) for count, stride in zip(shape, strides, strict=True) if count > 1]
    if any(stride <= 0 for _, stride in axes):
        raise ValueError(
            f"{name} has the strides {tuple(strides)}; a node goes through memory forwards, and once: copy the array"
        )
    return Layout(itemsize, tuple(reversed(axes)))


Axes = list[tuple[int, int, int]]  # (count, stride in dst, stride in src), innermost first


def pair(dst: Layout, src: Layout) -> tuple[int, Axes] | None:
    """Two layouts of the same size as one: the bytes that are contiguous on both sides, and the axes. None where the
    counts of one do not divide those of the other."""
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
    """Axes in the order of memory, those that follow one another without a gap as one."""
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
