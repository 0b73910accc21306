# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Loops of several axes on a GPU: a block takes tiles of some columns, and each of its warps a row of a tile.

The last axis of the loop is that of the columns; all other axes make the rows. Compared with iterations in row-major
order (grid_stride.py), a point needs fewer instructions, and a block reads neighbours in other rows from its own cache.
Tiles begin at indices that are multiples of 32, so a warp accesses whole lines of the cache: an inner copy of 4096^2
floats, from index 1 on, took 51 us on an H200 where a whole copy took 37.

A thread has several points of a tile. It first runs the loads of all of them, up to the first statement that has an
effect, then the rest of each: with a single load in flight, a thread mostly waits. If rows begin at multiples of 16
bytes, these are up to four neighbours, with accesses of up to 16 bytes (wide_access.py). In other rows they are 32
columns apart. Iterations of a parallel loop may run in any order, so this needs no knowledge about the memory of
arrays. Loops with many loads have one point, and those with branches have neighbours (limit_branches.py) or no tiles.

On an H200, a sweep of a 5-point stencil over 4096^2 floats took 58 us with points that are 32 columns apart. A copy
took 37, and so did the sweep in CUDA C++ with four neighbours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import takewhile
from typing import NamedTuple

from cuda_graphs.compiler.codegen.llvm.emitter import Emitter
from cuda_graphs.compiler.ir import ir

from .early_loads import PURE
from .limit_branches import LimitBranches, side_by_side
from .metadata import NOT_UNROLLED, scopes_of
from .wide_access import WideRows, hidden

__all__ = ["LANES", "TiledLoop", "place", "shift_of"]

LANES = 32
# Loads of a point for which a thread has four or two points that are apart. With more it has one, and no neighbours.
FEW, SOME = 2, 8
STATE = ("i64", "i32", "i32")  # of the loop over tiles: the tile, and its row and column among the tiles


def place(e: Emitter, loop: ir.For, begins: list[str], numbers: Sequence[str]) -> None:
    """Set the indices of a loop, from the positions along its first axes."""
    for axis, begin, number in zip(loop.axes, begins, numbers, strict=False):
        e.wide[axis.index] = e.point(axis, begin, number)


def shift_of(e: Emitter, loop: ir.For, begins: list[str]) -> str:
    """Emit the number of indices from a multiple of 32 to the first index of the last axis, in 64 bits."""
    if loop.axes[-1].step != 1:
        return "0"
    return e.let(f"and i64 {begins[-1]}, {LANES - 1}")


class Grid(NamedTuple):
    """The tiles of a loop: the columns of one, and how many there are from left to right, and in all."""

    width: str
    across: str
    total: str


