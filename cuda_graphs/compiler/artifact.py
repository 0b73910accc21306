# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The output of the compiler: code, and the description that a caller needs to launch it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, count
from typing import Any, TypeGuard

from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.ir.types import ScalarType

from .errors import CompileArgumentError, CompileResidentError, compile_error

__all__ = [
    "BARRIER",
    "EXCHANGE",
    "OVERFLOW_PATH",
    "REPORT",
    "STACK",
    "START",
    "STATE",
    "STOP",
    "YIELDED",
    "Artifact",
    "GradientInfo",
    "Inputs",
    "Plan",
    "Result",
    "Slot",
    "StackInfo",
    "TaskInfo",
    "describe",
    "describe_resident",
    "exchanged_in",
    "host_calls",
    "is_heavy",
    "is_zeroed",
    "layout",
    "plan_of",
    "settings_of",
    "size_of",
]

STACK = "adstack."  # prefix of the paths of the stacks of a gradient
# The path of the host's word that holds the number, from 1 on, of the stack that overflowed; 0: none.
OVERFLOW_PATH = f"{STACK}overflow"
REPORT = "debug.report"  # the path of the array that asserts write to: passes/report.py
# The state of checkpoints: element 0 is the point to resume at; element YIELDED is the checkpoint that yielded, or -1.
STATE = "checkpoint.state"
START = "checkpoint.start"  # the parameter that sets the first resume point
YIELDED = 1
BARRIER = "graph.barrier"  # prefix of the paths of arrays that hold the state of grid barriers
EXCHANGE = "graph.exchange"  # prefix of the paths of tables of exchanges; the path of the object follows
STOP = "graph.stop"  # prefix of the paths of words that end loops while they are not 0
MOST_LIGHT = 64  # statements in an iteration that is not heavy
SHARED_ALIGNMENT = 16  # bytes, of arrays in shared memory, for vector accesses
USUAL_SHARED = 48 * 1024  # bytes without opt-in (CUDA C++ Programming Guide, "Compute Capabilities")
MAX_SHARED = (
    227 * 1024
)  # the same with opt-in, on GPUs with the most (9.0, 10.0); others have 64, 99 or 163 KiB
EXCHANGED = 1024  # bytes of USUAL_SHARED that reductions use to exchange values


@dataclass(frozen=True)
class Slot:
    """One parameter of an entry.

    kind    "pointer" to an array, "extent" of an array along `axis` (i32), "scalar", or "condition" (an 8-byte handle)
    path    the path of the kernel's parameter, or the name of the temporary array or condition
    offset  in the parameter block, in bytes
    size    in bytes
    """

    kind: str
    path: str
    axis: int
    offset: int
    size: int


