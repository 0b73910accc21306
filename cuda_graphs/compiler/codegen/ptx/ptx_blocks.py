# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Loops of blocks for a GPU: the GPU's blocks stride over the blocks of the loop.

All threads of a block execute the whole body except regions. Unless the last block of a loop is known to be full, its
regions are under `if active`. Therefore all threads reach each barrier, and all lanes of a warp reach each exchange,
even threads that do not take part. In the last warp of a block whose size is no multiple of 32, missing lanes are
masked.

A reduction over a block first reduces each warp, then the results of the warps by way of shared memory.
"""

from __future__ import annotations

from cuda_graphs.compiler.artifact import is_dynamic, shared_layout
from cuda_graphs.compiler.codegen.llvm.block_loops import BlockLoop, fills_blocks, identity, source_lane
from cuda_graphs.compiler.codegen.llvm.emitter import Emitter
from cuda_graphs.compiler.codegen.llvm.notation import llvm_type
from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.ir.collectives import COLLECTIVES, WARP, Row
from cuda_graphs.compiler.ir.types import ScalarType, bool_, i64

from .grid_stride import strided
from .warp_exchange import FULL, GpuWarp, emit_if

__all__ = ["GpuBlockLoop"]

EXCHANGE = f"[{WARP + 1} x i64]"  # a result of each warp, and the result of the block


class GpuBlockLoop(BlockLoop):
    """Emitter for the threads of a GPU. `name` is the name of the entry, `capability` that of the GPU."""

    alone = False

    def __init__(self, e: Emitter, loop: ir.For, name: str, capability: int) -> None:
        super().__init__(e, loop)
        self.name, self.lanes = name, GpuWarp(e, capability)
        self.shares = False
        self.active: str | None = None  # flag that the thread has an iteration; None: it always has
        self.tid = e.let(f"zext i32 {self.lanes.thread} to i64")
        places, size = shared_layout(loop.body)
        for array, offset in places.items():
            if is_dynamic(size):
                self.allocate_dynamic(array, offset)
            else:
                self.allocate(array)

    def allocate_dynamic(self, array: ir.Array, offset: int) -> None:
        """Place an array in dynamic shared memory (PTX ISA, "Dynamic shared memory": .extern, without a size)."""
        self.shares = True
        name = f"@{self.name}_dynamic"
        self.e.declare(name, f"{name} = external addrspace(3) global [0 x i8], align 16")
        self.e.addresses[array] = self.e.let(f"getelementptr i8, ptr addrspace(3) {name}, i64 {offset}")

    def allocate(self, array: ir.Array) -> None:
        """Place an array in static shared memory."""
        count = 1
        for extent in array.shape or ():
            count *= extent
        kind = "i8" if array.element.kind == "bool" else llvm_type(array.element)
        self.e.addresses[array] = self.memory(array.path.replace(".", "_"), f"[{count} x {kind}]")

    def memory(self, name: str, kind: str) -> str:
        self.shares = True
        name = f"@{self.name}_{name}"
        self.e.declare(name, f"{name} = internal addrspace(3) global {kind} undef, align 16")
        return name

    def run(self) -> None:
        """Emit the loop over the blocks that one block of the GPU executes."""
        e = self.e
        first, step = (
            e.let(f"zext i32 {self.lanes.register(name)} to i64") for name in ("ctaid.x", "nctaid.x")
        )
        strided(e, first, step, self.blocks(), self.body)

    def body(self, at: str, following: str) -> None:
        e = self.e
        self.block = at
        if self.outer:
            self.define_axes(at, 0, self.outer)
            self.define_axes(self.tid, self.outer, len(self.loop.axes))
        else:
            point = e.let(f"add nsw i64 {e.let(f'mul nsw i64 {at}, {self.loop.block_dim}')}, {self.tid}")
            if not fills_blocks(self.loop):
                self.active = e.let(f"icmp slt i64 {point}, {self.total}")
            self.define_axes(point, 0, len(self.loop.axes))
        end = e.label("last")
        e.loops.append((end, end))
        e.block(self.loop.body)
        e.loops.pop()
        e.jump(end)
        e.start(end)
        if self.shares:
            self.lanes.wait()  # the next block uses the same memory

    # Statements

    def variable(self, local: ir.Local) -> tuple[str, str] | None:
        return None

    def region(self, statement: ir.Region) -> None:
        e = self.e
        inside, end = e.label("each"), e.label("all")
        if self.active is None:
            e.jump(inside)
        else:
            e.jump_if(self.active, inside, end)
        e.start(inside)
        e.loops.append((end, end))
        e.block(statement.body)
        e.loops.pop()
        e.jump(end)
        e.start(end)

    def barrier(self, statement: ir.Barrier) -> None:
        if statement.scope == "block":
            self.lanes.wait()
        else:
            self.e.call_void("llvm.nvvm.bar.warp.sync", [("i32", self.members())])

    def position(self, statement: ir.Position) -> None:
        self.e.wide[statement] = self.tid if statement.kind == "thread" else self.block

    # Collectives

    def collective(self, m: ir.RegionCollective) -> None:
        e, row = self.e, COLLECTIVES[m.name]
        type = m.result.type if row.rule == "same" else bool_
        value = self.operand(m.args[0])
        here = self.participates(m)
        if row.source:
            found = self.shuffled(row, type, value, self.operand(m.args[1]), here)
        elif row.rule == "ballot":
            found = self.lanes.vote(
                "ballot", value if here is None else e.let(f"and i1 {here}, {value}"), self.members()
            )
        else:
            t = llvm_type(type)
            if here is not None:
                value = e.let(f"select i1 {here}, {t} {value}, {t} {identity(row, type)}")
            found = self.lanes.reduced(row.combine, type, value, identity(row, type), self.members())
            if row.scope == "block" and self.loop.block_dim > WARP:
                found = self.reduced_over_block(row, type, found)
        e.line(f"store {llvm_type(m.result.type)} {found}, ptr {e.variable(m.result)}")

    def operand(self, arg: ir.Local | ir.Value) -> str:
        if isinstance(arg, ir.Value):
            return self.e.value(arg)
        return self.e.let(f"load {llvm_type(arg.type)}, ptr {self.e.variable(arg)}")

    def participates(self, m: ir.RegionCollective) -> str | None:
        """Return the flag that this thread takes part; None: all threads do."""
        mask = None if m.mask is None else self.operand(m.mask)
        if mask is None or self.active is None:
            return mask or self.active
        return self.e.let(f"select i1 {self.active}, i1 {mask}, i1 false")

    def members(self) -> str:
        """Return the mask of the lanes that exist in the warp."""
        rest = self.loop.block_dim % WARP
        if not rest:
            return FULL
        last = self.e.let(f"icmp eq i32 {self.lanes.warp()}, {self.loop.block_dim // WARP}")
        return self.e.let(f"select i1 {last}, i32 {(1 << rest) - 1}, i32 -1")

    def shuffled(self, row: Row, type: ScalarType, value: str, operand: str, here: str | None) -> str:
        """Return the value of the lane that the operand names, or the thread's own value if that lane takes no part."""
        e, lane = self.e, self.lanes.lane()
        source = source_lane(e, row, "i32", lane, e.let(f"and i32 {operand}, {WARP - 1}"))
        members = self.members()
        there = e.let(f"icmp ult i32 {source}, {WARP}")
        source = e.let(f"select i1 {there}, i32 {source}, i32 {lane}")
        if members != FULL or here is not None:
            lanes = members if here is None else self.lanes.vote("ballot", here, self.members())
            bit = e.let(f"and i32 {e.let(f'lshr i32 {lanes}, {source}')}, 1")
            source = e.let(f"select i1 {e.let(f'icmp ne i32 {bit}, 0')}, i32 {source}, i32 {lane}")
        return self.lanes.exchanged("idx", type, value, source, members)

    def reduced_over_block(self, row: Row, type: ScalarType, value: str) -> str:
        """Reduce over the block: each warp stores its result, the first warp reduces these, and all read the result."""
        e, lane, warp = self.e, self.lanes.lane(), self.lanes.warp()
        memory, stored = self.memory("exchange", EXCHANGE), "i8" if type == bool_ else llvm_type(type)
        warps = -(-self.loop.block_dim // WARP)

        def element(at: str) -> str:
            return e.let(f"getelementptr inbounds {EXCHANGE}, ptr addrspace(3) {memory}, i32 0, i32 {at}")

        def write(at: str, found: str) -> None:
            found = e.let(f"zext i1 {found} to i8") if type == bool_ else found
            e.line(f"store {stored} {found}, ptr addrspace(3) {element(at)}, align {i64.size}")

        def read(at: str) -> str:
            found = e.let(f"load {stored}, ptr addrspace(3) {element(at)}, align {i64.size}")
            return e.let(f"icmp ne i8 {found}, 0") if type == bool_ else found

        first = e.let(f"icmp eq i32 {lane}, 0")
        emit_if(e, first, lambda: write(warp, value))
        self.lanes.wait()

        def first_warp() -> None:
            there = e.let(f"icmp ult i32 {lane}, {warps}")
            found = read(e.let(f"select i1 {there}, i32 {lane}, i32 0"))
            t = llvm_type(type)
            found = e.let(f"select i1 {there}, {t} {found}, {t} {identity(row, type)}")
            found = self.lanes.reduced(row.combine, type, found, identity(row, type), FULL)
            emit_if(e, first, lambda: write(str(WARP), found))

        emit_if(e, e.let(f"icmp eq i32 {warp}, 0"), first_warp)
        self.lanes.wait()
        return read(str(WARP))
