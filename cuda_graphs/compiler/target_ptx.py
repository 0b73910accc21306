# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Tasks as PTX kernels.

A parallel task is a loop over the grid: thread t of all takes the iterations t, t + threads, t + 2 threads, ... So any
grid runs all of them, and neighbours in memory go to neighbouring threads.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from . import ir, machine
from .artifact import TaskInfo, layout
from .llvm import Emitter
from .notation import llvm_type
from .types import ScalarType

GLOBAL = " addrspace(1)"

HEADER = """target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
"""


@dataclass(frozen=True)
class Ptx:
    """A GPU.

    fast_math  allows contraction and reassociation
    arch       "sm_90"
    version    of the PTX ISA, not above what the driver knows: 83 is 8.3
    libdevice  path of libdevice.10.bc, needed by kernels that call sin and the like
    """

    fast_math: bool = False
    arch: str = "sm_90"
    version: int = 80
    libdevice: str | None = None
    name: ClassVar[str] = "ptx"

    def code(self, text: str) -> bytes:
        """PTX."""
        return machine.ptx(text, self.arch, self.version, self.libdevice).encode()

    def depends_on(self) -> tuple[object, ...]:
        """What code for it depends on."""
        return self.name, self.fast_math, self.arch, self.version, self.libdevice

    def image(self, code: bytes, tasks: tuple[TaskInfo, ...]) -> bytes:
        """What the driver loads."""
        return code

    def atomic_scope(self) -> str:
        return ' syncscope("device")'

    def constants(self) -> str:
        return GLOBAL

    def print(self, e: Emitter, form: str, values: str) -> None:
        e.call("vprintf", "i32", [("ptr", form), ("ptr", values)])

    def assert_fail(self, e: Emitter, message: str, file: str, line: int, function: str) -> None:
        kinds = ("ptr", "ptr", "i32", "ptr", "i64")
        e.call_void("__assertfail", list(zip(kinds, (message, file, str(line), function, "1"), strict=True)))

    def access(self, array: ir.Array) -> str:
        return GLOBAL

    def function(self, e: Emitter, name: str, type: ScalarType, args: list[str]) -> str:
        """libdevice's function."""
        t = llvm_type(type)
        return e.call(f"__nv_{name}" + ("f" if type.size == 4 else ""), t, [(t, arg) for arg in args])

    def module(self, program: ir.Program) -> str:
        """The program as text of LLVM."""
        declarations: dict[str, str] = {}
        functions = [self.task(task, declarations) for task in program.tasks]
        return "\n".join([HEADER, *functions, *declarations.values(), "!0 = !{}\n"])

    def task(self, task: ir.Task, declarations: dict[str, str]) -> str:
        e = Emitter(self, declarations)
        params = []
        for i, (slot, what) in enumerate(layout(task)):
            params.append(f"{e.slot_type(slot, what)} %p{i}")
            e.receive(slot, what, f"%p{i}")
        for statement in task.body.body:
            if statement is task.loop:
                self.parallel(e, task.loop)
            else:
                e.block(ir.Block([statement]))
        e.line("ret void")
        return f"define ptx_kernel void @{task.name}({', '.join(params)}) {{\n{e.text()}\n}}\n"

    def parallel(self, e: Emitter, loop: ir.For) -> None:
        """The iterations of this thread."""
        begins, counts, total = e.trips(loop)
        thread, threads = self.position(e)
        self.stride(e, loop, begins, counts, thread, threads, total)

    def position(self, e: Emitter) -> tuple[str, str]:
        """(number of this thread in the grid, number of threads), in 64 bits."""
        names = ("tid.x", "ntid.x", "ctaid.x", "nctaid.x")
        tid, ntid, ctaid, nctaid = (
            e.let(f"zext i32 {e.call('llvm.nvvm.read.ptx.sreg.' + name, 'i32', [])} to i64") for name in names
        )
        before = e.let(f"mul nsw i64 {ctaid}, {ntid}")
        return e.let(f"add nsw i64 {before}, {tid}"), e.let(f"mul nsw i64 {nctaid}, {ntid}")

    def stride(
        self,
        e: Emitter,
        loop: ir.For,
        begins: list[str],
        counts: list[str],
        thread: str,
        threads: str,
        total: str,
    ) -> None:
        head, inside, following, after = (e.label(stem) for stem in ("grid", "point", "next", "done"))
        entry = e.label("start")
        e.line(f"br label %{entry}")
        e.start(entry)
        e.line(f"br label %{head}")
        e.start(head)
        e.count += 2
        at, advanced = f"%v{e.count - 1}", f"%v{e.count}"
        e.lines.append(f"  {at} = phi i64 [ {thread}, %{entry} ], [ {advanced}, %{following} ]")
        e.line(f"br i1 {e.let(f'icmp slt i64 {at}, {total}')}, label %{inside}, label %{after}")
        e.start(inside)
        rest = at
        for axis, begin, count in reversed(list(zip(loop.axes, begins, counts, strict=True))):
            first = axis is loop.axes[0]
            number = rest if first else e.let(f"urem i64 {rest}, {count}")
            rest = rest if first else e.let(f"udiv i64 {rest}, {count}")
            scaled = number if axis.step == 1 else e.let(f"mul nsw i64 {number}, {axis.step}")
            e.wide[axis.index] = scaled if begin == "0" else e.let(f"add nsw i64 {begin}, {scaled}")
        e.loops.append((following, following))
        e.block(loop.body)
        e.loops.pop()
        e.line(f"br label %{following}")
        e.start(following)
        e.lines.append(f"  {advanced} = add nsw i64 {at}, {threads}")
        e.line(f"br label %{head}")
        e.start(after)
