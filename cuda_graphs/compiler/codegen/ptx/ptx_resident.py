# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Resident tasks on a GPU: one cooperative launch, whose blocks wait for each other between two tasks.

A serial task runs in the last thread that arrives at the barrier before it, while all other blocks wait there. A loop
followed by a serial task therefore needs one barrier, not two:

    loop 1; wait; one thread; wait; loop 2     =>     loop 1; wait, the last one runs it; loop 2

The barrier is three words of memory, each in a cache line of its own:

    ARRIVED   Block 0 adds 2**31 - (blocks - 1), and all others add 1. The highest bit thus changes each time that all
              have arrived, and no reset is needed. The blocks poll that bit.
    LAST      counts arrivals before a serial task. The last block resets it to 0 and runs the task.
    ROUND     counts the serial tasks that have run. The other blocks poll it.

One thread of a block arrives for it, after a barrier of the block. Its atom.acq_rel publishes the writes of the block.
Its ld.acquire, before the next barrier of the block, makes the other blocks' writes visible (PTX ISA, "Memory
Consistency Model": causality order is transitive through barriers of a block). A grid of one block needs only the
barriers of the block.
"""

from __future__ import annotations

from cuda_graphs.compiler.artifact import Layout
from cuda_graphs.compiler.codegen.llvm.emitter import Emitter
from cuda_graphs.compiler.codegen.llvm.resident import Staying
from cuda_graphs.compiler.ir import ir

__all__ = ["GpuStaying", "last_runs"]

# Offsets of the words. LLVM 22 drops the memory order of atomicrmw on NVPTX, so ADD is inline PTX.
ARRIVED, LAST, ROUND = 0, 32, 64
ADD = (
    'call i32 asm sideeffect "atom.acq_rel.gpu.global.add.u32 $0, [$1], $2;", "=r,l,r,~{{memory}}"'
    "(ptr addrspace(1) {}, i32 {})"
)
SCOPE = 'syncscope("device")'
HIGHEST = -(1 << 31)


class GpuStaying(Staying):
    """Emitter for all threads of a grid."""

    def __init__(
        self, e: Emitter, resident: ir.Resident, program: ir.Program, slots: Layout, arguments: str
    ) -> None:
        super().__init__(e, resident, program, slots, arguments)
        self.ran = False  # whether a task has run since the last barrier
        self.serial: list[ir.Task] = []  # tasks for the last thread to run at the next barrier
        self.words = {word: self.word(word) for word in (ARRIVED, LAST, ROUND)}
        names = ("tid.x", "ctaid.x", "nctaid.x")
        thread, block, self.blocks = (e.call(f"llvm.nvvm.read.ptx.sreg.{name}", "i32", []) for name in names)
        self.leads = e.let(f"icmp eq i32 {thread}, 0")
        self.alone = e.let(f"icmp eq i32 {self.blocks}, 1")
        self.others = e.let(f"sub i32 {self.blocks}, 1")
        first = e.let(f"icmp eq i32 {block}, 0")
        self.share = e.let(f"select i1 {first}, i32 {e.let(f'sub i32 {HIGHEST}, {self.others}')}, i32 1")
        self.round = e.slot("i32")  # read before any block can change it, as a change needs this block too
        e.line(f"store i32 {self.seen(ROUND, 'monotonic')}, ptr {self.round}")

    def word(self, word: int) -> str:
        return self.e.let(
            f"getelementptr i32, ptr addrspace(1) {self.e.addresses[self.resident.barrier]}, i64 {word}"
        )

    def seen(self, word: int, order: str) -> str:
        return self.e.let(f"load atomic i32, ptr addrspace(1) {self.words[word]} {SCOPE} {order}, align 4")

    def leave(self, word: int, value: str, order: str) -> None:
        self.e.line(f"store atomic i32 {value}, ptr addrspace(1) {self.words[word]} {SCOPE} {order}, align 4")

    def meet(self) -> None:
        """Emit a barrier of the threads of a block."""
        self.e.call_void("llvm.nvvm.barrier.cta.sync.aligned.all", [("i32", "0")])

    def run(self) -> None:
        super().run()
        if self.serial:
            self.wait()

    def task(self, task: ir.Task) -> None:
        if task.loop is None:
            self.serial.append(task)
            return
        self.wait()
        self.call(task)
        self.ran = True

    def wait(self) -> None:
        if not (self.ran or self.serial):
            return
        e = self.e
        lead, together = e.label("lead"), e.label("together")
        meet(e)
        e.line(f"br i1 {self.leads}, label %{lead}, label %{together}")
        e.start(lead)
        if self.serial:
            self.one_runs(together)
        else:
            self.all_arrive(together)
        e.start(together)
        meet(e)
        if self.serial:
            e.line(f"store i32 {self.next_round()}, ptr {self.round}")
        self.ran, self.serial = False, []

    def next_round(self) -> str:
        return self.e.let(f"add i32 {self.e.let(f'load i32, ptr {self.round}')}, 1")

    def all_arrive(self, together: str) -> None:
        e = self.e
        arrive, look = e.label("arrive"), e.label("look")
        e.line(f"br i1 {self.alone}, label %{together}, label %{arrive}")
        e.start(arrive)
        before = e.let(ADD.format(self.words[ARRIVED], self.share))
        e.line(f"br label %{look}")
        e.start(look)
        changed = e.let(f"xor i32 {self.seen(ARRIVED, 'acquire')}, {before}")
        e.line(f"br i1 {e.let(f'icmp slt i32 {changed}, 0')}, label %{together}, label %{look}")

    def one_runs(self, together: str) -> None:
        e = self.e
        arrive, last, run, tell, look = (e.label(s) for s in ("arrive", "last", "run", "tell", "look"))
        before = e.let(f"load i32, ptr {self.round}")
        e.line(f"br i1 {self.alone}, label %{run}, label %{arrive}")
        e.start(arrive)
        came = e.let(ADD.format(self.words[LAST], "1"))
        e.line(f"br i1 {e.let(f'icmp eq i32 {came}, {self.others}')}, label %{last}, label %{look}")
        e.start(last)
        self.leave(LAST, "0", "monotonic")
        e.line(f"br label %{run}")
        e.start(run)
        for task in self.serial:
            self.call(task)
        e.line(f"br i1 {self.alone}, label %{together}, label %{tell}")
        e.start(tell)
        self.leave(ROUND, e.let(f"add i32 {before}, 1"), "release")
        e.line(f"br label %{together}")
        e.start(look)
        same = e.let(f"icmp eq i32 {self.seen(ROUND, 'acquire')}, {before}")
        e.line(f"br i1 {same}, label %{look}, label %{together}")


def last_runs(e: Emitter, statement: ir.Last) -> None:
    """Emit a block for the last thread that reaches the end of the task. No thread waits."""
    lead, arrive, reset, run, over = (e.label(s) for s in ("lead", "arrive", "reset", "last", "over"))
    word, thread, blocks = e.addresses[statement.array], register(e, "tid.x"), register(e, "nctaid.x")
    meet(e)
    e.line(f"br i1 {e.let(f'icmp eq i32 {thread}, 0')}, label %{lead}, label %{over}")
    e.start(lead)
    e.line(f"br i1 {e.let(f'icmp eq i32 {blocks}, 1')}, label %{run}, label %{arrive}")
    e.start(arrive)
    others = e.let(f"sub i32 {blocks}, 1")
    came = e.let(ADD.format(word, "1"))
    e.line(f"br i1 {e.let(f'icmp eq i32 {came}, {others}')}, label %{reset}, label %{over}")
    e.start(reset)
    leave(e, word, "0", "monotonic")
    e.line(f"br label %{run}")
    e.start(run)
    e.block(statement.body)
    e.line(f"br label %{over}")
    e.start(over)


def register(e: Emitter, name: str) -> str:
    return e.call(f"llvm.nvvm.read.ptx.sreg.{name}", "i32", [])


def meet(e: Emitter) -> None:
    """Emit a barrier of the threads of a block."""
    e.call_void("llvm.nvvm.barrier.cta.sync.aligned.all", [("i32", "0")])


def leave(e: Emitter, word: str, value: str, order: str) -> None:
    e.line(f"store atomic i32 {value}, ptr addrspace(1) {word} {SCOPE} {order}, align 4")
