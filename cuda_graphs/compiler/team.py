# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The threads of a block while a task is emitted: what both machines have in common (blocks_x86.py, blocks_ptx.py)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar

from . import ir
from .collectives import Row, neutral
from .notation import number
from .types import ScalarType

if TYPE_CHECKING:
    from .llvm import Emitter

__all__ = ["Team", "nothing", "source_of"]


class Team(ABC):
    """How a machine runs a loop of blocks.

    alone   nobody else is in the block's shared memory at the same time
    outer   how many of the loop's axes say which block it is; 0: blocks may have fewer threads than they could
    block   number of the block, in 64 bits
    thread  number of the thread, where one after the other executes a region, in 64 bits; elsewhere ""
    """

    alone: ClassVar[bool]

    def __init__(self, e: Emitter, loop: ir.For) -> None:
        self.e, self.loop, self.outer = e, loop, loop.block_axes()
        self.begins, self.counts, self.total = e.trips(loop)
        self.block = self.thread = ""
        e.team = self

    @abstractmethod
    def variable(self, local: ir.Local) -> tuple[str, str] | None:
        """(pointer to a local of this thread, what its accesses are marked with); None: it is a variable as any."""

    @abstractmethod
    def region(self, statement: ir.Region) -> None:
        """Have each thread execute it."""

    @abstractmethod
    def barrier(self, statement: ir.Barrier) -> None:
        """Have all wait for all."""

    @abstractmethod
    def meeting(self, m: ir.Meeting) -> None:
        """Have them exchange values."""

    @abstractmethod
    def position(self, statement: ir.Position) -> None:
        """Say where a thread is."""

    def blocks(self) -> str:
        """How many there are."""
        e = self.e
        if not self.outer:
            above = e.let(f"add i64 {self.total}, {self.loop.blocks - 1}")
            return e.let(f"udiv i64 {above}, {self.loop.blocks}")
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
    """What stands for somebody who is not there."""
    return number(neutral(row.combine, type), type)


def source_of(e: Emitter, row: Row, kind: str, lane: str, count: str) -> str:
    """From which lane a value comes; from 32 on, and below 0, there is none. `kind` is LLVM's type of the numbers."""
    if row.source == "index":
        return count
    return e.let(f"{INSTRUCTIONS[row.source]} {kind} {lane}, {count}")


INSTRUCTIONS = {"up": "sub", "down": "add", "xor": "xor"}
