# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""What the compiler gives: code, and all that a caller needs to know to launch it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import chain, count
from typing import Any, TypeGuard

from . import ir
from .errors import CompileArgumentError, CompileResidentError, fail
from .types import ScalarType

__all__ = [
    "BARRIER",
    "OVERFLOW_PATH",
    "REPORT",
    "START",
    "STATE",
    "YIELDED",
    "Artifact",
    "GradientInfo",
    "Plan",
    "Result",
    "Slot",
    "StackInfo",
    "TaskInfo",
    "describe",
    "describe_resident",
    "is_heavy",
    "is_zeroed",
    "layout",
    "plan_of",
    "settings_of",
    "size_of",
]

OVERFLOW_PATH = "adstack.overflow"  # of the host's word for the stack that had no room, from 1 on; 0: none
REPORT = "debug.report"  # the path of the array that asserts write to: passes/report.py
STATE = "checkpoint.state"  # of checkpoints: the point where they go on, and at YIELDED the one that has yielded, or -1
START = "checkpoint.start"  # the parameter that the point is at first
YIELDED = 1
BARRIER = "graph.barrier"  # how the paths of arrays begin by which blocks wait for each other
MOST_LIGHT = 64  # statements of an iteration that is not heavy
SHARED_ALIGNMENT = 16  # of arrays that a block shares, for vector accesses
USUAL_SHARED = 48 * 1024  # bytes without asking for more (CUDA C++ Programming Guide, "Compute Capabilities")
MOST_SHARED = (
    227 * 1024
)  # the same with asking, of GPUs that have the most (9.0, 10.0); others have 64, 99 or 163 KiB
EXCHANGED = 1024  # of the usual bytes, left for what reductions exchange


@dataclass(frozen=True)
class Slot:
    """One parameter of an entry.

    kind    "pointer" of an array, "extent" of one along `axis` (i32), "scalar", "condition" (a handle, 8 bytes)
    path    of the kernel's parameter; of a temporary array or condition, its name
    offset  in the parameter block, and size, in bytes
    """

    kind: str
    path: str
    axis: int
    offset: int
    size: int


@dataclass(frozen=True)
class TaskInfo:
    """One entry. A parallel task covers its iterations whatever the grid is."""

    entry: str
    parallel: bool
    slots: tuple[Slot, ...]
    reads: frozenset[str]
    writes: frozenset[str]
    iterations: int | None  # where that is known when compiling
    line: int
    axes: tuple[tuple[Any, Any, int], ...] | None = (
        None  # (begin, end, step) of the loop, as `extent_of` writes them
    )
    block_dim: int | None = None  # what cg.loop_config or cg.blocks asked for
    blocks: bool = False  # threads of a block work together: a launch must have blocks of `block_dim` threads
    shared_bytes: int = 0  # of the arrays that a block shares
    prints: bool = False
    threads: int | None = None  # of a CPU that take part, at most: cg.loop_config(parallelize=)
    gathers: bool = False  # a block of a GPU does once what its threads add to an element: large blocks pay
    heavy: bool = False  # an iteration has loops, or much else to do
    inside: tuple[
        TaskInfo, ...
    ] = ()  # of a resident one: its tasks. All its blocks must run at the same time

    @property
    def dynamic_bytes(self) -> int:
        """What a launch must ask for, of `shared_bytes`: all or nothing."""
        return self.shared_bytes if is_dynamic(self.shared_bytes) else 0


# (path, dimensions whose extents come with a call, bytes of what is behind one index in each of them) of an array.
Span = tuple[str, int, int]
# Two of which one is written while the other is used, and the lines of their sections: they must not share memory.
Apart = tuple[Span, Span, int, int]

What = ir.Array | ir.Param | ir.Condition  # that a slot passes
Layout = tuple[tuple[Slot, What], ...]

# What runs when: numbers of entries; (kind, condition, its initial value or None, plans) of each ir.Conditional;
# ("parallel", None, None, plans) of ir.Sections.
Plan = tuple[Any, ...]


@dataclass(frozen=True)
class Result:
    """A number that the kernel returns: the temporary array of this name holds it after the last task."""

    temp: str
    type: ScalarType


@dataclass(frozen=True)
class StackInfo:
    """A stack of a gradient: an array [room, workers], where a task has as many workers as threads (of a CPU: blocks),
    times lanes.

    path   of the array, in the slots of the tasks that use it
    size   bytes of an element
    tasks  their numbers
    lanes  workers of a thread or block
    room   how many values a worker puts on it at most (autodiff/sizes.py); None: the counting kernel says it
    place  where the first of them comes from: the fields of an ir.Loc but its caller; None: nowhere
    """

    path: str
    size: int
    tasks: tuple[int, ...]
    lanes: int
    room: Any
    place: tuple[Any, ...] | None


