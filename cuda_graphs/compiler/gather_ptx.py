# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""What a block of the GPU gathers before it touches memory: sums of all threads, and bins in its shared memory.

Atomics of all threads on one element, or on few, wait for each other: 540,000 on one float take an H200 a millisecond.

Sums (passes/gather_atomics.py): each thread has one of its own; lanes of a warp join theirs by shuffles, warps by way
of shared memory, and one thread of the block does the atomic, where any of them had something. In a block whose size
is no multiple of 32, or if a thread may end before, each does its own; and so for sums that are too many.

Bins (passes/mark_bins.py): a copy of the array in shared memory, where atomics are fast. Where the array is too large,
or there is too little to do for each block, atomics go to memory: both versions are there, as on the CPU (bins.py).
"""

from __future__ import annotations

from collections.abc import Callable

from . import ir
from .bins import add_bin, bin_counts, either, pays, room, untouched
from .collectives import WARP
from .lanes_ptx import FULL, GpuLanes, when
from .llvm import Emitter
from .notation import llvm_type, number
from .passes.demote_atomics import ROWS
from .passes.gather_atomics import JOINED, neutral
from .strides_ptx import strided

__all__ = ["add_sums", "with_block_bins"]

SHARED = " addrspace(3)"


def memory(e: Emitter, name: str, kind: str) -> str:
    """Shared memory of the block."""
    e.declare(f"@{name}", f"@{name} = internal addrspace(3) global {kind} undef, align 16")
    return f"@{name}"


# Sums


def add_sums(e: Emitter, task: ir.Task, sums: list[ir.If], capability: int) -> None:
    """Do the atomics of what threads have gathered, which is in the bodies of these statements."""

    may_end = any(isinstance(s, (ir.Exit, ir.Assert)) for s in ir.walk(task.body))
    few, more = ([], sums) if may_end else (sums[:JOINED], sums[JOINED:])
    e.block(ir.Block(list(more)))
    if few:
        join(e, task.name, few, capability)


def join(e: Emitter, name: str, sums: list[ir.If], capability: int) -> None:
    """Those of whole warps together."""

    def alone() -> None:
        e.block(ir.Block(list(sums)))

    lanes = GpuLanes(e, capability)
    threads = lanes.register("ntid.x")
    whole = e.let(f"icmp eq i32 {e.let(f'and i32 {threads}, {WARP - 1}')}, 0")
    shares = [_Share(e, lanes, f"{name}_sum{i}", each) for i, each in enumerate(sums)]

    def together() -> None:
        warp, lane = lanes.warp(), lanes.lane()
        first = e.let(f"icmp eq i32 {lane}, 0")
        for share in shares:
            share.of_warp(warp, first)
        lanes.wait()
        warps = e.let(f"lshr i32 {threads}, 5")

        def of_block() -> None:
            for share in shares:
                share.of_block(lane, warps, first)

        when(e, e.let(f"icmp eq i32 {warp}, 0"), of_block)

    either(e, whole, together, alone)


class _Share:
    """One sum: the shared memory that warps leave theirs in, a value and whether it counts."""

    def __init__(self, e: Emitter, lanes: GpuLanes, name: str, statement: ir.If) -> None:
        self.e, self.lanes, self.statement = e, lanes, statement
        self.found, self.atomic = statement.then.body
        assert isinstance(self.found, ir.Get)
        assert isinstance(self.atomic, ir.Atomic)
        self.type = self.atomic.type
        self.t = llvm_type(self.type)
        self.nothing = number(neutral(self.atomic.kind, self.type).value, self.type)
        self.values = memory(e, f"{name}_values", f"[{WARP} x {self.t}]")
        self.flags = memory(e, f"{name}_flags", f"[{WARP} x i32]")

    def place(self, array: str, kind: str, at: str) -> str:
        return self.e.let(f"getelementptr inbounds [{WARP} x {kind}], ptr{SHARED} {array}, i32 0, i32 {at}")

    def joined(self, value: str) -> str:
        assert isinstance(self.atomic, ir.Atomic)
        row = ROWS.get(self.atomic.kind, self.atomic.kind)
        return self.lanes.reduced(row, self.type, value, self.nothing, FULL)

    def of_warp(self, warp: str, first: str) -> None:
        e = self.e
        e.block(ir.Block([self.found]))
        assert isinstance(self.found, ir.Get)
        value = self.joined(e.value(self.found))
        some = e.let(f"zext i1 {self.lanes.vote('any', e.value(self.statement.condition), FULL)} to i32")

        def leave() -> None:
            e.line(f"store {self.t} {value}, ptr{SHARED} {self.place(self.values, self.t, warp)}")
            e.line(f"store i32 {some}, ptr{SHARED} {self.place(self.flags, 'i32', warp)}")

        when(e, first, leave)

    def of_block(self, lane: str, warps: str, first: str) -> None:
        """In the first warp, each of whose lanes stands for a warp."""
        e, t = self.e, self.t
        there = e.let(f"icmp ult i32 {lane}, {warps}")
        at = e.let(f"select i1 {there}, i32 {lane}, i32 0")
        left = e.let(f"load {t}, ptr{SHARED} {self.place(self.values, t, at)}")
        some = e.let(f"load i32, ptr{SHARED} {self.place(self.flags, 'i32', at)}")
        value = self.joined(e.let(f"select i1 {there}, {t} {left}, {t} {self.nothing}"))
        counts = e.let(f"and i1 {there}, {e.let(f'icmp ne i32 {some}, 0')}")
        any_of_them = self.lanes.vote("any", counts, FULL)

        def add() -> None:
            atomic = self.atomic
            assert isinstance(atomic, ir.Atomic)
            assert isinstance(atomic.array, ir.Array)
            e.change(atomic, *e.address(atomic.array, atomic.index), value)

        when(e, e.let(f"and i1 {first}, {any_of_them}"), add)


# Bins


def with_block_bins(
    e: Emitter,
    name: str,
    atomics: tuple[ir.Atomic, ...],
    capability: int,
    total: str,
    run: Callable[[], None],
) -> None:
    """Emit what `run` emits twice: with bins in shared memory for the arrays of these atomics, and without them."""
    lanes = GpuLanes(e, capability)
    thread = e.let(f"zext i32 {lanes.thread} to i64")
    threads, blocks = (e.let(f"zext i32 {lanes.register(n)} to i64") for n in ("ntid.x", "nctaid.x"))
    counts = bin_counts(e, atomics)
    bins = [
        _Bins(e, f"{name}_bins{i}", array, atomic, count)
        for i, ((array, atomic), count) in enumerate(counts.items())
    ]

    def own() -> None:
        for each in bins:
            strided(e, thread, threads, each.count, each.clear)
        lanes.wait()
        outside = e.addresses
        e.addresses = outside | {each.array: each.memory for each in bins}
        e.spaces = {each.array: SHARED for each in bins}
        run()
        e.addresses, e.spaces = outside, {}
        lanes.wait()
        for each in bins:
            strided(e, thread, threads, each.count, each.add)

    either(e, pays(e, counts, e.let(f"udiv i64 {total}, {blocks}")), own, run)


class _Bins:
    """Those of one array, in shared memory."""

    def __init__(self, e: Emitter, name: str, array: ir.Array, atomic: ir.Atomic, count: str) -> None:
        self.e, self.array, self.atomic, self.count = e, array, atomic, count
        self.t = llvm_type(array.element)
        self.memory = memory(e, name, f"[{room(array)} x {self.t}]")

    def place(self, at: str) -> str:
        return self.e.let(f"getelementptr inbounds {self.t}, ptr{SHARED} {self.memory}, i64 {at}")

    def clear(self, at: str, following: str) -> None:
        self.e.line(f"store {self.t} {untouched(self.atomic)}, ptr{SHARED} {self.place(at)}")

    def add(self, at: str, following: str) -> None:
        """Add what is in a bin to the array, if it has changed."""
        e, array = self.e, self.array
        value = e.let(f"load {self.t}, ptr{SHARED} {self.place(at)}")
        to = e.let(f"getelementptr inbounds {self.t}, {e.pointer(array)} {e.addresses[array]}, i64 {at}")
        add_bin(e, self.atomic, value, to, following)
