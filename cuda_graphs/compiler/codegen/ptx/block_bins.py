# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Bins of blocks on a GPU: `bins[x[i]] += 1` changes a copy of the array in shared memory, where atomics are fast.

If the array is too large, or a block has too few iterations, atomics go to global memory. The code contains both
versions, as on the CPU (thread_bins.py). The pass passes/mark_bins.py finds the arrays.

Shared memory has 32 banks of 4 bytes, and serves a warp as often as its lanes need different words of one bank: for 256
even bins 3 to 4 times an atomic. Atomics that are loops around cmpxchg, such as sums of floats, also repeat for each
lane with the same bin. Therefore a bin has up to WARP copies, as many as the memory holds and the iterations repay.
Copies of a bin are neighbours, and each lane has its own:

    bin 0: lane 0, lane 1, ..., lane 31; bin 1: lane 0, ...

so the lanes of a warp use different banks if there are 32 copies of 4 bytes. In the end one thread joins the copies of
a bin. Neighbouring threads begin at different copies, because those use different banks, too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from cuda_graphs.compiler.artifact import SHARED_ALIGNMENT
from cuda_graphs.compiler.codegen.llvm.bins import Counts, add_bin, bin_counts, branch, identity
from cuda_graphs.compiler.codegen.llvm.emitter import Emitter
from cuda_graphs.compiler.codegen.llvm.notation import llvm_type
from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.ir.collectives import WARP
from cuda_graphs.compiler.passes.demote_atomics import ROWS
from cuda_graphs.compiler.passes.mark_bins import BIN_BYTES

from .block_reductions import SHARED, shared_memory
from .grid_stride import strided
from .warp_exchange import GpuWarp

__all__ = ["BinMemory", "with_block_bins"]

REPAYS = 4  # iterations of a block per bin that pay for its initialisation and final addition
COPY_REPAYS = 2  # the same for each of several copies of a bin


class BinMemory(NamedTuple):
    """The shared memory for bins of a launch.

    Attributes:
        name: The name of the memory.
        bytes: Its size.
        in_turn: Whether several tasks of the launch use it, one after the other.
    """

    name: str
    bytes: int
    in_turn: bool


def with_block_bins(
    e: Emitter,
    memory: BinMemory,
    atomics: tuple[ir.Atomic, ...],
    capability: int,
    total: str,
    run: Callable[[], None],
) -> None:
    """Emit two versions of the code of `run`: with bins in shared memory for the arrays of `atomics`, and without."""
    lanes = GpuWarp(e, capability)
    thread = e.let(f"zext i32 {lanes.thread} to i64")
    threads, blocks = (e.let(f"zext i32 {lanes.register(n)} to i64") for n in ("ntid.x", "nctaid.x"))
    counts = bin_counts(e, atomics)
    iterations = e.let(f"udiv i64 {total}, {blocks}")
    shared = shared_memory(e, memory.name, f"[{memory.bytes} x i8]")
    size = memory.bytes // len(counts) // SHARED_ALIGNMENT * SHARED_ALIGNMENT

    def with_bins() -> None:
        if memory.in_turn:
            lanes.wait()
        bins = []
        for number, ((array, atomic), count) in enumerate(counts.items()):
            place = e.let(f"getelementptr i8, ptr{SHARED} {shared}, i32 {number * size}")
            bins.append(_Bins(e, lanes, place, size, atomic, array, count, iterations))
        for each in bins:
            strided(e, thread, threads, each.pieces, each.clear)
        lanes.wait()
        global_memory = e.addresses
        e.addresses = global_memory | {each.array: each.own for each in bins}
        e.spaces = {each.array: SHARED for each in bins}
        e.strides = {each.array: each.stride for each in bins}
        run()
        e.addresses, e.spaces, e.strides = global_memory, {}, {}
        lanes.wait()
        for each in bins:
            strided(e, thread, threads, each.count, each.add)

    branch(e, pays(e, counts, iterations), with_bins, run)


def pays(e: Emitter, counts: Counts, iterations: str) -> str:
    """Emit the condition that all bins fit and that there are enough iterations; return its name."""
    worth = "true"
    for (array, _), count in counts.items():
        small = e.let(f"icmp ule i64 {count}, {capacity(array)}")
        repaid = e.let(f"icmp ule i64 {e.let(f'mul i64 {count}, {REPAYS}')}, {iterations}")
        worth = e.let(f"and i1 {worth}, {e.let(f'and i1 {small}, {repaid}')}")
    return worth


def capacity(array: ir.Array) -> int:
    """Return the largest number of bins for an array."""
    return BIN_BYTES // array.element.size


