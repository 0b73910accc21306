# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Emits tasks as functions for the host driver (cgh_entry of hostdriver/image_loader.h):

    void task(const cgh_launch* launch, const void* params, void* shared, uint64_t first, uint64_t end)

A task imports functions by name, and the linker of the object defines them: `cgh_vprintf`, `cgh_assert_fail`,
`cgh_scratch`, `cgh_share` and `cgh_collect`, which are those of cgh_services in the same header, and functions of libm.

A block of the grid is a chunk of the iterations: blocks first to end of a grid of n are the iterations
[total * first / n, total * end / n). One call therefore runs one loop, of the length that the scheduler chose, and a
grid of 1 is a plain loop. In loops of blocks, their blocks are divided in the same way (x86_blocks.py).

Resident tasks have a grid of 1, and the driver may share their loops between threads (shared_loops.py).

If a loop has several axes, all but the last form one loop over rows, and the last is the inner loop. LLVM vectorises
the inner loop if it contains no other loop; otherwise outer_loop_vectoriser.py may vectorise it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import astuple
from typing import ClassVar

from cuda_graphs.compiler.artifact import STOP, Layout, TaskInfo, settings_of, shared_layout
from cuda_graphs.compiler.codegen.llvm.emitter import Emitter
from cuda_graphs.compiler.codegen.llvm.load_hoisting import is_short
from cuda_graphs.compiler.codegen.llvm.notation import FastMathText, llvm_type, suffix
from cuda_graphs.compiler.codegen.llvm.resident import ResidentTasks, slots_of
from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.ir.types import ScalarType, f32
from cuda_graphs.compiler.passes.gather_additions import Prices
from cuda_graphs.compiler.records import record
from cuda_graphs.native import llvm
from cuda_graphs.native.function_text import FunctionText
from cuda_graphs.native.host_cpu import identity, made_here
from cuda_graphs.native.image import pack_image
from cuda_graphs.native.object_merge import Part, merged
from cuda_graphs.native.units import Unit, codes_of, joined, units_of

from . import sines
from .instrumentation import InstrumentedEmitter, InstrumentedResidentTasks
from .outer_loop_vectoriser import VectorEmitter
from .pieces import PieceEmitter, pieces_of
from .shared_loops import offer
from .thread_bins import with_bins
from .vectorisation_analysis import Vectorisation, vectorisation_of
from .x86_blocks import CpuBlockLoop
from .x86_functions import HIDDEN, INTERNAL, function, passes_of, receive, unit_of

# A call of a resident task takes 5 ns more than the inlined task. But LLVM inlines only light tasks, keeps their
# functions for pieces of them as well, and compiles all of them in one thread: with 120 tasks in twice the time.
MOST_INLINED = 8
PARALLEL = "!0"  # the access group of memory that iterations do not share


