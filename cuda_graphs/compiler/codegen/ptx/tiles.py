# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Loops of several axes on a GPU: a block takes tiles of some columns, and each of its warps a row of a tile.

The last axis of the loop is that of the columns; all other axes make the rows. Compared with iterations in row-major
order (grid_stride.py), a point needs fewer instructions, and a block reads neighbours in other rows from its own cache.
Tiles begin at indices that are multiples of 32, so a warp accesses whole lines of the cache: an inner copy of 4096^2
floats, from index 1 on, took 51 us on an H200 where a whole copy took 37.

A thread of a long loop has up to four points of a tile, 32 columns apart: it first runs the loads of all of them, up
to the first statement that has an effect, then the rest of each. Iterations of a parallel loop may run in any order, so
this needs no knowledge about the memory of arrays. With a single load in flight, a thread mostly waits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import takewhile

from cuda_graphs.compiler.codegen.llvm.emitter import Emitter
from cuda_graphs.compiler.ir import ir

__all__ = ["LANES", "TiledLoop", "is_tiled"]

LANES = 32
MOST = 64  # statements of a body that may be emitted several times
PURE = (ir.Op, ir.Load, ir.Extent)
STRAIGHT = (*PURE, ir.Store, ir.Atomic, ir.Get, ir.Set)
FEW, SOME = 2, 8  # loads of a point for which a thread has four or two points of a tile
STATE = ("i64", "i32", "i32")  # of the loop over tiles: the tile, and its row and column among the tiles

Place = Callable[[list[str]], None]
"""Sets the indices of a loop, from the position along each axis."""


def is_tiled(loop: ir.For) -> bool:
    """Return whether a loop has several axes and a short straight-line body."""
    body = list(ir.walk(loop.body))
    return len(loop.axes) > 1 and len(body) <= MOST and all(isinstance(s, STRAIGHT) for s in body)