class _Bins:
    """The bins of one array, in `size` bytes of shared memory, which hold at least one copy of each.

    Attributes:
        own: The copy of bin 0 of this thread.
        stride: Bytes from a bin to the next one, in 32 bits.
        pieces: Pieces of SHARED_ALIGNMENT bytes of the memory that is used.
    """

    def __init__(
        self,
        e: Emitter,
        lanes: GpuWarp,
        memory: str,
        size: int,
        atomic: ir.Atomic,
        array: ir.Array,
        count: str,
        iterations: str,
    ) -> None:
        self.e, self.memory, self.atomic, self.array, self.count = e, memory, atomic, array, count
        self.t, self.bytes = llvm_type(array.element), array.element.size
        number = e.let(f"trunc i64 {count} to i32")
        self.last = self.last_copy(number, size, iterations)
        self.copies = e.let(f"add i32 {self.last}, 1")
        copy = e.let(f"and i32 {lanes.thread}, {self.last}")
        self.stride = e.let(f"mul i32 {self.copies}, {self.bytes}")
        self.own = self.at(e.let(f"mul i32 {copy}, {self.bytes}"))
        used = e.let(f"add i32 {e.let(f'mul i32 {number}, {self.stride}')}, {SHARED_ALIGNMENT - 1}")
        self.pieces = e.let(f"zext i32 {e.let(f'udiv i32 {used}, {SHARED_ALIGNMENT}')} to i64")
        self.thread = lanes.thread

    def last_copy(self, number: str, size: int, iterations: str) -> str:
        """Emit the number of the last copy of each bin. Copies are the largest power of 2 that fits and pays."""
        e, found, copies = self.e, "0", 2
        repaid = e.let(f"udiv i64 {iterations}, {COPY_REPAYS}")
        least = e.call("llvm.umin.i64", "i64", [("i64", repaid), ("i64", str(size // self.bytes))])
        most = e.let(f"trunc i64 {least} to i32")
        while copies <= WARP:
            fits = e.let(f"icmp ule i32 {e.let(f'mul i32 {number}, {copies}')}, {most}")
            found = e.let(f"select i1 {fits}, i32 {copies - 1}, i32 {found}")
            copies *= 2
        return found

    def at(self, offset: str) -> str:
        return self.e.let(f"getelementptr inbounds i8, ptr{SHARED} {self.memory}, i32 {offset}")

    def clear(self, piece: str, following: str) -> None:
        """Emit the initialisation of a piece of the memory."""
        e, many = self.e, SHARED_ALIGNMENT // self.bytes
        values = ", ".join([f"{self.t} {identity(self.atomic)}"] * many)
        offset = e.let(f"mul i32 {e.let(f'trunc i64 {piece} to i32')}, {SHARED_ALIGNMENT}")
        e.line(
            f"store <{many} x {self.t}> <{values}>, ptr{SHARED} {self.at(offset)}, align {SHARED_ALIGNMENT}"
        )

    def add(self, bin: str, following: str) -> None:
        """Emit the addition of a bin to the array, if the bin has changed."""
        e, array = self.e, self.array
        value = self.joined(e.let(f"trunc i64 {bin} to i32"))
        to = e.let(f"getelementptr inbounds {self.t}, {e.pointer(array)} {e.addresses[array]}, i64 {bin}")
        add_bin(e, self.atomic, value, to, following)

    def joined(self, bin: str) -> str:
        """Emit the join of all copies of a bin; return the result."""
        e, row = self.e, ROWS.get(self.atomic.kind, self.atomic.kind)
        first = e.let(f"mul i32 {bin}, {self.stride}")
        turn = e.let(f"udiv i32 {e.let(f'mul i32 {self.thread}, {self.copies}')}, {WARP}")
        sum_ = e.slot(self.t)
        e.line(f"store {self.t} {identity(self.atomic)}, ptr {sum_}")
        index = ir.LoopIndex("copy")

        def body(_: str) -> None:
            number = e.let(f"add i32 {e.let(f'trunc i64 {e.wide[index]} to i32')}, {turn}")
            copy = e.let(f"mul i32 {e.let(f'and i32 {number}, {self.last}')}, {self.bytes}")
            found = e.let(f"load {self.t}, ptr{SHARED} {self.at(e.let(f'add i32 {first}, {copy}'))}")
            before = e.let(f"load {self.t}, ptr {sum_}")
            e.line(f"store {self.t} {e.computed(row, self.atomic.type, [before, found])}, ptr {sum_}")

        e.counted(index, "0", e.let(f"zext i32 {self.copies} to i64"), 1, body, e.unrolled)
        return e.let(f"load {self.t}, ptr {sum_}")