@dataclass(frozen=True)
class GradientInfo:
    """What a caller has to know of a gradient.

    stacks   in the order in which the counting kernel returns their rooms
    arrays   (path, bytes of an element, dimensions) of the arrays that come with a call
    written  paths of those that the kernel itself writes
    repeats  (path, line) of those of the kernel that the gradient reads, fields too, and where that is done first
    """

    stacks: tuple[StackInfo, ...]
    arrays: tuple[tuple[str, int, int], ...]
    written: tuple[str, ...]
    repeats: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Artifact:
    """Code for one target, and all that a caller needs to know to launch it.

    target    "x86" or "ptx"
    code      an object file for this CPU, or PTX text
    image     what a driver loads: a native image (image.py) that holds the object file, or the PTX text
    tasks     its entries, in the order of the source
    plan      which runs when; (0, 1, 2, ...) without conditionals
    lowering  of a graph kernel, one of lowerings.LOWERINGS: with "host" conditions are temporary arrays (u32)
    temps     (name, bytes) of each temporary array that the tasks share; its content may be anything before the first,
              but of those that `is_zeroed` names
    why       the tasks are not resident, where that was to be tried
    results   what the kernel returns, in order
    checkpoints  (label, its name in the source) of each, in order; None: it has none
    captured  {function: {name: value}} of globals and closure variables that were compiled in as constants
    llvm      what the code was made from, before optimisation
    apart     arrays that a call must give memory of their own, since sections run at the same time
    gradient  of the gradient of a kernel
    early     an entry may begin before the one before it has ended: it waits for that itself
    claims    asserts that tell by the array "debug.report" when they fail (passes/report.py): it must be zero at first
    """

    target: str
    code: bytes
    image: bytes = field(repr=False)
    tasks: tuple[TaskInfo, ...]
    plan: Plan
    temps: tuple[tuple[str, int], ...]
    results: tuple[Result, ...]
    captured: Mapping[Callable[..., Any], Mapping[str, Any]]
    llvm: str = field(repr=False)
    claims: tuple[Any, ...] = ()
    lowering: str | None = None
    apart: tuple[Apart, ...] = ()
    early: bool = False
    why: str = ""
    gradient: GradientInfo | None = None
    checkpoints: tuple[ir.Checkpoint, ...] = ()


def size_of(array: ir.Array) -> int:
    """Bytes of an array whose extents are known when compiling."""
    return math.prod(array.shape or ()) * array.element.size


def is_zeroed(name: str) -> bool:
    """Whether a temporary array must be 0 before the first launch."""
    return name == REPORT or name.startswith(BARRIER)


def is_outside(array: object) -> TypeGuard[ir.Array]:
    """Whether it is memory that a launch is given."""
    return isinstance(array, ir.Array) and array.space is not ir.Space.SHARED


def is_dynamic(shared_bytes: int) -> bool:
    """Whether the arrays that a block shares are memory that the launch asks for."""
    return shared_bytes > USUAL_SHARED - EXCHANGED


