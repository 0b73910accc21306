# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Loops over blocks of threads: the part of the emitters that both targets share (x86_blocks.py, ptx_blocks.py)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar

from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.ir.collectives import Row, neutral
from cuda_graphs.compiler.ir.types import ScalarType

from .notation import number

if TYPE_CHECKING:
    from .emitter import Emitter

__all__ = ["Team", "nothing", "source_of"]


class Team(ABC):
    """Emitter of a loop of blocks for one target.

    alone   True if no thread accesses the block's shared memory concurrently
    outer   the number of leading axes that number the blocks; 0: the last block may be partial
    block   the number of the block, in 64 bits
    thread  the number of the thread, in 64 bits, if one thread after the other executes a region; else ""
    """

    alone: ClassVar[bool]

    def __init__(self, e: Emitter, loop: ir.For) -> None:
        self.e, self.loop, self.outer = e, loop, loop.block_axes()
        self.begins, self.counts, self.total = e.trips(loop)
        self.block = self.thread = ""
        e.team = self

    @abstractmethod
    def variable(self, local: ir.Local) -> tuple[str, str] | None:
        """Return (pointer to a local of this thread, metadata of its accesses); None for an ordinary variable."""

    @abstractmethod
    def region(self, statement: ir.Region) -> None:
        """Emit a region, which each thread executes."""

    @abstractmethod
    def barrier(self, statement: ir.Barrier) -> None:
        """Emit a barrier."""

    @abstractmethod
    def region_collective(self, m: ir.RegionCollective) -> None:
        """Emit a collective."""

    @abstractmethod
    def position(self, statement: ir.Position) -> None:
        """Define the number of the thread or block."""

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

    def place(self, at: str, first: int, end: int) -> None:
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


def nothing(row: Row, type: ScalarType) -> str:
    """Return the value of inactive threads in a reduction."""
    return number(neutral(row.combine, type), type)


def source_of(e: Emitter, row: Row, kind: str, lane: str, count: str) -> str:
    """Emit the number of the lane whose value a lane gets, in LLVM's type `kind`. Below 0 or above 31 is no lane."""
    if row.source == "index":
        return count
    return e.let(f"{INSTRUCTIONS[row.source]} {kind} {lane}, {count}")


INSTRUCTIONS = {"up": "sub", "down": "add", "xor": "xor"}
