# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Instrumented code for a driver that looks for bugs: it reports each access beforehand (cgh_services.access).

    call void @cgh_access(ptr %element, i64 4, ptr @site3, i32 i, i32 j, i32 0, i32 number, i32 its high half, i32 0)
    store float %v, ptr %element

A site is a constant, cgh_site of hostdriver/image_loader.h: the kind of access and its position in the user's source.
Each iteration of a parallel loop, and each thread of a loop of blocks, counts as a thread of its own, even if one call
runs several of them. Instrumented code uses no vectors, since each lane reports for itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from cuda_graphs.compiler.artifact import OVERFLOW_PATH, STOP
from cuda_graphs.compiler.codegen.llvm.emitter import Emitter
from cuda_graphs.compiler.codegen.llvm.resident import ResidentTasks
from cuda_graphs.compiler.ir import ir
from cuda_graphs.native.access_sites import JOIN, READ, SHARED, STRONG, UNORDERED, WRITE, site_constant

from .outer_loop_vectoriser import VectorEmitter

__all__ = ["InstrumentedEmitter", "InstrumentedResidentTasks"]

AXES = 3  # at most so many indices are reported; loops with more axes report the number of the iteration
ACCESSES = (ir.Load, ir.Store, ir.Atomic)
Access = ir.Load | ir.Store | ir.Atomic


class InstrumentedEmitter(VectorEmitter):
    """Emitter of an instrumented task."""

    # The enclosing parallel loop without blocks, the begin of its axes, and their lengths.
    parallel_loop: ir.For | None = None
    begins: list[str]
    counts: list[str]

    @contextmanager
    def iterations_of(self, loop: ir.For, begins: list[str], counts: list[str]) -> Iterator[None]:
        """Report accesses as those of iterations of a parallel loop, in a `with` block."""
        if not loop.block_dim:
            self.parallel_loop, self.begins, self.counts = loop, begins, counts
        yield
        self.parallel_loop = None

    def statements(self, statements: list[ir.Statement]) -> None:
        for statement in statements:
            if isinstance(statement, ACCESSES):
                self.report(statement)
            if isinstance(statement, ir.Last):
                join(self)
            super().statements([statement])

    def report(self, access: Access) -> None:
        """Emit the report of an access that comes next."""
        assert isinstance(access.array, ir.Array)
        address = self.address(access.array, access.index)[1]
        call_access(
            self,
            address,
            access.array.element.size,
            self.site(access),
            self.thread_indices(),
            self.block_number(),
        )

    # The thread of an access

    def thread_indices(self) -> list[str]:
        """Return the indices of the iteration, or the number of the thread."""
        if self.parallel_loop is None:
            return [
                "0"
                if self.schedule is None or not self.schedule.thread
                else self.short_number(self.schedule.thread)
            ]
        if len(self.parallel_loop.axes) > AXES:
            return [self.short_number(self.iteration_number())]
        return [self.short_number(self.wide[axis.index]) for axis in self.parallel_loop.axes]

    def block_number(self) -> tuple[str, str]:
        """Return the two halves of the iteration's number, or the number of the block and 0."""
        if self.parallel_loop is None:
            first = "%first" if self.schedule is None or not self.schedule.block else self.schedule.block
            return self.short_number(first), "0"
        number = self.iteration_number()
        return self.short_number(number), self.short_number(self.let(f"lshr i64 {number}, 32"))

    def iteration_number(self) -> str:
        """Return the number of the iteration, in 64 bits."""
        assert self.parallel_loop is not None
        found = "0"
        for axis, begin, count in zip(self.parallel_loop.axes, self.begins, self.counts, strict=True):
            step = self.let(f"sdiv i64 {self.let(f'sub i64 {self.wide[axis.index]}, {begin}')}, {axis.step}")
            found = self.let(f"add i64 {self.let(f'mul i64 {found}, {count}')}, {step}")
        return found

    def short_number(self, register: str) -> str:
        return self.let(f"trunc i64 {register} to i32")

    # The site of an access

    def site(self, access: Access) -> str:
        assert isinstance(access.array, ir.Array)
        array, loc = access.array, access.loc
        flags = FLAGS[type(access)] | (SHARED if array.space is ir.Space.SHARED else 0)
        # Iterations of one worker share a stack. If a stack is too small, all of them write the same word.
        if array.path == OVERFLOW_PATH or (array.space is ir.Space.TEMP and array.shape is None):
            flags |= STRONG
        if array.path.startswith(STOP):  # cancel() writes such a word while loops read it
            flags |= UNORDERED
        file = "null" if loc is None else self.string(loc.file)
        return site(
            self,
            file,
            self.string(description(access, array)),
            ir.line_of(loc),
            flags,
            self.indices(),
        )

    def indices(self) -> int:
        """Return the number of indices of an iteration that are reported; 0 outside of a parallel loop."""
        axes = 0 if self.parallel_loop is None else len(self.parallel_loop.axes)
        return axes if axes <= AXES else 1

    # Functions report the thread that calls them.

    def place(self) -> list[tuple[str, str]]:
        thread = [*self.thread_indices(), "0", "0"][:AXES]
        return [("i32", register) for register in (*thread, *self.block_number())]

    def variant(self) -> str:
        return f".{self.indices()}"

    def for_function(self, place: list[str]) -> Emitter:
        made = InstrumentedFunctionEmitter(self.target, self.declarations)
        made.registers, made.axes_of_caller = place, self.indices()
        return made


