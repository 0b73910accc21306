# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Block-local sums on a GPU: blocks combine sums before they access global memory.

Atomics of all threads on few elements wait for each other: 540,000 on one float take an H200 a millisecond.

Sums (passes/privatise_atomics.py): each thread has its own sum. The lanes of a warp join theirs by shuffles, and the
warps join theirs by way of shared memory. One thread of the block does the atomic, if any thread contributed. Threads
do their own atomics in a block whose size is no multiple of 32, if a thread may end early, and for sums above a limit.

Bins are in block_bins.py.
"""

from __future__ import annotations

from cuda_graphs.compiler.codegen.llvm.bins import branch
from cuda_graphs.compiler.codegen.llvm.emitter import Emitter
from cuda_graphs.compiler.codegen.llvm.notation import llvm_type, number
from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.ir.collectives import WARP
from cuda_graphs.compiler.passes.demote_atomics import ROWS
from cuda_graphs.compiler.passes.privatise_atomics import MAX_BLOCK_SUMS, neutral

from .warp_exchange import FULL, GpuWarp, emit_if

__all__ = ["SHARED", "add_sums", "shared_memory"]

SHARED = " addrspace(3)"


def shared_memory(e: Emitter, name: str, kind: str) -> str:
    """Declare shared memory of the block; return its LLVM name."""
    e.declare(f"@{name}", f"@{name} = internal addrspace(3) global {kind} undef, align 16")
    return f"@{name}"


# Sums


def add_sums(e: Emitter, task: ir.Task, sums: list[ir.If], capability: int) -> None:
    """Emit the atomics for the threads' own sums. The bodies of `sums` hold these atomics."""

    may_end = any(isinstance(s, (ir.Exit, ir.Assert)) for s in ir.walk(task.body))
    few, more = ([], sums) if may_end else (sums[:MAX_BLOCK_SUMS], sums[MAX_BLOCK_SUMS:])
    e.block(ir.Block(list(more)))
    if few:
        join(e, task.name, few, capability)


def join(e: Emitter, name: str, sums: list[ir.If], capability: int) -> None:
    """Emit the join of sums over the block if all its warps are full, else one atomic for each thread."""

    def per_thread() -> None:
        e.block(ir.Block(list(sums)))

    lanes = GpuWarp(e, capability)
    threads = lanes.register("ntid.x")
    whole = e.let(f"icmp eq i32 {e.let(f'and i32 {threads}, {WARP - 1}')}, 0")
    block_sums = [_BlockSum(e, lanes, f"{name}_sum{i}", each) for i, each in enumerate(sums)]

    def per_block() -> None:
        warp, lane = lanes.warp(), lanes.lane()
        first = e.let(f"icmp eq i32 {lane}, 0")
        for each in block_sums:
            each.reduce_warp(warp, first)
        lanes.wait()
        warps = e.let(f"lshr i32 {threads}, 5")

        def first_warp() -> None:
            for each in block_sums:
                each.reduce_block(lane, warps, first)

        emit_if(e, e.let(f"icmp eq i32 {warp}, 0"), first_warp)

    branch(e, whole, per_block, per_thread)


class _BlockSum:
    """Emitter for one sum. Each warp leaves a value in shared memory, with a flag that a lane contributed."""

    def __init__(self, e: Emitter, lanes: GpuWarp, name: str, statement: ir.If) -> None:
        self.e, self.lanes, self.statement = e, lanes, statement
        self.found, self.atomic = statement.then.body
        assert isinstance(self.found, ir.Get)
        assert isinstance(self.atomic, ir.Atomic)
        self.type = self.atomic.type
        self.t = llvm_type(self.type)
        self.identity = number(neutral(self.atomic.kind, self.type).value, self.type)
        self.values = shared_memory(e, f"{name}_values", f"[{WARP} x {self.t}]")
        self.flags = shared_memory(e, f"{name}_flags", f"[{WARP} x i32]")

    def element(self, array: str, kind: str, at: str) -> str:
        return self.e.let(f"getelementptr inbounds [{WARP} x {kind}], ptr{SHARED} {array}, i32 0, i32 {at}")

    def joined(self, value: str) -> str:
        assert isinstance(self.atomic, ir.Atomic)
        row = ROWS.get(self.atomic.kind, self.atomic.kind)
        return self.lanes.reduced(row, self.type, value, self.identity, FULL)

    def reduce_warp(self, warp: str, first: str) -> None:
        e = self.e
        e.block(ir.Block([self.found]))
        assert isinstance(self.found, ir.Get)
        value = self.joined(e.value(self.found))
        some = e.let(f"zext i1 {self.lanes.vote('any', e.value(self.statement.condition), FULL)} to i32")

        def leave() -> None:
            e.line(f"store {self.t} {value}, ptr{SHARED} {self.element(self.values, self.t, warp)}")
            e.line(f"store i32 {some}, ptr{SHARED} {self.element(self.flags, 'i32', warp)}")

        emit_if(e, first, leave)

    def reduce_block(self, lane: str, warps: str, first: str) -> None:
        """Emit the join in the first warp, where each lane stands for a warp, and the atomic."""
        e, t = self.e, self.t
        there = e.let(f"icmp ult i32 {lane}, {warps}")
        at = e.let(f"select i1 {there}, i32 {lane}, i32 0")
        left = e.let(f"load {t}, ptr{SHARED} {self.element(self.values, t, at)}")
        some = e.let(f"load i32, ptr{SHARED} {self.element(self.flags, 'i32', at)}")
        value = self.joined(e.let(f"select i1 {there}, {t} {left}, {t} {self.identity}"))
        counts = e.let(f"and i1 {there}, {e.let(f'icmp ne i32 {some}, 0')}")
        contributed = self.lanes.vote("any", counts, FULL)

        def add() -> None:
            atomic = self.atomic
            assert isinstance(atomic, ir.Atomic)
            assert isinstance(atomic.array, ir.Array)
            e.emit_atomic(atomic, *e.address(atomic.array, atomic.index), value)

        emit_if(e, e.let(f"and i1 {first}, {contributed}"), add)
