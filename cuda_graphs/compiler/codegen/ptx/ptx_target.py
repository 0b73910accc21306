# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Emits tasks as PTX kernels.

A parallel task is a grid-stride loop: thread t takes the iterations t, t + threads, t + 2 threads, and so on. Any grid
size runs all iterations, and neighbouring threads access neighbouring elements. Short loops of several axes take tiles
in the same way (tiles.py). In loops of blocks, blocks stride, too (ptx_blocks.py), and the loop fixes the number of
threads of a block.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Set
from dataclasses import astuple
from typing import ClassVar

from cuda_graphs.compiler.artifact import Layout, TaskInfo
from cuda_graphs.compiler.codegen.llvm.emitter import Emitter
from cuda_graphs.compiler.codegen.llvm.large_tasks import is_huge
from cuda_graphs.compiler.codegen.llvm.notation import llvm_type
from cuda_graphs.compiler.codegen.llvm.resident import slots_of
from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.ir.types import ScalarType
from cuda_graphs.compiler.language.lowerings import FUSIONS
from cuda_graphs.compiler.passes.gather_additions import Prices
from cuda_graphs.compiler.passes.make_resident import bin_bytes
from cuda_graphs.compiler.records import record
from cuda_graphs.native import llvm
from cuda_graphs.native.function_text import FunctionText
from cuda_graphs.native.units import Unit, codes_of, joined, units_of
from cuda_graphs.native.versions import state_of

from .block_bins import BinMemory, with_block_bins
from .block_reductions import add_sums
from .early_loads import EarlyLoads, let_next_launch_begin, wait_for_previous_launch
from .grid_stride import Digit, digits_of, strided_box
from .limit_branches import LimitBranches
from .metadata import METADATA, UNROLLED
from .ptx_blocks import GpuBlockLoop
from .ptx_exchange import MOST_THREADS, with_exchanges
from .ptx_merge import merged_ptx
from .ptx_resident import GpuResidentTasks, run_in_last_thread
from .tiles import LANES, TiledLoop, place, shift_of
from .wide_groups import WideGroups

GLOBAL, SHARED = " addrspace(1)", " addrspace(3)"
ENTRY = "ptx_kernel"
INTERNAL, INLINED = "internal", " alwaysinline convergent"

HEADER = """target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
"""