class TiledLoop:
    """Emitter of a loop. `begins` and `sizes` are the first indices and the numbers of steps of the axes, in 64 bits.

    A column is a number of 32 bits. Column 0 is at an index that is a multiple of 32, and the loop begins at the column
    `shift`.

    points       of a thread in a tile
    neighbours   how many of them are neighbours if rows are aligned; 1: none
    is_suitable  whether the loop has several axes and a short body that is a straight line, or has branches that limit
                 indices, and neighbours
    """

    def __init__(
        self,
        e: Emitter,
        loop: ir.For,
        branches: LimitBranches,
        begins: list[str],
        sizes: Sequence[str],
        is_resident: bool,
    ) -> None:
        self.e, self.loop, self.branches, self.begins, self.sizes = e, loop, branches, begins, list(sizes)
        self.is_resident = is_resident
        before = takewhile(lambda s: isinstance(s, PURE), branches.taken.body.body)
        loads = sum(isinstance(s, ir.Load) for s in before)
        self.points = 4 if loads <= FEW else 2 if loads <= SOME else 1
        self.wide_rows = WideRows(loop)
        self.neighbours = self.wide_rows.points if self.points > 1 else 1
        is_worth_it = not branches.conditions or self.neighbours > 1
        self.is_suitable = len(loop.axes) > 1 and branches.is_straight and is_worth_it

    def run(self, row_major: Callable[[], None]) -> None:
        """Emit the loop. `row_major` emits it otherwise: for few columns, very many rows or columns, part warps."""
        e = self.e
        rows, columns = self.sizes[0], self.sizes[-1]
        for size in self.sizes[1:-1]:
            rows = e.let(f"mul nsw i64 {rows}, {size}")
        threads = self.register("ntid.x")
        tiled, other, done = (e.label(stem) for stem in ("tiled", "row_major", "done"))
        e.jump_if(self.can_have_tiles(rows, columns, threads), tiled, other)
        e.start(tiled)
        if self.branches.conditions:
            # LLVM would compute what tiles need before the branch, for iterations in row-major order too.
            threads = hidden(e, "i32", threads)
        self.prepare(rows, columns, threads)
        for is_faster, emit in self.ways():
            way, otherwise = e.label("way"), e.label("otherwise")
            e.jump_if(is_faster, way, otherwise)
            e.start(way)
            emit()
            e.jump(done)
            e.start(otherwise)
        e.jump(other)
        e.start(other)
        row_major()
        e.jump(done)
        e.start(done)

    def can_have_tiles(self, rows: str, columns: str, threads: str) -> str:
        """Emit whether tiles suit the sizes of the loop; with branches, also whether neighbours do."""
        e = self.e
        fits = self.every(
            f"icmp sge i64 {columns}, {LANES}",
            f"icmp slt i64 {columns}, {1 << 31}",
            f"icmp slt i64 {rows}, {1 << 31}",
            f"icmp eq i32 {e.let(f'and i32 {threads}, {LANES - 1}')}, 0",
        )
        if not self.branches.conditions:
            return fits
        points = e.let(f"mul nsw i64 {rows}, {columns}")
        fits = e.let(f"and i1 {fits}, {self.branches.are_many(e, points, self.is_resident)}")
        return e.let(f"and i1 {fits}, {self.wide_rows.are_aligned(e)}")

    def ways(self) -> Iterator[tuple[str, Callable[[], None]]]:
        """Emit, for each way to take tiles, whether it is faster than the next one, and yield it."""
        if self.branches.conditions:
            yield "true", self.tiles_beside
            return
        if self.neighbours > 1:
            is_aligned = self.wide_rows.are_aligned(self.e)
            are_enough = self.are_enough(self.grid_of(self.neighbours))
            yield self.e.let(f"and i1 {is_aligned}, {are_enough}"), self.tiles_beside
        grid = self.grid_of(self.points)
        yield self.are_enough(grid), partial(self.tiles_of_block, grid, self.points_apart)

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
        self.shift = e.let(f"trunc i64 {shift_of(e, self.loop, self.begins)} to i32")
        self.rows, self.columns = (e.let(f"trunc i64 {each} to i32") for each in (rows, columns))
        self.columns = e.let(f"add i32 {self.columns}, {self.shift}")
        # Unsigned numbers of 32 bits hold all of these: a tile ends less than 2**10 beyond the loop.
        most = e.let(f"add i32 {self.rows}, {e.let(f'sub i32 {self.height}, 1')}")
        self.down = e.let(f"zext i32 {e.let(f'udiv i32 {most}, {self.height}')} to i64")
        self.first, self.step = (self.register(each) for each in ("ctaid.x", "nctaid.x"))
        self.blocks = e.let(f"zext i32 {self.step} to i64")
        self.inner = [e.let(f"trunc i64 {each} to i32") for each in self.sizes[1:-1]]

    def grid_of(self, points: int) -> Grid:
        """Return the tiles with so many points for each thread."""
        e, width = self.e, LANES * points
        across = e.let(f"udiv i32 {e.let(f'add i32 {self.columns}, {width - 1}')}, {width}")
        return Grid(
            str(width), across, e.let(f"mul nuw nsw i64 {self.down}, {e.let(f'zext i32 {across} to i64')}")
        )

    def tiles_beside(self) -> None:
        """Emit the loop over tiles with neighbouring points.

        In a resident loop LLVM would compute before all iterations what they have in common, for each way to run the
        loop, and no thread has registers for that. It computes nothing of this one before it begins.
        """
        e = self.e
        kept, extents = (self.lane, self.warp, self.first, self.step, self.rows, self.columns), e.extents
        self.lane, self.warp, self.first, self.step, self.rows, self.columns = (
            hidden(e, "i32", n) for n in kept
        )
        e.extents = extents | self.wide_rows.assume(e)
        self.tiles_of_block(self.grid_of(self.neighbours), self.points_beside)
        self.lane, self.warp, self.first, self.step, self.rows, self.columns = kept
        e.extents = extents

    def are_enough(self, grid: Grid) -> str:
        """Emit whether tiles of several points for each thread are faster than iterations in row-major order.

        In a resident launch, blocks without a tile lose time. Other launches have twice the blocks that run at a time.
        On an H200 a sweep over the inner points of 1024^2 floats took 4.5 us with four points for each thread, though
        half of the blocks had no tile, and 8.3 us with one. Elements without joint accesses took longer.
        """
        if self.points == 1:
            return "true"
        if self.is_resident or self.neighbours == 1:
            return self.e.let(f"icmp sge i64 {grid.total}, {self.blocks}")
        return "true"

    def tiles_of_block(self, grid: Grid, points: Callable[[str, str, str], None]) -> None:
        """Emit the loop over the tiles of the block. LLVM turns the slots of its state into registers.

        `points` emits the points of this thread in a tile: it gets the row, the first column and the label of the end.
        """
        e = self.e
        slots = [e.slot(kind) for kind in STATE]

        def digits(tile: str) -> tuple[str, str]:
            """Return (row, column) of a tile among the tiles."""
            return e.let(f"udiv i32 {tile}, {grid.across}"), e.let(f"urem i32 {tile}, {grid.across}")

        def move(*state: str) -> None:
            for kind, slot, value in zip(STATE, slots, state, strict=True):
                e.line(f"store {kind} {value}, ptr {slot}")

        move(e.let(f"zext i32 {self.first} to i64"), *digits(self.first))
        step = digits(self.step)
        head, body, after = (e.label(stem) for stem in ("tiles", "tile", "after"))
        e.jump(head)
        e.start(head)
        at, row, column = (e.let(f"load {kind}, ptr {slot}") for kind, slot in zip(STATE, slots, strict=True))
        e.jump_if(e.let(f"icmp slt i64 {at}, {grid.total}"), body, after)
        e.start(body)
        move(e.let(f"add nsw i64 {at}, {self.blocks}"), *self.next(grid, (row, column), step))
        own = e.let(f"add i32 {e.let(f'mul i32 {row}, {self.height}')}, {self.warp}")
        some, end = e.label("some"), e.label("end")
        e.jump_if(e.let(f"icmp ult i32 {own}, {self.rows}"), some, end)
        e.start(some)
        points(own, e.let(f"mul i32 {column}, {grid.width}"), end)
        e.jump(end)
        e.start(end)
        e.jump(head)
        e.start(after)

    def next(self, grid: Grid, at: tuple[str, str], step: tuple[str, str]) -> tuple[str, str]:
        """Return the digits of the next tile of the block: they grow by those of the step, with a carry."""
        e = self.e
        (row, column), (row_step, column_step) = at, step
        there = e.let(f"add i32 {column}, {column_step}")
        over = e.let(f"icmp uge i32 {there}, {grid.across}")
        down = e.let(f"add i32 {e.let(f'add i32 {row}, {row_step}')}, {e.let(f'zext i1 {over} to i32')}")
        beside = e.let(f"select i1 {over}, i32 {e.let(f'sub i32 {there}, {grid.across}')}, i32 {there}")
        return down, beside

    def points_beside(self, own: str, begin: str, end: str) -> None:
        """Emit neighbouring points, whose accesses LLVM joins, and the point of this lane that is in no whole group.

        That point computes its addresses itself. If it used those of the group, threads of resident loops would need
        more registers (Jacobi over 64), so there would be fewer of them.
        """
        e, count = self.e, self.neighbours
        first = e.let(f"add i32 {begin}, {e.let(f'mul i32 {self.lane}, {count}')}")
        last = e.let(f"add i32 {first}, {count - 1}")
        together, rest, single = (e.label(stem) for stem in ("together", "rest", "single"))
        has_all = self.every(f"icmp uge i32 {first}, {self.shift}", f"icmp ult i32 {last}, {self.columns}")
        e.jump_if(has_all, together, rest)
        e.start(together)
        row, base = self.positions(own), self.index_of(first)
        places = [partial(self.place_beside, row, base, lane) for lane in range(count)]
        scopes = [scopes_of(lane) for lane in range(count)]
        self.branches.together(e, places, scopes, partial(self.in_turn, row, base))
        e.jump(rest)
        e.start(rest)
        column = self.odd_column()
        is_here = e.let(f"icmp ult i32 {e.let(f'sub i32 {column}, {begin}')}, {LANES * count}")
        e.jump_if(e.let(f"and i1 {is_here}, {e.let(f'icmp ult i32 {column}, {self.columns}')}"), single, end)
        e.start(single)
        own, column = hidden(e, "i32", own), hidden(e, "i32", column)
        self.place_beside(self.positions(own), self.index_of(column), 0)
        e.block(self.loop.body)

    def in_turn(self, row: list[str], base: str) -> None:
        """Emit neighbours one after the other, from the one at the index `base` on."""
        e, index = self.e, self.loop.axes[-1].index
        place(e, self.loop, self.begins, row)
        end = e.let(f"add nsw i64 {base}, {self.neighbours}")
        e.counted(index, base, end, 1, lambda _: e.block(self.loop.body), NOT_UNROLLED)

    def odd_column(self) -> str:
        """Return the column outside of whole groups of neighbours that this lane has, or one behind the loop.

        The first lanes have the columns before the first whole group, and the next ones those behind the last group. A
        loop of 32 columns or more has a whole group.
        """
        e, mask = self.e, self.neighbours - 1
        before = e.let(f"and i32 {e.let(f'sub i32 0, {self.shift}')}, {mask}")
        behind = e.let(f"sub i32 {e.let(f'and i32 {self.columns}, {~mask}')}, {before}")
        is_before = e.let(f"icmp ult i32 {self.lane}, {before}")
        return e.let(
            f"add i32 {self.lane}, {e.let(f'select i1 {is_before}, i32 {self.shift}, i32 {behind}')}"
        )

    def index_of(self, column: str) -> str:
        """Return the index along the last axis of a column."""
        origin = self.e.let(f"and i64 {self.begins[-1]}, {-LANES}")
        return self.e.let(f"add nsw i64 {origin}, {self.e.let(f'zext i32 {column} to i64')}")

    def place_beside(self, row: list[str], base: str, lane: int) -> None:
        """Set the indices to those of a neighbour of the column at the index `base`."""
        place(self.e, self.loop, self.begins, row)
        self.e.wide[self.loop.axes[-1].index] = self.e.let(f"or disjoint i64 {base}, {lane}")

    def points_apart(self, own: str, begin: str, end: str) -> None:
        """Emit points with 32 columns between them."""
        e, row = self.e, self.positions(own)
        first = e.let(f"add i32 {begin}, {self.lane}")
        last = e.let(f"add i32 {first}, {LANES * (self.points - 1)}")
        is_inside = e.let(f"icmp uge i32 {first}, {self.shift}")
        has_all = e.let(f"and i1 {is_inside}, {e.let(f'icmp ult i32 {last}, {self.columns}')}")
        together, others = e.label("together"), e.label("others") if self.points > 1 else end
        e.jump_if(has_all, together, others)
        if self.points > 1:
            e.start(others)
            second = e.let(f"add i32 {first}, {LANES}")
            start = e.let(f"select i1 {is_inside}, i32 {first}, i32 {second}")
            beyond = e.let(f"add i32 {begin}, {LANES * self.points}")
            limit = e.call("llvm.umin.i32", "i32", [("i32", beyond), ("i32", self.columns)])
            self.one_by_one(row, start, limit)
            e.jump(end)
        e.start(together)
        column = e.let(f"zext i32 {e.let(f'sub i32 {first}, {self.shift}')} to i64")
        places = [partial(self.place_apart, row, column, number) for number in range(self.points)]
        side_by_side(e, self.loop.body, places, [""] * self.points)

    def place_apart(self, row: list[str], column: str, number: int) -> None:
        """Set the indices to those of a point that is 32 columns times `number` behind a column of the loop."""
        column = self.e.let(f"add nuw nsw i64 {column}, {LANES * number}")
        place(self.e, self.loop, self.begins, [*row, column])

    def positions(self, row: str) -> list[str]:
        """Return the position of a row along each axis but the last one."""
        e = self.e
        found: list[str] = []
        for size in reversed(self.inner):
            found.insert(0, e.let(f"urem i32 {row}, {size}"))
            row = e.let(f"udiv i32 {row}, {size}")
        return [e.let(f"zext i32 {each} to i64") for each in (row, *found)]

    def one_by_one(self, row: list[str], begin: str, end: str) -> None:
        """Emit a loop over every 32nd column, which begins and ends behind the column `shift`."""
        e, at = self.e, ir.LoopIndex("column")
        low, high = (
            e.let(f"zext i32 {e.let(f'sub i32 {each}, {self.shift}')} to i64") for each in (begin, end)
        )

        def point(_: str) -> None:
            place(e, self.loop, self.begins, [*row, e.wide[at]])
            e.block(self.loop.body)

        e.counted(at, low, high, LANES, point, NOT_UNROLLED)