@record
class X86:
    """The CPU of this process as a target.

    `fast_math` allows contraction and reassociation. If `instrumented`, code reports each access to a driver that looks
    for bugs (instrumentation.py).
    """

    fast_math: bool = False
    instrumented: bool = False
    name: ClassVar[str] = "x86"
    # On a Xeon with AVX-512, light stencils of 2^20 floats took 0.5 to 0.9 of the time, and in the caches 0.8 to 1.3.
    most_again: ClassVar[Mapping[str, int]] = {"call": 0, "any": 0, "large": 20}
    # Gathered gradients of stencils of 256^2 floats took 0.06 to 0.13 of the time on two cores, of 27 points 0.49, with
    # eight exponentials 0.64, and with five hyperbolic tangents 1.33.
    prices: ClassVar[Prices] = Prices(115, 120)

    def code(self, text: str) -> bytes:
        """Return the object file of a program as LLVM text."""
        units = units_of(text)
        codes = codes_of(units, (self.name, identity(), str(llvm.CODE_MODEL)), llvm.object_codes)
        return merged([
            Part(code.data, {} if code.name == unit.name else {code.name: unit.name})
            for unit, code in zip(units, codes, strict=True)
        ])  # fmt: skip

    def depends_on(self) -> tuple[object, ...]:
        """Return the properties of the target that its code depends on."""
        return (
            self.name,
            self.fast_math,
            self.instrumented,
            identity(),
            *self.most_again.items(),
            *astuple(self.prices),
        )

    def image(self, code: bytes, tasks: tuple[TaskInfo, ...]) -> bytes:
        """Return the image that the host driver loads."""
        cpu = llvm.requirements()
        entries = [
            {
                "name": task.entry,
                "params": [(slot.offset, slot.size) for slot in task.slots],
                "shared": task.shared_bytes - task.dynamic_bytes,
                "open_ended": int(has_loops(task)),
            }
            for task in tasks
        ]
        marks = {"made_here": made_here(**cpu), "instrumented": int(self.instrumented)}
        return pack_image({**cpu, **marks, "entries": entries}, code)

    def atomic_scope(self) -> str:
        return ""

    def fence(self, e: FunctionText) -> None:
        e.line("fence seq_cst")

    def constants(self) -> str:
        return ""

    def print(self, e: FunctionText, form: str, values: str) -> None:
        e.call("cgh_vprintf", "i32", [("ptr", form), ("ptr", values)])

    def assert_fail(self, e: FunctionText, message: str, file: str, line: int, function: str) -> None:
        zeros = e.slot("[3 x i32]")
        e.line(f"store [3 x i32] zeroinitializer, ptr {zeros}")
        kinds = ("ptr", "ptr", "i32", "ptr", "ptr", "ptr")
        args = list(zip(kinds, (message, file, str(line), function, zeros, zeros), strict=True))
        e.call_void("cgh_assert_fail", args)

    def set_condition(self, e: FunctionText, handle: str, value: str) -> None:
        e.call_void("cgh_set_conditional", [("i64", handle), ("i32", value)])

    def last(self, e: FunctionText, counter: str, body: Callable[[], None]) -> None:
        """Emit a block for the call that ends the last block of the grid. A call that runs all blocks counts none."""
        grid, done = e.let("load i32, ptr %launch"), e.let("trunc i64 %end to i32")
        done = e.let(f"sub i32 {done}, {e.let('trunc i64 %first to i32')}")
        count, reset, run, over = (e.label(stem) for stem in ("count", "reset", "last", "over"))
        e.jump_if(e.let(f"icmp eq i32 {done}, {grid}"), run, count)
        e.start(count)
        before = e.let(f"atomicrmw add ptr {counter}, i32 {done} acq_rel")
        came = e.let(f"add i32 {before}, {done}")
        e.jump_if(e.let(f"icmp eq i32 {came}, {grid}"), reset, over)
        e.start(reset)
        e.line(f"store i32 0, ptr {counter}")
        e.jump(run)
        e.start(run)
        body()
        e.jump(over)
        e.start(over)

    def access(self, array: ir.Array) -> str:
        return ""

    def worker(self, e: FunctionText) -> str:
        """Emit the number of the first block that this call runs. Its lanes are consecutive workers."""
        assert isinstance(e, VectorEmitter)
        return e.let(f"mul i32 {e.let('trunc i64 %first to i32')}, {e.workers}")

    def workers(self, task: ir.Task) -> int:
        """Return the number of workers of a block: its lanes, each with its own elements of stacks."""
        vectorisation = self.vectorisation(task)
        return 1 if vectorisation is None else vectorisation.width

    def vectorisation(self, task: ir.Task) -> Vectorisation | None:
        """Return how iterations become lanes, or None."""
        return None if self.instrumented else vectorisation_of(task)

    def function(self, e: FastMathText, name: str, type: ScalarType, args: list[str]) -> str:
        """Emit a call of LLVM's intrinsic if it exists, else of libm. In loops with lanes, sines are those of lanes."""
        if type == f32 and name in sines.OF_F32 and isinstance(e, VectorEmitter) and e.workers > 1:
            return sines.call(e, name, 0, args[0])
        t = llvm_type(type)
        symbol = (
            f"llvm.{name}.{suffix(type)}" if name in INTRINSICS else name + ("f" if type.size == 4 else "")
        )
        return e.call(symbol, t, [(t, arg) for arg in args], e.fast if name in INTRINSICS else "")

    def is_early(self, program: ir.Program) -> bool:
        """Return False: an entry begins when the previous one has ended."""
        return False

    def module(self, program: ir.Program) -> str:
        """Return the program as LLVM text: units for each entry. Only objects for x86-64 can be merged."""
        steps = list(ir.steps_of(program.plan))
        if os.uname().machine != "x86_64":
            return joined([self.unit(steps, program, None)])
        return joined([unit for step in steps for unit in self.units(step, program)])

    def units(self, step: int | ir.Resident, program: ir.Program) -> list[Unit]:
        """Return the units of an entry. LLVM inlines few resident tasks; it compiles many at the same time."""
        found: list[Unit] = []
        if isinstance(step, int) or len(list(ir.tasks_of(step.plan))) <= MOST_INLINED:
            found.append(self.unit([step], program, found))
            return found
        slots, declared = slots_of(step, program), dict[str, str]()
        for task in (program.tasks[number] for number in ir.tasks_of(step.plan)):
            declarations: dict[str, str] = {}
            function = self.task(task, declarations, slots, found, HIDDEN)
            found.append(unit_of(task.name, [function], declarations))
            declared[task.name] = f"declare void @{task.name}(ptr, ptr, ptr, i64, i64)"
        return [*found, unit_of(step.name, [self.entry(step, program, declared)], declared)]

    def unit(self, steps: list[int | ir.Resident], program: ir.Program, pieces: list[Unit] | None) -> Unit:
        """Return a module with the entries of steps, and append their pieces to `pieces`; None: there are none."""
        declarations: dict[str, str] = {}
        functions = []
        for step in steps:
            if isinstance(step, ir.Resident):
                functions += self.resident(step, program, declarations, pieces)
            else:
                functions.append(
                    self.task(program.tasks[step], declarations, slots_of(step, program), pieces)
                )
        name = program.tasks[step].name if isinstance(step, int) else step.name
        return unit_of(name, functions, declarations)

    def emitter(
        self, task: ir.Task, declarations: dict[str, str], slots: Layout, pieces: list[Unit] | None
    ) -> VectorEmitter:
        if self.instrumented:
            return InstrumentedEmitter(self, declarations)
        if pieces is None:
            return VectorEmitter(self, declarations)
        made = PieceEmitter(self, declarations, task, slots, pieces)
        made.split(pieces_of(task))
        return made

    def task(
        self,
        task: ir.Task,
        declarations: dict[str, str],
        slots: Layout,
        pieces: list[Unit] | None,
        linkage: str = "",
    ) -> str:
        """Return the function of a task, and append its pieces to `pieces`."""
        e = self.emitter(task, declarations, slots, pieces)
        e.alias_types = task.alias_classes
        receive(e, slots)
        for array, offset in shared_layout(task.body)[0].items():
            e.addresses[array] = e.let(f"getelementptr i8, ptr %shared, i64 {offset}")
        vectorisation = self.vectorisation(task)
        shares = bool(linkage) and not self.instrumented and settings_of(task).parallelize != 1
        for statement in task.body.body:
            if statement is task.loop:
                self.parallel(e, task, task.loop, vectorisation, shares)
            else:
                e.block(ir.Block([statement]))
        passes = llvm.LANES if vectorisation is not None else passes_of(task.body)
        return function(e, task.name, "" if linkage == INTERNAL else passes, linkage)

    def resident(
        self,
        resident: ir.Resident,
        program: ir.Program,
        declarations: dict[str, str],
        pieces: list[Unit] | None,
    ) -> list[str]:
        """Return the functions of resident tasks, and their entry."""
        slots = slots_of(resident, program)
        tasks = [program.tasks[number] for number in ir.tasks_of(resident.plan)]
        functions = [self.task(each, declarations, slots, pieces, INTERNAL) for each in tasks]
        return [*functions, self.entry(resident, program, declarations)]

    def entry(self, resident: ir.Resident, program: ir.Program, declarations: dict[str, str]) -> str:
        """Return the entry of resident tasks, whose one block calls their functions."""
        slots = slots_of(resident, program)
        e = Emitter(self, declarations)
        receive(e, slots)
        given = "ptr %launch, ptr %params, ptr %shared, i64 0, i64 1"
        (InstrumentedResidentTasks if self.instrumented else ResidentTasks)(
            e, resident, program, slots, given
        ).run()
        return function(e, resident.name)

    def parallel(
        self,
        e: VectorEmitter,
        task: ir.Task,
        loop: ir.For,
        vectorisation: Vectorisation | None,
        shares: bool,
    ) -> None:
        """Emit the part of the loop that one call runs.

        If `shares`, a call with a grid of 1 offers its loop to the driver.
        """
        block_loop = CpuBlockLoop(e, loop) if loop.block_dim else None
        begins, counts, total = (
            e.trips(loop) if block_loop is None else (block_loop.begins, block_loop.counts, block_loop.total)
        )
        whole = total if block_loop is None else block_loop.blocks()
        grid = e.let("load i32, ptr %launch")
        if shares:
            offer(e, task, loop, grid, whole)
        blocks = e.let(f"zext i32 {grid} to i64")
        low, high = (
            e.let(f"udiv i64 {e.let(f'mul i64 {whole}, {edge}')}, {blocks}") for edge in ("%first", "%end")
        )
        e.workers = 1 if vectorisation is None else vectorisation.width
        e.innermost = "" if vectorisation is None else INNERMOST

        def run() -> None:
            if block_loop is not None:
                block_loop.run(low, high)
            elif len(loop.axes) == 1:
                self.row(e, loop, vectorisation, begins, low, high)
            else:
                self.rows(e, loop, vectorisation, begins, counts, low, high)

        if isinstance(e, InstrumentedEmitter):
            with e.iterations_of(loop, begins, counts):
                run()
        elif task.bins:
            with_bins(e, task, loop, e.let(f"sub i64 {high}, {low}"), total, run)
        else:
            run()

    def rows(
        self,
        e: VectorEmitter,
        loop: ir.For,
        vectorisation: Vectorisation | None,
        begins: list[str],
        counts: list[str],
        low: str,
        high: str,
    ) -> None:
        last = counts[-1]
        one = e.call("llvm.umax.i64", "i64", [("i64", last), ("i64", "1")])
        first = e.let(f"udiv i64 {low}, {one}")
        above = e.let(f"add i64 {high}, {one}")
        above = e.let(f"add i64 {above}, -1")
        stop = e.let(f"udiv i64 {above}, {one}")
        row = ir.LoopIndex("row")

        def body(following: str) -> None:
            at = e.wide[row]
            start = e.let(f"mul nsw i64 {at}, {one}")
            inner_low = e.call(
                "llvm.smax.i64", "i64", [("i64", e.let(f"sub i64 {low}, {start}")), ("i64", "0")]
            )
            inner_high = e.call(
                "llvm.smin.i64", "i64", [("i64", e.let(f"sub i64 {high}, {start}")), ("i64", one)]
            )
            outer: list[str] = []
            rest = at
            for count in reversed(counts[1:-1]):
                outer.insert(0, e.let(f"urem i64 {rest}, {count}"))
                rest = e.let(f"udiv i64 {rest}, {count}")
            outer.insert(0, rest)
            for axis, begin, number in zip(loop.axes, begins, outer, strict=False):
                e.wide[axis.index] = e.point(axis, begin, number)
            self.row(e, loop, vectorisation, begins, inner_low, inner_high)

        e.counted(row, first, stop, 1, body)

    def row(
        self,
        e: VectorEmitter,
        loop: ir.For,
        vectorisation: Vectorisation | None,
        begins: list[str],
        low: str,
        high: str,
    ) -> None:
        """Emit iterations low to high of the last axis: whole vectors first, if there are lanes, then single ones."""
        axis, begin = loop.axes[-1], begins[-1]
        point = ir.LoopIndex("point")
        if vectorisation is not None:

            def vectors(following: str) -> None:
                e.vector_iteration(vectorisation, e.point(axis, begin, e.wide[point]), loop)

            stop = e.let(f"add nsw i64 {high}, {1 - vectorisation.width}")
            low = e.counted(point, low, stop, vectorisation.width, vectors)

        def body(following: str) -> None:
            e.wide[axis.index] = e.point(axis, begin, e.wide[point])
            e.metadata = f", !llvm.access.group {PARALLEL}"
            e.loops.append((following, following))
            e.block(loop.body)
            e.loops.pop()
            e.metadata = ""

        # After vectors fewer iterations are left than a vector has lanes: LLVM must not vectorise or unroll their loop.
        hints = interleaving(loop.body) if vectorisation is None else "!6"
        e.counted(point, low, high, 1, body, f", !llvm.loop {hints}")


LONG = 16  # statements of an iteration from which on LLVM does not interleave a loop by itself
INTERLEAVED = {
    1: "!8",
    2: "!9",
    3: "!9",
}  # loads of an iteration -> vectors at a time, as many as registers suffice for


def interleaving(body: ir.Block) -> str:
    """Return the hints for a loop. Several long chains of operations on few elements should run at a time."""
    if not is_short(body) or len(body.body) <= LONG:
        return "!1"
    return INTERLEAVED.get(sum(isinstance(each, ir.Load) for each in body.body), "!1")


def has_loops(task: TaskInfo) -> bool:
    """Return whether resident tasks contain a loop, which may run for any time."""
    return any(slot.path.startswith(STOP) for slot in task.slots)


# Functions that LLVM has as intrinsics. The others are called in libm.
INTRINSICS = {"sin", "cos", "exp", "exp2", "log", "log2", "log10", "pow"}

# An iteration of vectors keeps the CPU busy by itself. With several in a row, n-body took 10 ms longer to compile, and
# 4 % longer to run. LLVM still unrolls loops with a constant number of iterations.
INNERMOST = ", !llvm.loop !12"