def shared_layout(body: ir.Block) -> tuple[dict[ir.Array, int], int]:
    """Where each array that a block shares begins, in bytes, and the size of all."""
    found: dict[ir.Array, int] = {}
    end = 0
    for statement in ir.walk(body):
        array = getattr(statement, "array", None)
        if isinstance(array, ir.Array) and array.space is ir.Space.SHARED and array not in found:
            found[array] = end
            end += -(-size_of(array) // SHARED_ALIGNMENT) * SHARED_ALIGNMENT
    return found, end


def plan_of(plan: ir.Plan) -> Plan:
    """A plan of the IR as plain tuples, with numbers of entries."""
    entries = count()

    def plain(steps: ir.Plan) -> Plan:
        return tuple(
            level(step) if isinstance(step, (ir.Branch, ir.Fork)) else next(entries) for step in steps
        )

    def level(step: ir.Branch | ir.Fork) -> tuple[Any, ...]:
        plans = tuple(plain(inner) for inner in step.plans)
        if isinstance(step, ir.Fork):
            return ("parallel", None, None, plans)
        return (step.kind, step.condition.name, step.condition.initial, plans)

    return plain(plan)


MOST_PARAMETERS = 32764  # bytes, of a kernel: PTX ISA, .param of entries, from 8.1 on for sm_70 and up


def layout(*tasks: ir.Task, barrier: ir.Array | None = None) -> Layout:
    """The parameters of the entry of a task, or of several that stay, in order: what is used, and nothing else."""
    arrays: dict[ir.Array, None] = {} if barrier is None else {barrier: None}
    extents: dict[tuple[ir.Array, int], None] = {}
    params: dict[ir.Param, None] = {}
    conditions: dict[ir.Condition, None] = {}
    for statement in chain.from_iterable(ir.walk(task.body) for task in tasks):
        array = getattr(statement, "array", None)
        if isinstance(statement, (ir.Load, ir.Store, ir.Atomic, ir.Last)) and is_outside(array):
            arrays[array] = None
            if array.shape is None:  # row-major: the first extent is not needed for an address
                for axis in range(1, array.ndim - len(array.inner)):
                    extents[array, axis] = None
        elif isinstance(statement, ir.Extent) and statement.array.shape is None:
            extents[statement.array, statement.axis] = None
        elif isinstance(statement, ir.Arm):
            conditions[statement.condition] = None
        for value in ir.operands_of(statement):
            if isinstance(value, ir.Param):
                params[value] = None
    found: list[tuple[Slot, What]] = []
    offset = 0

    def add(kind: str, path: str, axis: int, size: int, what: What) -> None:
        nonlocal offset
        offset = -(-offset // size) * size
        found.append((Slot(kind, path, axis, offset, size), what))
        offset += size

    for array in arrays:
        add("pointer", array.path, 0, 8, array)
    for array, axis in extents:
        add("extent", array.path, axis, 4, array)
    for param in params:
        add("scalar", param.path, 0, param.type.size, param)
    for condition in conditions:
        add("condition", condition.name, 0, 8, condition)
    if offset > MOST_PARAMETERS:
        kind = CompileArgumentError if len(tasks) == 1 else CompileResidentError
        raise fail(
            kind, tasks[0].loc, f"it needs {offset} bytes of parameters, and a GPU takes {MOST_PARAMETERS}",
            "give numbers as an array, not one by one",
        )  # fmt: skip
    return tuple(found)


def describe(task: ir.Task) -> TaskInfo:
    """What a caller needs to know of a task."""
    reads, writes = set(), set()
    for statement in ir.walk(task.body):
        if isinstance(statement, (ir.Load, ir.Atomic)) and is_outside(statement.array):
            reads.add(statement.array.path)
        if isinstance(statement, (ir.Store, ir.Atomic)) and is_outside(statement.array):
            writes.add(statement.array.path)
    return TaskInfo(
        task.name, task.loop is not None, tuple(slot for slot, _ in layout(task)), frozenset(reads), frozenset(writes),
        iterations(task), ir.line_of(task.loc), axes_of(task), settings_of(task).block_dim,
        task.loop is not None and task.loop.blocks > 0, shared_layout(task.body)[1],
        any(isinstance(each, ir.Print) for each in ir.walk(task.body)), settings_of(task).parallelize,
        bool(task.bins or task.sums), is_heavy(task),
    )  # fmt: skip


def describe_resident(resident: ir.Resident, tasks: tuple[ir.Task, ...]) -> TaskInfo:
    """The same of tasks that stay."""
    mine = [tasks[number] for number in ir.tasks_of(resident.plan)]
    inside = tuple(map(describe, mine))
    blocks = [info.block_dim for info in inside if info.blocks and info.block_dim]
    sizes = blocks or [info.block_dim for info in inside if info.block_dim]
    return TaskInfo(
        resident.name, True, tuple(slot for slot, _ in layout(*mine, barrier=resident.barrier)),
        frozenset().union(*(info.reads for info in inside)), frozenset().union(*(info.writes for info in inside)),
        None, min(info.line for info in inside), None, max(sizes, default=None), bool(blocks),
        max(info.shared_bytes for info in inside), any(info.prints for info in inside), inside=inside,
    )  # fmt: skip


def is_heavy(task: ir.Task) -> bool:
    """Whether few iterations are work enough for a multiprocessor."""
    body = [] if task.loop is None else list(ir.walk(task.loop.body))
    return len(body) > MOST_LIGHT or any(isinstance(each, (ir.For, ir.While)) for each in body)


def settings_of(task: ir.Task) -> ir.LoopSettings:
    """What cg.loop_config said of the loop of the task."""
    found = None if task.loop is None else task.loop.settings
    return ir.LoopSettings() if found is None else found


ARITHMETIC = ("add", "sub", "mul")


def axes_of(task: ir.Task) -> tuple[tuple[Any, Any, int], ...] | None:
    """The axes of a loop whose bounds a caller can work out: it may have the grid as large as the loop is long."""
    if task.loop is None:
        return None
    found = tuple((bound_of(axis.begin), bound_of(axis.end), axis.step) for axis in task.loop.axes)
    return None if any(None in axis for axis in found) else found


def bound_of(value: ir.Value) -> Any:
    """An int; ("extent", path, axis); ("scalar", path, type); ("add" | "sub" | "mul", a, b). None: anything else."""
    match value:
        case ir.Const():
            return int(value.value)
        case ir.Extent():
            array = value.array
            return ("extent", array.path, value.axis) if array.shape is None else array.shape[value.axis]
        case ir.Param():
            return ("scalar", value.path, value.type.name)
        case ir.Op(name, (a, b)) if name in ARITHMETIC:
            parts = bound_of(a), bound_of(b)
            return None if None in parts else (name, *parts)
        case ir.Op("cast", (a,)):
            return bound_of(a)
    return None


def iterations(task: ir.Task) -> int | None:
    """How many there are, where all bounds are constants; 1 of a serial task."""
    if task.loop is None:
        return 1
    total = 1
    for axis in task.loop.axes:
        if not isinstance(axis.begin, ir.Const) or not isinstance(axis.end, ir.Const):
            return None
        total *= len(range(int(axis.begin.value), int(axis.end.value), axis.step))
    return total
