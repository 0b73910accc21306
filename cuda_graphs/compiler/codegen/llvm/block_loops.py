# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Loops over blocks of threads: the part of the emitters that both targets share (x86_blocks.py, ptx_blocks.py)."""

from __future__ import annotations

from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.ir.collectives import Row, neutral
from cuda_graphs.compiler.ir.types import ScalarType, i32

from .block_schedule import BlockSchedule
from .emitter import Emitter
from .notation import number

__all__ = ["BlockLoop", "fills_blocks", "identity", "source_lane"]


class BlockLoop(BlockSchedule):
    """Emitter of a loop of blocks for one target.

    outer   the number of leading axes that number the blocks; 0: the last block may be partial
    """

    def __init__(self, e: Emitter, loop: ir.For) -> None:
        self.e, self.loop, self.outer = e, loop, loop.block_axes()
        self.begins, self.counts, self.total = e.trips(loop)
        e.schedule = self

    def blocks(self) -> str:
        """Emit the number of blocks; return it."""
        e = self.e
        if not self.outer:
            above = e.let(f"add i64 {self.total}, {self.loop.block_dim - 1}")
            return e.let(f"udiv i64 {above}, {self.loop.block_dim}")
        found = self.counts[0]
        for count in self.counts[1 : self.outer]:
            found = e.let(f"mul nsw i64 {found}, {count}")
        return found

    def define_axes(self, at: str, first: int, end: int) -> None:
        """Define the indices of axes by the number of a point in their box."""
        for axis in reversed(range(first, end)):
            last = axis == first
            step = at if last else self.e.let(f"urem i64 {at}, {self.counts[axis]}")
            at = at if last else self.e.let(f"udiv i64 {at}, {self.counts[axis]}")
            self.define(axis, step)

    def define(self, axis: int, step: str) -> None:
        """Define the index of an axis by the number of its step."""
        what = self.loop.axes[axis]
        self.e.wide[what.index] = self.e.point(what, self.begins[axis], step)


def fills_blocks(loop: ir.For) -> bool:
    """Return whether the last block of a loop is known to be full: `range(n * 32)` with blocks of 32 threads."""
    size = loop.block_dim
    is_power = size & (size - 1) == 0  # products that wrap around are multiples of powers of two only
    return is_power and any(
        axis.step == 1 and is_multiple(axis.end, size) and is_multiple(axis.begin, size) for axis in loop.axes
    )


def is_multiple(value: ir.Value, size: int) -> bool:
    """Return whether an integer is known to be a multiple of a power of two."""
    match value:
        case ir.Const():
            return int(value.value) % size == 0
        case ir.Op(name="mul"):
            return any(is_multiple(each, size) for each in value.args)
        case ir.Op(name="cast"):
            (given,) = value.args
            return (
                given.type.kind in ("int", "uint")
                and value.type.size >= i32.size
                and is_multiple(given, size)
            )
    return False


def identity(row: Row, type: ScalarType) -> str:
    """Return the value of inactive threads in a reduction."""
    return number(neutral(row.combine, type), type)


def source_lane(e: Emitter, row: Row, kind: str, lane: str, count: str) -> str:
    """Emit the number of the lane whose value a lane gets, in LLVM's type `kind`. Below 0 or above 31 is no lane."""
    if row.source == "index":
        return count
    return e.let(f"{INSTRUCTIONS[row.source]} {kind} {lane}, {count}")


INSTRUCTIONS = {"up": "sub", "down": "add", "xor": "xor"}
