# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Loops of blocks for a CPU: one worker runs a block, whose regions are loops over its threads.

    each thread: a             for t in 0..256: a(t)          a vector loop, as in plain tasks
    barrier
    each thread: b      =>     for t in 0..256: b(t)
    sum = reduce_add v         loops over the array v

A local that is used in two regions or in a collective is an array with an element for each thread of the block, in the
scratch memory of the worker. Only this worker accesses the block's shared memory, so atomics on it are plain.
"""

from __future__ import annotations

from collections.abc import Callable

from cuda_graphs.compiler.codegen.llvm.block_schedule import Team, nothing, source_of
from cuda_graphs.compiler.codegen.llvm.emitter import Emitter
from cuda_graphs.compiler.codegen.llvm.notation import llvm_type
from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.ir.collectives import COLLECTIVES, WARP, Row
from cuda_graphs.compiler.ir.types import ScalarType

__all__ = ["CpuTeam"]

LINE = 64  # bytes: each array of the scratch memory begins at a multiple of it
PARALLEL = ", !llvm.loop !1"
ROLLED = ", !llvm.loop !4"  # for loops over lanes and warps, which unrolling would only enlarge
MARK = ", !llvm.access.group !0"  # for memory that threads do not share within a region (target_x86.METADATA)


class CpuTeam(Team):
    """Emitter for blocks whose threads all run in one worker."""

    alone = True  # in the shared memory of the block

    def __init__(self, e: Emitter, loop: ir.For) -> None:
        super().__init__(e, loop)
        self.arrays: dict[ir.Local, str] = {}
        self.size = str(loop.block_dim)  # number of threads of this block

    def run(self, low: str, high: str) -> None:
        """Emit a loop over the blocks from `low` to `high`."""
        e = self.e
        self.allocate()
        index = ir.LoopIndex("block")

        def body(following: str) -> None:
            self.block = e.wide[index]
            self.place(self.block, 0, self.outer)
            if not self.outer:
                left = e.let(f"sub i64 {self.total}, {e.let(f'mul i64 {self.block}, {self.loop.block_dim}')}")
                sizes = [("i64", left), ("i64", str(self.loop.block_dim))]
                self.size = e.call("llvm.smin.i64", "i64", sizes)
            e.loops.append((following, following))
            e.block(self.loop.body)
            e.loops.pop()

        e.counted(index, low, high, 1, body)

    # Variables

    def allocate(self) -> None:
        """Emit the allocation of the locals that are arrays."""
        offset = 0
        found = arrays_of(self.loop)
        if not found:
            return
        sizes = {local: -(-self.loop.block_dim * local.type.size // LINE) * LINE for local in found}
        memory = self.e.call("cgh_scratch", "noalias ptr", [("i64", str(sum(sizes.values())))])
        for local, size in sizes.items():
            self.arrays[local] = self.e.let(f"getelementptr i8, ptr {memory}, i64 {offset}")
            offset += size

    def variable(self, local: ir.Local) -> tuple[str, str] | None:
        """Return (pointer to this thread's element, metadata of its accesses); None for an ordinary variable."""
        if local not in self.arrays:
            return None
        return self.element(local, self.thread), self.e.metadata

    def element(self, local: ir.Local, at: str) -> str:
        return self.e.let(
            f"getelementptr inbounds {llvm_type(local.type)}, ptr {self.arrays[local]}, i64 {at}"
        )

    # Statements

    def region(self, statement: ir.Region) -> None:
        self.e.metadata = MARK
        if self.outer == len(self.loop.axes):  # one thread per block
            self.each("1", lambda at, following: self.inside(statement.body, "0", following))
        elif self.outer:
            self.nest(statement.body, self.outer, "0")
        else:
            self.each(self.size, lambda at, following: self.one(statement.body, at, following), PARALLEL)
        self.e.metadata = ""

    def nest(self, body: ir.Block, axis: int, before: str) -> None:
        """Emit loops over the axes that number the threads of a block."""
        e = self.e
        last = axis + 1 == len(self.loop.axes)

        def point(at: str, following: str) -> None:
            self.define(axis, at)
            thread = at if before == "0" else e.let(f"add nsw i64 {before}, {at}")
            if last:
                self.inside(body, thread, following)
            else:
                self.nest(body, axis + 1, e.let(f"mul nsw i64 {thread}, {self.counts[axis + 1]}"))

        self.each(self.counts[axis], point, PARALLEL if last else ROLLED)

    def one(self, body: ir.Block, thread: str, following: str) -> None:
        """Emit the body for a thread of a block that may be partial."""
        before = self.e.let(f"mul nsw i64 {self.block}, {self.loop.block_dim}")
        self.place(self.e.let(f"add nsw i64 {before}, {thread}"), 0, len(self.loop.axes))
        self.inside(body, thread, following)

    def inside(self, body: ir.Block, thread: str, following: str) -> None:
        self.thread = thread
        self.e.loops.append((following, following))
        self.e.block(body)
        self.e.loops.pop()
        self.thread = ""

    def each(self, end: str, body: Callable[[str, str], None], parallel: str = ROLLED) -> None:
        """Emit a loop from 0. `body` gets the number and the label of the next iteration."""
        index = ir.LoopIndex("each")
        self.e.counted(index, "0", end, 1, lambda following: body(self.e.wide[index], following), parallel)

    def barrier(self, statement: ir.Barrier) -> None:
        """Emit nothing: regions already follow one another."""

    def position(self, statement: ir.Position) -> None:
        self.e.wide[statement] = self.thread if statement.kind == "thread" else self.block

    # Collectives

    def region_collective(self, m: ir.RegionCollective) -> None:
        row = COLLECTIVES[m.name]
        if row.source:
            self.shuffle(m, row)
        elif row.rule == "ballot":
            self.warps(m, lambda base: self.ballot(m, base))
        elif row.scope == "warp":
            self.warps(m, lambda base: self.reduced(m, row, base))
        else:
            self.reduce_block(m, row)

    def given(self, arg: ir.Local | ir.Value, at: str) -> str:
        if isinstance(arg, ir.Value):
            return self.e.value(arg)
        return self.e.let(f"load {llvm_type(arg.type)}, ptr {self.element(arg, at)}{self.e.metadata}")

    def shuffle(self, m: ir.RegionCollective, row: Row) -> None:
        e = self.e

        def one(at: str, following: str) -> None:
            lane, base = e.let(f"and i64 {at}, {WARP - 1}"), e.let(f"and i64 {at}, -{WARP}")
            operand = e.let(f"and i32 {self.given(m.args[1], at)}, {WARP - 1}")
            source = source_of(e, row, "i64", lane, e.let(f"zext i32 {operand} to i64"))
            place = e.let(f"add i64 {base}, {source}")
            there = e.let(f"icmp ult i64 {source}, {WARP}")
            there = e.let(f"and i1 {there}, {e.let(f'icmp ult i64 {place}, {self.size}')}")
            place = e.let(f"select i1 {there}, i64 {place}, i64 {at}")
            if m.mask is not None:
                place = e.let(f"select i1 {self.given(m.mask, place)}, i64 {place}, i64 {at}")
            found = self.given(m.args[0], place)
            t = llvm_type(m.result.type)
            e.line(f"store {t} {found}, ptr {self.element(m.result, at)}{e.metadata}")

        e.metadata = MARK
        self.each(self.size, one, PARALLEL)
        e.metadata = ""

    def warps(self, m: ir.RegionCollective, make: Callable[[str], str]) -> None:
        """Emit the value of each warp with `make`, given the warp's first thread; store it for all lanes."""
        e, t = self.e, llvm_type(m.result.type)

        def one(warp: str, following: str) -> None:
            base = e.let(f"mul nsw i64 {warp}, {WARP}")
            found = make(base)
            left = e.let(f"sub nsw i64 {self.size}, {base}")
            end = e.call("llvm.smin.i64", "i64", [("i64", left), ("i64", str(WARP))])

            def lane(at: str, following: str) -> None:
                e.line(f"store {t} {found}, ptr {self.element(m.result, e.let(f'add nsw i64 {base}, {at}'))}")

            self.each(end, lane)

        self.each(self.warp_count(), one)

    def warp_count(self) -> str:
        return self.e.let(f"udiv i64 {self.e.let(f'add i64 {self.size}, {WARP - 1}')}, {WARP}")

    def there(self, m: ir.RegionCollective, base: str, lane: str) -> tuple[str, str]:
        """Return (flag that a thread takes part, its number, or 0 if the thread does not exist)."""
        e = self.e
        at = e.let(f"add nsw i64 {base}, {lane}")
        there = e.let(f"icmp ult i64 {at}, {self.size}")
        at = e.let(f"select i1 {there}, i64 {at}, i64 0")
        if m.mask is not None:
            there = e.let(f"and i1 {there}, {self.given(m.mask, at)}")
        return there, at

    def ballot(self, m: ir.RegionCollective, base: str) -> str:
        e, word = self.e, self.e.slot("i32")
        e.line(f"store i32 0, ptr {word}")

        def one(lane: str, following: str) -> None:
            there, at = self.there(m, base, lane)
            flag = e.let(f"select i1 {there}, i1 {self.given(m.args[0], at)}, i1 false")
            bit = e.let(f"shl i32 {e.let(f'zext i1 {flag} to i32')}, {e.let(f'trunc i64 {lane} to i32')}")
            before = e.let(f"load i32, ptr {word}")
            e.line(f"store i32 {e.let(f'or i32 {before}, {bit}')}, ptr {word}")

        self.each(str(WARP), one)
        return e.let(f"load i32, ptr {word}")

    def reduced(self, m: ir.RegionCollective, row: Row, base: str) -> str:
        """Emit the reduction of the warp whose first thread is `base`; return its result."""
        e, type = self.e, m.result.type
        t, lanes = llvm_type(type), e.slot(f"[{WARP} x {llvm_type(type)}]")

        def fill(lane: str, following: str) -> None:
            there, at = self.there(m, base, lane)
            found = e.let(f"select i1 {there}, {t} {self.given(m.args[0], at)}, {t} {nothing(row, type)}")
            e.line(f"store {t} {found}, ptr {e.let(f'getelementptr inbounds {t}, ptr {lanes}, i64 {lane}')}")

        self.each(str(WARP), fill)
        return self.tree(row, type, lanes)

    def tree(self, row: Row, type: ScalarType, values: str) -> str:
        """Emit a call that joins 32 values, each with the value 16, then 8, 4, 2, 1 further on; return the result.

        The call goes to a function of its own, as the code is long.
        """
        name = f"tree_{row.combine}_{type}"
        if name not in self.e.declarations:
            self.e.declare(name, tree_function(self.e, name, row, type))
        return self.e.let(f"call {llvm_type(type)} @{name}(ptr {values})")

    def reduce_block(self, m: ir.RegionCollective, row: Row) -> None:
        e, type = self.e, m.result.type
        t = llvm_type(type)
        warps = e.slot(f"[{WARP} x {t}]")

        def place(at: str) -> str:
            return e.let(f"getelementptr inbounds {t}, ptr {warps}, i64 {at}")

        self.each(str(WARP), lambda at, _: e.line(f"store {t} {nothing(row, type)}, ptr {place(at)}"))

        def one(warp: str, following: str) -> None:
            found = self.reduced(m, row, e.let(f"mul nsw i64 {warp}, {WARP}"))
            e.line(f"store {t} {found}, ptr {place(warp)}")

        self.each(self.warp_count(), one)
        e.line(f"store {t} {self.tree(row, type, warps)}, ptr {e.variable(m.result)}")


def tree_function(caller: Emitter, name: str, row: Row, type: ScalarType) -> str:
    """Return the LLVM text of the function that joins 32 values as a tree."""
    e, t = Emitter(caller.target, caller.declarations), llvm_type(type)
    distance = WARP // 2
    while distance:
        index = ir.LoopIndex("at")

        def join(following: str, index: ir.LoopIndex = index, distance: int = distance) -> None:
            ends = (e.wide[index], e.let(f"add nsw i64 {e.wide[index]}, {distance}"))
            places = [e.let(f"getelementptr inbounds {t}, ptr %values, i64 {at}") for at in ends]
            pair = [e.let(f"load {t}, ptr {place}") for place in places]
            e.line(f"store {t} {e.computed(row.combine, type, pair)}, ptr {places[0]}")

        e.counted(index, "0", str(distance), 1, join)
        distance //= 2
    e.line(f"ret {t} {e.let(f'load {t}, ptr %values')}")
    return f"define internal {t} @{name}(ptr noalias %values) noinline nounwind {{\n{e.text()}\n}}\n"


def arrays_of(loop: ir.For) -> list[ir.Local]:
    """Return the locals that hold a value for each thread across regions, or in a collective."""
    users: dict[ir.Local, set[ir.Statement]] = {}
    common: set[ir.Local] = set()

    def look(block: ir.Block, region: ir.Region | None) -> None:
        for statement in block.body:
            if isinstance(statement, ir.RegionCollective):
                for each in (
                    *statement.args,
                    statement.mask,
                    None if statement.uniform else statement.result,
                ):
                    if isinstance(each, ir.Local):
                        users.setdefault(each, set()).update((statement, loop))
            local = getattr(statement, "local", None)
            if local is not None and region is not None:
                users.setdefault(local, set()).add(region)
            elif isinstance(statement, ir.Set):
                common.add(statement.local)
            for inner in ir.blocks_of(statement):
                look(inner, statement if isinstance(statement, ir.Region) else region)

    look(loop.body, None)
    written = {s.local for s in ir.walk(loop.body) if isinstance(s, ir.Set)} | {
        s.result for s in ir.walk(loop.body) if isinstance(s, ir.RegionCollective) and not s.uniform
    }
    return [
        each for each, where in users.items() if len(where) > 1 and each in written and each not in common
    ]