class InstrumentedFunctionEmitter(InstrumentedEmitter):
    """Emitter of a function that an instrumented task calls.

    registers       the indices of the iteration that calls it, and the halves of its number
    axes_of_caller  the number of indices
    """

    registers: list[str]
    axes_of_caller: int

    def thread_indices(self) -> list[str]:
        return self.registers[:AXES]

    def block_number(self) -> tuple[str, str]:
        low, high = self.registers[AXES:]
        return low, high

    def indices(self) -> int:
        return self.axes_of_caller


class InstrumentedResidentTasks(ResidentTasks):
    """Resident tasks, instrumented: each task follows all of the previous one."""

    def task(self, task: ir.Task) -> None:
        join(self.e)
        super().task(task)


def join(e: Emitter) -> None:
    """Emit the report that all threads have finished: later accesses come after theirs."""
    call_access(e, "null", 0, site(e, "null", "null", 0, JOIN, 0), [], ("0", "0"))


def call_access(
    e: Emitter, address: str, size: int, site: str, thread: list[str], block: tuple[str, str]
) -> None:
    numbers = [*thread, "0", "0"][:3] if thread else ["0"] * 3
    parts = [
        ("ptr", address),
        ("i64", str(size)),
        ("ptr", site),
        *(("i32", each) for each in (*numbers, *block, "0")),
    ]
    e.call_void("cgh_access", parts)


FLAGS: dict[type, int] = {ir.Load: READ, ir.Store: WRITE, ir.Atomic: READ | WRITE | STRONG}


def site(e: Emitter, file: str, description: str, line: int, flags: int, axes: int) -> str:
    """Return the name of a site, and declare it."""
    text = site_constant(file, description, line, 0, flags, axes)
    key = f"site {text}"
    if key not in e.declarations:
        e.declare(key, f"@site{len(e.declarations)} = {text}")
    return e.declarations[key].partition(" ")[0]


def description(access: Access, array: ir.Array) -> str:
    """Return the description of an access for reports."""
    what = {ir.Load: "a load", ir.Store: "a store"}.get(
        type(access), f"an atomic {getattr(access, 'kind', '')}"
    )
    known = {ir.Space.PARAM: f" of `{array.path}`", ir.Space.SHARED: " of shared memory"}
    return what + known.get(array.space, "")
