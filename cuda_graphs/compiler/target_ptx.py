# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Tasks as PTX kernels.

A parallel task is a loop over the grid: thread t of all takes the iterations t, t + threads, t + 2 threads, ... So any
grid runs all of them, and neighbours in memory go to neighbouring threads.
"""

from __future__ import annotations

from . import ir
from .artifact import layout
from .llvm import Emitter, llvm_type
from .types import ScalarType, f32

NAME = "ptx"
GLOBAL = " addrspace(1)"

HEADER = """target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
"""


class Ptx:
    """GPUs from compute capability 9.0 on."""

    def __init__(self, fast_math: bool = False) -> None:
        self.fast_math = fast_math

    def atomic_scope(self) -> str:
        return ' syncscope("device")'

    def access(self, array: ir.Array) -> str:
        return GLOBAL

    def function(self, e: Emitter, name: str, type: ScalarType, args: list[str]) -> str:
        """libdevice's function; small floats by way of f32."""
        t = llvm_type(type)
        if type.size == 2:
            wide = [e.let(f"fpext {t} {arg} to float") for arg in args]
            return e.let(f"fptrunc float {self.function(e, name, f32, wide)} to {t}")
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
            if slot.kind == "pointer":
                params.append(f"ptr{GLOBAL} %p{i}")
                e.addresses[what] = f"%p{i}"  # type: ignore[index]
            elif slot.kind == "extent":
                params.append(f"i32 %p{i}")
                e.extents[what, slot.axis] = e.let(f"zext i32 %p{i} to i64")  # type: ignore[index]
            else:
                is_bool = what.type.kind == "bool"  # type: ignore[union-attr]
                params.append(f"{'i8' if is_bool else llvm_type(what.type)} %p{i}")  # type: ignore[union-attr]
                e.names[what] = e.let(f"icmp ne i8 %p{i}, 0") if is_bool else f"%p{i}"
        for statement in task.body.body:
            if statement is task.loop:
                self.parallel(e, task.loop)
            else:
                e.block(ir.Block([statement]))
        e.line("ret void")
        return f"define ptx_kernel void @{task.name}({', '.join(params)}) {{\n{e.text()}\n}}\n"

    def parallel(self, e: Emitter, loop: ir.For) -> None:
        """The iterations of this thread."""
        begins, counts = [], []
        for axis in loop.axes:
            begin, end = e.widened(axis.begin), e.widened(axis.end)
            span = e.let(f"sub nsw i64 {end if axis.step > 0 else begin}, {begin if axis.step > 0 else end}")
            span = e.call("llvm.smax.i64", "i64", [("i64", span), ("i64", "0")])
            if abs(axis.step) > 1:
                above = e.let(f"add i64 {span}, {abs(axis.step) - 1}")
                span = e.let(f"udiv i64 {above}, {abs(axis.step)}")
            begins.append(begin)
            counts.append(span)
        total = counts[0]
        for count in counts[1:]:
            total = e.let(f"mul nsw i64 {total}, {count}")
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
        self, e: Emitter, loop: ir.For, begins: list[str], counts: list[str], thread: str, threads: str, total: str
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