@dataclass(frozen=True)
class TaskInfo:
    """One entry. A parallel task executes all its iterations with any grid size.

    iterations       their number, if it is known at compile time
    axes             (begin, end, step) of each axis of the loop, as `bound_of` writes bounds
    block_dim        the value from cg.loop_config or cg.blocks
    fixed_block_dim  threads of a block cooperate: a launch must have blocks of `block_dim` threads
    shared_bytes     of the arrays in shared memory
    threads          the largest number of CPU threads: cg.loop_config(parallelize=)
    has_sums         each GPU block adds its threads' sum to an element once: large blocks pay
    heavy            an iteration has loops or many statements
    resident_tasks   of a resident entry. All blocks of such an entry must run at the same time
    calls            (name, signature, file, line) of each function that the task calls, directly or not
    traffic          bytes that an iteration accesses; 0 if it is heavy
    loop_tasks       of a resident entry: the parallel tasks of the loop that has the most
    """

    entry: str
    parallel: bool
    slots: tuple[Slot, ...]
    reads: frozenset[str]
    writes: frozenset[str]
    iterations: int | None
    line: int
    axes: tuple[tuple[Any, Any, int], ...] | None = None
    block_dim: int | None = None
    fixed_block_dim: bool = False
    shared_bytes: int = 0
    prints: bool = False
    threads: int | None = None
    has_sums: bool = False
    heavy: bool = False
    resident_tasks: tuple[TaskInfo, ...] = ()
    calls: tuple[tuple[str, str, str, int], ...] = ()
    traffic: int = 0
    loop_tasks: int = 0

    @cached_property
    def declared(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The slots of the arrays that a node declares to read, and of those to write, in the order of their paths."""
        slots = {slot.path: number for number, slot in enumerate(self.slots) if slot.kind == "pointer"}
        known = sorted(filter(is_of_user, slots))
        return (
            tuple(slots[path] for path in known if path in self.reads),
            tuple(slots[path] for path in known if path in self.writes),
        )

    @cached_property
    def stops(self) -> tuple[int, ...]:
        """The slots of words that end loops."""
        return tuple(number for number, slot in enumerate(self.slots) if slot.path.startswith(STOP))

    @property
    def dynamic_bytes(self) -> int:
        """The bytes of dynamic shared memory that a launch must request: `shared_bytes` or 0."""
        return self.shared_bytes if is_dynamic(self.shared_bytes) else 0


# (path, number of dimensions whose extents come with a call, bytes of one index step in each of them) of an array.
Span = tuple[str, int, int]
# The size of a loop: the number of its iterations, or None and the axes, from which a caller computes it.
LoopSize = tuple[int | None, tuple[tuple[Any, Any, int], ...] | None]

# Two arrays that must not share memory, as one is written while the other is used, and the lines of their sections.
DisjointArrays = tuple[Span, Span, int, int]

What = ir.Array | ir.Param | ir.Condition  # the value that a slot passes
Layout = tuple[tuple[Slot, What], ...]

# The order of execution. An int is the number of an entry. An ir.Conditional is (kind, condition, its initial value or
# None, plans); the kind "repeated" (passes/mask_loops.py) is a "while". An ir.Sections is ("parallel", None, None,
# plans). An ir.HostStep is ("call", object, method, arguments, line).
Plan = tuple[Any, ...]


@dataclass(frozen=True)
class Result:
    """A number that the kernel returns. The temporary array `temp` holds it after the last task."""

    temp: str
    type: ScalarType


@dataclass(frozen=True)
class StackInfo:
    """A stack of a gradient: an array [capacity, workers].

    A task has `workers` workers per thread on a GPU, and per block on a CPU.

    path      the path of the array, in the slots of the tasks that use it
    size      bytes of an element
    tasks     the numbers of the tasks that use it
    workers   workers of a thread or block
    capacity  the most values that a worker pushes (compiler/autodiff/analysis/size_expressions.py); None: the counting
              kernel returns it
    loc       the source position of the first value: the fields of an ir.Loc without its caller; None: unknown
    """

    path: str
    size: int
    tasks: tuple[int, ...]
    workers: int
    capacity: Any
    loc: tuple[Any, ...] | None


@dataclass(frozen=True)
class GradientInfo:
    """The description of a gradient for its caller.

    stacks   in the order in which the counting kernel returns their capacities
    arrays   (path, bytes of an element, dimensions) of the arrays that come with a call
    written  paths of the arrays that the kernel itself writes
    repeats  (path, line) of each array or field of the kernel that the gradient reads, with the line of the first read
    gathered  (line, why not) of each loop that adds to other elements than its own, as in ir.Kernel
    """

    stacks: tuple[StackInfo, ...]
    arrays: tuple[tuple[str, int, int], ...]
    written: tuple[str, ...]
    repeats: tuple[tuple[str, int], ...]
    gathered: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True)
class Artifact:
    """Code for one target, with the description that a caller needs to launch it.

    target    "x86" or "ptx"
    code      an object file for this CPU, or PTX text
    image     the image that a driver loads: a native image (image.py) that holds the object file, or the PTX text
    tasks     the entries, in the order of the source
    plan      the order of execution; (0, 1, 2, ...) without conditionals
    lowering  for a graph kernel, one of lowerings.LOWERINGS: with "host", conditions are temporary arrays (u32)
    temps     (name, bytes) of each temporary array that the tasks share. Before the first task, those with
              `is_zeroed(name)` must be zero; the others are undefined
    why       the reason against resident tasks, if those were requested
    results   the values that the kernel returns, in order
    checkpoints  (label, its name in the source) of each, in order; a name may be missing (None)
    free_values  {function: {name: value}} of globals and closure variables that were compiled in as constants
    llvm      the LLVM IR before optimisation
    disjoint  pairs of arrays that must not share memory in a call, since sections run at the same time
    apart     pairs of arrays that must not share memory in a call, since fused tasks use both
    equal     pairs of extents (`bound_of`) that must be equal in a call, since a fused task had both as bounds
    large_loops  sizes of loops: if all are large, code with fuse="large" has fewer tasks
    fusion    (lines of neighbouring tasks, the reason why they are not fused; "" for fused tasks), in order
    again     (lines of fused tasks, what their iterations compute again, in words)
    gradient  the description of a gradient, if this kernel computes one
    parts     of a part of a kernel: the plan of all parts (autodiff/parts.py)
    early     an entry may begin before the previous entry has ended: it waits for that by itself
    exchanged  calls of the host, as in a plan, that became exchanges inside resident entries
    stack_bytes  the most bytes that recursion takes of the stack of a GPU thread
    claims    assertions that report failures in the array "debug.report" (passes/report.py), which must be zero first
    """

    target: str
    code: bytes
    image: bytes = field(repr=False)
    tasks: tuple[TaskInfo, ...]
    plan: Plan
    temps: tuple[tuple[str, int], ...]
    results: tuple[Result, ...]
    free_values: Mapping[Callable[..., Any], Mapping[str, Any]]
    llvm: str = field(repr=False)
    asserts: tuple[Any, ...] = ()
    lowering: str | None = None
    disjoint: tuple[DisjointArrays, ...] = ()
    apart: tuple[tuple[Span, Span], ...] = ()
    equal: tuple[tuple[Any, Any], ...] = ()
    large_loops: tuple[LoopSize, ...] = ()
    fusion: tuple[tuple[tuple[int, ...], str], ...] = ()
    again: tuple[tuple[tuple[int, ...], str], ...] = ()
    early: bool = False
    why: str = ""
    gradient: GradientInfo | None = None
    checkpoints: tuple[ir.Checkpoint, ...] = ()
    parts: tuple[Any, ...] = ()
    stack_bytes: int = 0
    exchanged: tuple[tuple[Any, ...], ...] = ()


def host_calls(plan: Plan) -> Iterator[tuple[Any, ...]]:
    """Yield the calls of the host in a plan, in the order of the source."""
    for step in plan:
        if isinstance(step, int):
            continue
        if step[0] == "call":
            yield step
        else:
            for inner in step[3]:
                yield from host_calls(inner)


def size_of(array: ir.Array) -> int:
    """Return the size in bytes of an array whose extents are known at compile time."""
    return math.prod(array.shape or ()) * array.element.size


def is_of_user(path: str) -> bool:
    """Return whether an array is declared in the `reads` and `writes` of a node: no other node accesses the rest."""
    return path not in (REPORT, OVERFLOW_PATH) and not path.startswith(STOP)


def is_zeroed(name: str) -> bool:
    """Return whether a temporary array must be 0 before the first launch."""
    return name == REPORT or name.startswith((BARRIER, STOP))


def is_memory_of_launch(array: object) -> TypeGuard[ir.Array]:
    """Return whether an array is memory that a launch receives."""
    return isinstance(array, ir.Array) and array.space is not ir.Space.SHARED


def is_dynamic(shared_bytes: int) -> bool:
    """Return whether the shared arrays of a block are dynamic: memory that the launch requests."""
    return shared_bytes > USUAL_SHARED - EXCHANGED


def shared_layout(body: ir.Block) -> tuple[dict[ir.Array, int], int]:
    """Return the byte offset of each array in shared memory, and the size of all in bytes."""
    found: dict[ir.Array, int] = {}
    end = 0
    for statement in ir.walk_called(body):
        array = getattr(statement, "array", None)
        if isinstance(array, ir.Array) and array.space is ir.Space.SHARED and array not in found:
            found[array] = end
            end += -(-size_of(array) // SHARED_ALIGNMENT) * SHARED_ALIGNMENT
    return found, end


def call_of(step: ir.HostStep) -> tuple[Any, ...]:
    """Return a call of the host as a plain tuple."""
    return ("call", step.object, step.method, step.args, ir.line_of(step.loc))


def exchanged_in(plan: ir.Plan) -> tuple[tuple[Any, ...], ...]:
    """Return the calls of the host that became exchanges inside resident entries."""
    return tuple(call_of(step.call) for step in ir.all_steps(plan) if isinstance(step, ir.Exchange))


def plan_of(plan: ir.Plan) -> Plan:
    """Return a plan of the IR as plain tuples, with numbers of entries."""
    entries = count()

    def plain(steps: ir.Plan) -> Plan:
        return tuple(
            level(step) if isinstance(step, (ir.Branch, ir.Fork, ir.HostStep)) else next(entries)
            for step in steps
        )

    def level(step: ir.Branch | ir.Fork | ir.HostStep) -> tuple[Any, ...]:
        if isinstance(step, ir.HostStep):
            return call_of(step)
        plans = tuple(plain(inner) for inner in step.plans)
        if isinstance(step, ir.Fork):
            return ("parallel", None, None, plans)
        return (step.kind, step.condition.name, step.condition.initial, plans)

    return plain(plan)


# The most bytes of the parameters of one kernel: PTX ISA, .param of entries, from 8.1 on for sm_70 and up.
MAX_PARAMETERS = 32764


class Inputs:
    """The values from outside that blocks and the functions that they call use, in the order of the first uses.

    extents  (array, axis) of the extents that come with a call
    params   parameters of the kernel
    """

    def __init__(self, *blocks: ir.Block, words: tuple[ir.Array, ...] = ()) -> None:
        self.arrays: dict[ir.Array, None] = dict.fromkeys(words)
        self.extents: dict[tuple[ir.Array, int], None] = {
            (word, axis): None
            for word in words
            if word.shape is None
            for axis in range(word.ndim - len(word.inner))
        }
        self.params: dict[ir.Param, None] = {}
        self.conditions: dict[ir.Condition, None] = {}
        own: set[ir.Param] = set()
        for statement in chain.from_iterable(map(ir.walk_called, blocks)):
            self.add(statement)
            if isinstance(statement, ir.Call):
                own.update(statement.function.params)
        for param in own & self.params.keys():
            del self.params[param]

    def add(self, statement: ir.Statement) -> None:
        array = getattr(statement, "array", None)
        if isinstance(statement, (ir.Load, ir.Store, ir.Atomic, ir.Last)) and isinstance(array, ir.Array):
            self.arrays[array] = None
            if array.shape is None:  # row-major: the first extent is not needed for an address
                for axis in range(1, array.ndim - len(array.inner)):
                    self.extents[array, axis] = None
        elif isinstance(statement, ir.Extent) and statement.array.shape is None:
            self.extents[statement.array, statement.axis] = None
        elif isinstance(statement, ir.SetCondition):
            self.conditions[statement.condition] = None
        for value in ir.operands_of(statement):
            if isinstance(value, ir.Param):
                self.params[value] = None


def layout(*tasks: ir.Task, words: tuple[ir.Array, ...] = ()) -> Layout:
    """Return the parameters in use by the entry of one task, or by a resident entry of tasks with its `words`.

    The entry gets all extents of an array among the words.
    """
    inputs = Inputs(*(task.body for task in tasks), words=words)
    found: list[tuple[Slot, What]] = []
    offset = 0

    def add(kind: str, path: str, axis: int, size: int, what: What) -> None:
        nonlocal offset
        offset = -(-offset // size) * size
        found.append((Slot(kind, path, axis, offset, size), what))
        offset += size

    for array in inputs.arrays:
        if is_memory_of_launch(array):
            add("pointer", array.path, 0, 8, array)
    for array, axis in inputs.extents:
        add("extent", array.path, axis, 4, array)
    for param in inputs.params:
        add("scalar", param.path, 0, param.type.size, param)
    for condition in inputs.conditions:
        add("condition", condition.name, 0, 8, condition)
    if offset > MAX_PARAMETERS:
        kind = CompileArgumentError if len(tasks) == 1 else CompileResidentError
        raise compile_error(
            kind, tasks[0].loc, f"it needs {offset} bytes of parameters, and a GPU takes {MAX_PARAMETERS}",
            "pass numbers in an array, not one by one",
        )  # fmt: skip
    return tuple(found)


def describe(task: ir.Task) -> TaskInfo:
    """Return the description of one task that a caller needs."""
    reads, writes = set(), set()
    for statement in ir.walk_called(task.body):
        if isinstance(statement, (ir.Load, ir.Atomic)) and is_memory_of_launch(statement.array):
            reads.add(statement.array.path)
        if isinstance(statement, (ir.Store, ir.Atomic)) and is_memory_of_launch(statement.array):
            writes.add(statement.array.path)
    return TaskInfo(
        task.name, task.loop is not None, tuple(slot for slot, _ in layout(task)), frozenset(reads), frozenset(writes),
        iterations(task), ir.line_of(task.loc), axes_of(task), settings_of(task).block_dim,
        task.loop is not None and task.loop.block_dim > 0, shared_layout(task.body)[1],
        any(isinstance(each, ir.Print) for each in ir.walk_called(task.body)), settings_of(task).parallelize,
        bool(task.bins or task.sums), is_heavy(task), calls=calls_of(task.body), traffic=traffic_of(task),
    )  # fmt: skip


def calls_of(body: ir.Block) -> tuple[tuple[str, str, str, int], ...]:
    """Return the description of the functions that a block calls."""
    functions = ((each, each.loc) for each in ir.functions_of(body))
    return tuple((each.source_name, each.signature, loc.file, loc.line) for each, loc in functions if loc)


def describe_resident(resident: ir.Resident, tasks: tuple[ir.Task, ...]) -> TaskInfo:
    """Return the description of a resident entry."""
    mine = [tasks[number] for number in ir.tasks_of(resident.plan)]
    infos = tuple(map(describe, mine))
    blocks = [info.block_dim for info in infos if info.fixed_block_dim and info.block_dim]
    sizes = blocks or [info.block_dim for info in infos if info.block_dim]
    reads = frozenset(step.source.path for step in resident.exchanges)
    writes = frozenset(step.target.path for step in resident.exchanges)
    return TaskInfo(
        resident.name, True, tuple(slot for slot, _ in layout(*mine, words=resident.words)),
        reads.union(*(info.reads for info in infos)), writes.union(*(info.writes for info in infos)),
        None, min(info.line for info in infos), None, max(sizes, default=None), bool(blocks),
        max(info.shared_bytes for info in infos), any(info.prints for info in infos), resident_tasks=infos,
        loop_tasks=max((parallel_tasks(step, tasks) for step in ir.all_steps(resident.plan)), default=0),
    )  # fmt: skip


def parallel_tasks(step: ir.Step, tasks: tuple[ir.Task, ...]) -> int:
    """Return the number of parallel tasks in a loop; 0 for other steps."""
    if not (isinstance(step, ir.Branch) and step.kind in ir.LOOPS):
        return 0
    return sum(tasks[number].loop is not None for number in ir.tasks_of(step.plans[0]))


def traffic_of(task: ir.Task) -> int:
    """Return the bytes of memory that an iteration of a light loop accesses at most."""
    if task.loop is None or task.loop.block_dim or is_heavy(task):
        return 0
    return sum(
        statement.array.element.size
        for statement in ir.walk_called(task.loop.body)
        if isinstance(statement, (ir.Load, ir.Store, ir.Atomic)) and is_memory_of_launch(statement.array)
    )


def is_heavy(task: ir.Task) -> bool:
    """Return whether one iteration is so much work that few iterations fill a multiprocessor."""
    body = [] if task.loop is None else list(ir.walk_called(task.loop.body))
    return len(body) > MOST_LIGHT or any(isinstance(each, (ir.For, ir.While)) for each in body)


def settings_of(task: ir.Task) -> ir.LoopSettings:
    """Return the settings that cg.loop_config gave to the task's loop."""
    found = None if task.loop is None else task.loop.settings
    return ir.LoopSettings() if found is None else found


# The operations of bounds that callers compute: ir/host_calls.py, kernels/specialisation/loader.pyx. Files of saved
# graphs (saving/sizes.py) have the first three.
ARITHMETIC = ("add", "sub", "mul", "floor_div", "min", "max")


def axes_of(task: ir.Task) -> tuple[tuple[Any, Any, int], ...] | None:
    """Return the axes of a loop if a caller can compute all bounds, and so choose the grid size; otherwise None."""
    if task.loop is None:
        return None
    found = tuple((bound_of(axis.begin), bound_of(axis.end), axis.step) for axis in task.loop.axes)
    return None if any(None in axis for axis in found) else found


def bound_of(value: ir.Value) -> Any:
    """Return an int; ("extent", path, axis); ("scalar", path, type); (one of ARITHMETIC, a, b); else None."""
    match value:
        case ir.Const():
            return int(value.value)
        case ir.Extent():
            array = value.array
            return ("extent", array.path, value.axis) if array.shape is None else array.shape[value.axis]
        case ir.Param():
            return ("scalar", value.path, value.type.name)
        case ir.Op(name, (a, b)) if name in ARITHMETIC and value.type.kind != "float":
            parts = bound_of(a), bound_of(b)
            return None if None in parts else (name, *parts)
        case ir.Op("cast", (a,)):
            return bound_of(a)
    return None


def iterations(task: ir.Task) -> int | None:
    """Return the number of iterations if all bounds are constants, else None. A serial task has 1."""
    if task.loop is None:
        return 1
    total = 1
    for axis in task.loop.axes:
        if not isinstance(axis.begin, ir.Const) or not isinstance(axis.end, ir.Const):
            return None
        total *= len(range(int(axis.begin.value), int(axis.end.value), axis.step))
    return total