@record
class Ptx:
    """A GPU as a target.

    fast_math  allows contraction and reassociation
    arch       the architecture: "sm_90"
    version    the version of the PTX ISA, at most the driver's: 83 is 8.3
    libdevice  path of libdevice.10.bc, for kernels that call sin and the like
    """

    fast_math: bool = False
    arch: str = "sm_90"
    version: int = 80
    libdevice: str | None = None
    name: ClassVar[str] = "ptx"
    most_again: ClassVar[Mapping[str, int]] = dict.fromkeys(FUSIONS, 64)
    prices: ClassVar[Prices] = Prices(64, 20, True)

    def code(self, text: str) -> bytes:
        """Return the PTX of a program as LLVM text."""
        units = units_of(text)
        library = state_of(self.libdevice) if self.libdevice and llvm.uses_libdevice(text) else ""
        depends_on = self.name, self.arch, str(self.version), library
        codes = codes_of(units, depends_on, self.compiled)
        parts = [code.data.decode() for code in codes]
        for number, (code, unit) in enumerate(zip(codes, units, strict=True)):
            if code.name != unit.name:
                parts[number] = re.sub(rf"(?<![\w$]){re.escape(code.name)}", unit.name, parts[number])
        return merged_ptx(with_exchanges(parts)).encode()

    def compiled(self, texts: list[str]) -> list[bytes]:
        """Return the PTX of modules."""
        return [each.encode() for each in llvm.ptx_codes(texts, self.arch, self.version, self.libdevice)]

    def depends_on(self) -> tuple[object, ...]:
        """Return the properties of the target that its code depends on."""
        return (
            self.name,
            self.fast_math,
            self.arch,
            self.version,
            self.libdevice,
            *self.most_again.items(),
            *astuple(self.prices),
        )

    def image(self, code: bytes, tasks: tuple[TaskInfo, ...]) -> bytes:
        """Return the image that the driver loads."""
        return code

    def atomic_scope(self) -> str:
        return ' syncscope("device")'

    def fence(self, e: FunctionText) -> None:
        e.call_void("llvm.nvvm.membar.gl", [])

    def constants(self) -> str:
        return GLOBAL

    def print(self, e: FunctionText, form: str, values: str) -> None:
        e.call("vprintf", "i32", [("ptr", form), ("ptr", values)])

    def assert_fail(self, e: FunctionText, message: str, file: str, line: int, function: str) -> None:
        kinds = ("ptr", "ptr", "i32", "ptr", "i64")
        e.call_void("__assertfail", list(zip(kinds, (message, file, str(line), function, "1"), strict=True)))

    def set_condition(self, e: FunctionText, handle: str, value: str) -> None:
        e.call_void("cudaGraphSetConditional", [("i64", handle), ("i32", value)])

    def last(self, e: FunctionText, counter: str, body: Callable[[], None]) -> None:
        run_in_last_thread(e, counter, body)

    def access(self, array: ir.Array) -> str:
        return SHARED if array.space is ir.Space.SHARED else GLOBAL

    def workers(self, task: ir.Task) -> int:
        """Return the number of workers of a thread."""
        return 1

    def worker(self, e: FunctionText) -> str:
        """Emit the number of the thread in the grid."""
        return e.let(f"trunc i64 {self.position(e)[0]} to i32")

    def function(self, e: FunctionText, name: str, type: ScalarType, args: list[str]) -> str:
        """Emit a call of libdevice's function."""
        t = llvm_type(type)
        return e.call(f"__nv_{name}" + ("f" if type.size == 4 else ""), t, [(t, arg) for arg in args])

    def module(self, program: ir.Program) -> str:
        """Return the program as LLVM text: a unit for each entry."""
        return joined([self.unit(step, program) for step in ir.steps_of(program.plan)])

    def unit(self, step: int | ir.Resident, program: ir.Program) -> Unit:
        """Return a module with the entry of a step. That of a resident launch has no name."""
        declarations: dict[str, str] = {}
        if isinstance(step, ir.Resident):
            name, functions = "", self.resident(step, program, declarations)
        else:
            task = program.tasks[step]
            name = task.name
            blocks = 0 if task.loop is None else task.loop.block_dim
            slots = slots_of(step, program)
            early = program.early_loads if self.is_early(program) else None
            memory = BinMemory(f"{name}_bins", bin_bytes([task]), in_turn=False)
            functions = [self.task(task, declarations, slots, ENTRY, required_threads(blocks), memory, early)]
        text = "\n".join([HEADER, *functions, *declarations.values(), "!0 = !{}\n", *METADATA, ""])
        return Unit(name, text)

    def is_early(self, program: ir.Program) -> bool:
        """Return whether entries wait for earlier ones."""
        return program.early and self.has_grid_control

    @property
    def has_grid_control(self) -> bool:
        """True for targets with programmatic launches (PTX ISA, griddepcontrol: from 7.8 on, for sm_90 and up)."""
        return self.capability >= 90 and self.version >= 78

    def task(
        self,
        task: ir.Task,
        declarations: dict[str, str],
        slots: Layout,
        kind: str,
        attributes: str,
        memory: BinMemory,
        early: Set[str] | None = None,
    ) -> str:
        """Return the function of a task. `early`: the arrays that an early entry may read before its wait."""
        e = Emitter(self, declarations)
        e.alias_types = task.alias_classes
        e.unrolled = UNROLLED
        parameters = self.receive(e, slots)
        statements, start = task.body.body, None
        if early is not None:
            let_next_launch_begin(e)
            start = EarlyLoads(e, early)
            statements = start.begin(task)
        sums = dict.fromkeys(task.sums)
        last = [statement for statement in task.body.body if isinstance(statement, ir.Last)]
        for statement in statements:
            if statement is task.loop:
                self.parallel(e, task, task.loop, memory, start, is_resident=kind == INTERNAL)
            elif statement not in sums and statement not in last:
                e.block(ir.Block([statement]))
        if sums:
            add_sums(e, task, list(sums), self.capability)
        e.block(ir.Block(list(last)))
        e.line("ret void")
        passes = f" {llvm.HUGE}" if is_huge(task.body) else ""
        return f"define {kind} void @{task.name}({parameters}){attributes}{passes} {{\n{e.text()}\n}}\n"

    def receive(self, e: Emitter, slots: Layout) -> str:
        """Return the parameters of a function, as text."""
        params = []
        for i, (slot, what) in enumerate(slots):
            params.append(f"{e.slot_type(slot, what)} %p{i}")
            e.receive(slot, what, f"%p{i}")
        return ", ".join(params)

    def resident(self, resident: ir.Resident, program: ir.Program, declarations: dict[str, str]) -> list[str]:
        """Return the functions of resident tasks, and the entry that calls them."""
        slots = slots_of(resident, program)
        tasks = [program.tasks[number] for number in ir.tasks_of(resident.plan)]
        memory = BinMemory(f"{resident.name}_bins", bin_bytes(tasks), in_turn=True)
        functions = [self.task(each, declarations, slots, INTERNAL, INLINED, memory) for each in tasks]
        e = Emitter(self, declarations)
        parameters = self.receive(e, slots)
        if self.is_early(program):
            let_next_launch_begin(e)
            wait_for_previous_launch(e)
        GpuResidentTasks(e, resident, program, slots, parameters).run()
        e.line("ret void")
        blocks = max(each.loop.block_dim if each.loop is not None else 0 for each in tasks)
        threads = required_threads(blocks)
        if resident.exchanges and not blocks:
            # The functions of exchanges would take too many registers for large blocks.
            threads = f' "nvvm.maxntid"="{MOST_THREADS}"'
        head = f"define {ENTRY} void @{resident.name}({parameters}){threads}"
        return [*functions, f"{head} {{\n{e.text()}\n}}\n"]

    @property
    def capability(self) -> int:
        """The number of the architecture."""
        return int(re.sub(r"\D", "", self.arch))

    def parallel(
        self,
        e: Emitter,
        task: ir.Task,
        loop: ir.For,
        memory: BinMemory,
        start: EarlyLoads | None = None,
        is_resident: bool = False,
    ) -> None:
        """Emit the iterations of this thread in the loop of a task, whose early loads are `start`."""
        if loop.block_dim:
            GpuBlockLoop(e, loop, task.name, self.capability).run()
            return
        begins, counts, total = e.trips(loop)
        branches = LimitBranches(loop)

        def run() -> None:
            thread, threads = self.position(e)
            groups = WideGroups(e, loop, branches, is_resident)
            early = None if start is None else start.for_loop(groups.first, groups.width)
            if groups.width > 1:
                thread = groups.run(thread, threads, total, early)
            elif early is not None:
                thread = self.early_point(e, loop, begins, thread, threads, total, early)
            elif len(loop.axes) == 1:
                thread = aligned(e, shift_of(e, loop, begins), thread, threads)
            self.stride(e, loop, branches, begins, counts, thread, threads, total, is_resident)

        if task.bins:
            with_block_bins(e, memory, task.bins, self.capability, total, run)
        else:
            run()

    def early_point(
        self,
        e: Emitter,
        loop: ir.For,
        begins: list[str],
        thread: str,
        threads: str,
        total: str,
        start: EarlyLoads,
    ) -> str:
        """Emit the first iteration of this thread around the wait, and return the number of the next one."""

        def place() -> None:
            e.wide[loop.axes[0].index] = e.point(loop.axes[0], begins[0], thread)

        start.peel(loop, e.let(f"icmp slt i64 {thread}, {total}"), [place])
        return e.let(f"add nsw i64 {thread}, {threads}")

    def position(self, e: FunctionText) -> tuple[str, str]:
        """Return (number of this thread in the grid, number of threads), in 64 bits."""
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
        branches: LimitBranches,
        begins: list[str],
        counts: list[str],
        thread: str,
        threads: str,
        total: str,
        is_resident: bool,
    ) -> None:
        def point(numbers: list[str], following: str) -> None:
            place(e, loop, begins, numbers)
            e.loops.append((following, following))
            e.block(loop.body)
            e.loops.pop()

        def digits() -> list[Digit]:
            return digits_of(e, counts, thread, threads)

        # Behind a condition, a resident loop would divide in each of its rounds.
        known = digits() if is_resident and branches.conditions else None

        def row_major() -> None:
            strided_box(e, digits() if known is None else known, total, point)

        tiles = TiledLoop(e, loop, branches, begins, counts, is_resident)
        if tiles.is_suitable:
            tiles.run(row_major)
        else:
            row_major()


def aligned(e: Emitter, shift: str, thread: str, threads: str) -> str:
    """Emit the first iteration of a thread: the first warp begins at an index that is a multiple of 32.

    Threads that would come before the loop begin one step of the grid later. Grids have whole warps, or no shift.
    """
    is_whole = e.let(f"icmp eq i64 {e.let(f'and i64 {threads}, {LANES - 1}')}, 0")
    shift = e.let(f"select i1 {is_whole}, i64 {shift}, i64 0")
    first = e.let(f"sub nsw i64 {thread}, {shift}")
    later = e.let(f"add nsw i64 {first}, {threads}")
    return e.let(f"select i1 {e.let(f'icmp slt i64 {first}, 0')}, i64 {later}, i64 {first}")


def required_threads(blocks: int) -> str:
    """Return the attribute that fixes the number of threads of a block, or "" for any number."""
    return f' "nvvm.reqntid"="{blocks}"' if blocks else ""