class TiledLoop:
    """Emitter of a loop. `sizes` are the numbers of steps of the axes, in 64 bits.

    `shift` is the number of columns before the first one, in 32 bits: tiles begin that much earlier.
    """

    def __init__(self, e: Emitter, loop: ir.For, sizes: Sequence[str], shift: str, place: Place) -> None:
        self.e, self.sizes, self.shift, self.place = e, list(sizes), shift, place
        statements = loop.body.body
        pure = sum(1 for _ in takewhile(lambda s: isinstance(s, PURE), statements))
        self.early, self.late = statements[:pure], statements[pure:]
        loads = sum(isinstance(s, ir.Load) for s in self.early)
        self.points = 4 if loads <= FEW else 2 if loads <= SOME else 1

    def run(self, row_major: Callable[[], None]) -> None:
        """Emit the loop. `row_major` emits it otherwise: for few columns, or 2**31 rows or columns and more."""
        e = self.e
        rows, columns = self.sizes[0], self.sizes[-1]
        for size in self.sizes[1:-1]:
            rows = e.let(f"mul nsw i64 {rows}, {size}")
        threads = self.register("ntid.x")
        tiled, other, done = (e.label(stem) for stem in ("tiled", "row_major", "done"))
        fits = self.every(
            f"icmp sge i64 {columns}, {LANES}",
            f"icmp slt i64 {columns}, {1 << 31}",
            f"icmp slt i64 {rows}, {1 << 31}",
            f"icmp eq i32 {e.let(f'and i32 {threads}, {LANES - 1}')}, 0",
        )
        e.jump_if(fits, tiled, other)
        e.start(tiled)
        self.prepare(rows, columns, threads)
        self.tiles_of_block()
        e.jump(done)
        e.start(other)
        row_major()
        e.jump(done)
        e.start(done)

    def register(self, name: str) -> str:
        return self.e.call("llvm.nvvm.read.ptx.sreg." + name, "i32", [])

    def every(self, *conditions: str) -> str:
        found, *others = [self.e.let(each) for each in conditions]
        for each in others:
            found = self.e.let(f"and i1 {found}, {each}")
        return found

    def prepare(self, rows: str, columns: str, threads: str) -> None:
        """Compute what all tiles of the thread have in common."""
        e = self.e
        thread = self.register("tid.x")
        self.lane, self.warp = e.let(f"and i32 {thread}, {LANES - 1}"), e.let(f"lshr i32 {thread}, 5")
        self.height = e.let(f"lshr i32 {threads}, 5")
        self.rows, self.columns = (e.let(f"trunc i64 {each} to i32") for each in (rows, columns))
        self.columns = e.let(f"add i32 {self.columns}, {self.shift}")
        # Unsigned numbers of 32 bits hold all of these: a tile ends less than 2**10 beyond the loop.
        most = e.let(f"add i32 {self.rows}, {e.let(f'sub i32 {self.height}, 1')}")
        down = e.let(f"zext i32 {e.let(f'udiv i32 {most}, {self.height}')} to i64")
        self.first, step = (self.register(each) for each in ("ctaid.x", "nctaid.x"))
        blocks = e.let(f"zext i32 {step} to i64")

        def tiles_of(width: int) -> tuple[str, str]:
            """Return the number of tiles across the loop, and of all tiles."""
            across = e.let(f"udiv i32 {e.let(f'add i32 {self.columns}, {width - 1}')}, {width}")
            return across, e.let(f"mul nuw nsw i64 {down}, {e.let(f'zext i32 {across} to i64')}")

        self.across, self.count = tiles_of(LANES * self.points)
        self.is_wide, self.width = "true", str(LANES * self.points)
        if self.points > 1:  # tiles of 32 columns occupy more blocks with a short loop
            across, count = tiles_of(LANES)
            self.is_wide = e.let(f"icmp sge i64 {self.count}, {blocks}")
            self.width = e.let(f"select i1 {self.is_wide}, i32 {self.width}, i32 {LANES}")
            self.across = e.let(f"select i1 {self.is_wide}, i32 {self.across}, i32 {across}")
            self.count = e.let(f"select i1 {self.is_wide}, i64 {self.count}, i64 {count}")
        self.step = (blocks, *self.digits(step))
        self.inner = [e.let(f"trunc i64 {each} to i32") for each in self.sizes[1:-1]]

    def digits(self, tile: str) -> tuple[str, str]:
        """Return (row, column) of a tile among the tiles."""
        return self.e.let(f"udiv i32 {tile}, {self.across}"), self.e.let(f"urem i32 {tile}, {self.across}")

    def tiles_of_block(self) -> None:
        """Emit the loop over the tiles of the block. LLVM turns the slots of its state into registers."""
        e = self.e
        slots = [e.slot(kind) for kind in STATE]

        def move(*state: str) -> None:
            for kind, slot, value in zip(STATE, slots, state, strict=True):
                e.line(f"store {kind} {value}, ptr {slot}")

        move(e.let(f"zext i32 {self.first} to i64"), *self.digits(self.first))
        head, body, after = (e.label(stem) for stem in ("tiles", "tile", "after"))
        e.jump(head)
        e.start(head)
        at, row, column = (e.let(f"load {kind}, ptr {slot}") for kind, slot in zip(STATE, slots, strict=True))
        e.jump_if(e.let(f"icmp slt i64 {at}, {self.count}"), body, after)
        e.start(body)
        move(*self.next(at, row, column))
        self.tile(row, column)
        e.jump(head)
        e.start(after)

    def next(self, at: str, row: str, column: str) -> tuple[str, str, str]:
        """Return the state for the next tile of the block: its digits grow by those of the step, with a carry."""
        e = self.e
        step, row_step, column_step = self.step
        there = e.let(f"add i32 {column}, {column_step}")
        over = e.let(f"icmp uge i32 {there}, {self.across}")
        down = e.let(f"add i32 {e.let(f'add i32 {row}, {row_step}')}, {e.let(f'zext i1 {over} to i32')}")
        beside = e.let(f"select i1 {over}, i32 {e.let(f'sub i32 {there}, {self.across}')}, i32 {there}")
        return e.let(f"add nsw i64 {at}, {step}"), down, beside

    def tile(self, row: str, column: str) -> None:
        """Emit the points of this thread in a tile: together if it has all of them, else one by one."""
        e = self.e
        own = e.let(f"add i32 {e.let(f'mul i32 {row}, {self.height}')}, {self.warp}")
        begin = e.let(f"mul i32 {column}, {self.width}")
        first = e.let(f"add i32 {begin}, {self.lane}")
        last = e.let(f"add i32 {first}, {LANES * (self.points - 1)}")
        some, together, apart, end = (e.label(stem) for stem in ("some", "together", "apart", "end"))
        e.jump_if(e.let(f"icmp ult i32 {own}, {self.rows}"), some, end)
        e.start(some)
        is_inside = e.let(f"icmp uge i32 {first}, {self.shift}")
        has_all = e.let(f"and i1 {is_inside}, {e.let(f'icmp ult i32 {last}, {self.columns}')}")
        e.jump_if(e.let(f"and i1 {has_all}, {self.is_wide}"), together, apart)
        e.start(together)
        self.points_together(self.positions(own), e.let(f"sub i32 {first}, {self.shift}"))
        e.jump(end)
        e.start(apart)
        if self.points > 1:
            beyond = e.let(f"add i32 {begin}, {self.width}")
            limit = e.call("llvm.umin.i32", "i32", [("i32", beyond), ("i32", self.columns)])
            second = e.let(f"add i32 {first}, {LANES}")
            start = e.let(f"select i1 {is_inside}, i32 {first}, i32 {second}")
            low, high = (
                e.let(f"zext i32 {e.let(f'sub i32 {each}, {self.shift}')} to i64") for each in (start, limit)
            )
            at = ir.LoopIndex("column")
            e.counted(at, low, high, LANES, lambda _: self.point(self.positions(own), e.wide[at]))
        e.jump(end)
        e.start(end)

    def positions(self, row: str) -> list[str]:
        """Return the position of a row along each axis but the last one."""
        e = self.e
        found: list[str] = []
        for size in reversed(self.inner):
            found.insert(0, e.let(f"urem i32 {row}, {size}"))
            row = e.let(f"udiv i32 {row}, {size}")
        return [e.let(f"zext i32 {each} to i64") for each in (row, *found)]

    def points_together(self, row: list[str], column: str) -> None:
        """Emit all points of a tile: their loads, then the rest of each."""
        e = self.e
        wide, begun = e.let(f"zext i32 {column} to i64"), []
        for number in range(self.points):
            self.place([*row, e.let(f"add nuw nsw i64 {wide}, {LANES * number}")])
            e.statements(self.early)
            begun.append((dict(e.wide), {each: e.names[each] for each in self.early if each in e.names}))
        for indices, names in begun:
            e.wide.update(indices)
            e.names.update(names)
            e.statements(self.late)

    def point(self, row: list[str], column: str) -> None:
        self.place([*row, column])
        self.e.statements([*self.early, *self.late])
