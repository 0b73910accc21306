# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The intermediate representation: a kernel as a tree of blocks of typed scalars.

A block is a list of statements. A Value is a statement that has a type. It is defined once, and later statements of its
block and of the blocks inside it may use it. Mutable variables are Locals: Get reads them and Set writes them. The only
jumps are Break and Continue, which belong to the innermost For or While. A Conditional is control flow between tasks:
its blocks become bodies of a conditional node of a graph. The blocks of Sections become branches of a graph.
A HostCall stands for nodes that an object of the host adds between tasks.

Parts of the IR refer to one another by identity, and passes do not modify them. A pass builds new blocks instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from cuda_graphs.compiler.records import record

from .task_order import (
    LOOPS,
    Branch,
    Exchange,
    Fork,
    HostStep,
    Plan,
    Resident,
    Step,
    all_steps,
    steps_of,
    tasks_of,
)
from .types import ScalarType, bool_, i32
from .values import Array, Condition, Const, Loc, Param, Space, Statement, Value, line_of

__all__ = [
    "LOOPS",
    "Array",
    "Assert",
    "Atomic",
    "Axis",
    "Barrier",
    "Block",
    "Branch",
    "Break",
    "Call",
    "Collective",
    "Condition",
    "Conditional",
    "Const",
    "Continue",
    "Exchange",
    "Exit",
    "Extent",
    "Fence",
    "For",
    "Fork",
    "Function",
    "Get",
    "HostCall",
    "HostConstant",
    "HostMethod",
    "HostStep",
    "If",
    "Kernel",
    "Last",
    "Load",
    "Loc",
    "Local",
    "LoopIndex",
    "LoopSettings",
    "Op",
    "Param",
    "Plan",
    "Position",
    "Print",
    "Program",
    "Random",
    "Region",
    "RegionCollective",
    "Resident",
    "Result",
    "Return",
    "Sections",
    "Set",
    "SetCondition",
    "Space",
    "Stack",
    "Statement",
    "Step",
    "Store",
    "Task",
    "Value",
    "While",
    "Worker",
    "all_steps",
    "functions_of",
    "line_of",
    "reachable",
    "replace",
    "steps_of",
    "tasks_of",
    "walk",
    "walk_called",
]  # fmt: skip


@dataclass(eq=False, slots=True)
class Op(Value):
    """A pure operation of the op table on values. `name` is the row.

    loose  True if the floats of a sum or product may be combined in any order
    """

    name: str
    args: tuple[Value, ...]
    type: ScalarType
    loc: Loc | None = None
    loose: bool = False


@dataclass(eq=False, slots=True)
class Function:
    """A function that tasks and other functions call. It has no parallel loops and no barriers.

    The body accesses the arrays and the scalar parameters of the kernel directly. Its last statement is a Return.

    results    the types of the results, at least one
    max_depth  the most calls of the function inside one another; None: it does not call itself
    signature  the types in the source, as text: passes add parameters and results
    """

    name: str
    params: tuple[Param, ...]
    body: Block
    results: tuple[ScalarType, ...]
    max_depth: int | None = None
    loc: Loc | None = None
    signature: str = ""

    @property
    def source_name(self) -> str:
        """The name in the source. `name` has a number behind it, which makes it unique in the kernel."""
        return self.name.rpartition(".")[0]


@dataclass(eq=False, slots=True)
class Call(Value):
    """The first result of a call. The function may read and write arrays."""

    function: Function
    args: tuple[Value, ...]
    loc: Loc | None = None

    @property
    def type(self) -> ScalarType:  # type: ignore[override]
        return self.function.results[0]


@dataclass(eq=False, slots=True)
class Result(Value):
    """A further result of a Call, which stands in the same block."""

    call: Value
    number: int
    type: ScalarType
    loc: Loc | None = None


@dataclass(eq=False, slots=True)
class Extent(Value):
    """The number of elements of an array along an axis."""

    array: Array
    axis: int
    type: ScalarType = i32
    loc: Loc | None = None


@dataclass(eq=False, slots=True)
class LoopIndex(Value):
    """The variable of one axis of a For. It stands in no block: the loop defines it for its body."""

    name: str
    type: ScalarType = i32
    loc: Loc | None = None


@dataclass(eq=False, slots=True)
class Local:
    """A mutable variable of a thread. That of an adjoint is 0 at first, and then a sum."""

    name: str
    type: ScalarType
    is_adjoint: bool = False


@dataclass(eq=False, slots=True)
class Get(Value):
    """The current value of a local."""

    local: Local
    loc: Loc | None = None

    @property
    def type(self) -> ScalarType:  # type: ignore[override]
        return self.local.type


@dataclass(eq=False, slots=True)
class Set(Statement):
    """Assigns to a local a value of its type."""

    local: Local
    value: Value
    loc: Loc | None = None


@dataclass(eq=False, slots=True)
class Load(Value):
    """The current value of an array element. There is one index for each dimension."""

    array: Array
    index: tuple[Value, ...]
    loc: Loc | None = None

    @property
    def type(self) -> ScalarType:  # type: ignore[override]
        return self.array.element


@dataclass(eq=False, slots=True)
class Store(Statement):
    """Assigns to an array element a value of its type."""

    array: Array
    index: tuple[Value, ...]
    value: Value
    loc: Loc | None = None


@dataclass(eq=False, slots=True)
class Atomic(Value):
    """Reads, changes and writes an element in one step. Its value is the previous value of the element.

    kind   "add", "mul", "min", "max", "and", "or", "xor", "exchange", or "cas", which has `compare`
    array  the array; before the division into tasks, it may be a Local from outside of the parallel loop
    """

    kind: str
    array: Array | Local
    index: tuple[Value, ...]
    value: Value
    compare: Value | None = None
    loc: Loc | None = None

    @property
    def type(self) -> ScalarType:  # type: ignore[override]
        return self.array.type if isinstance(self.array, Local) else self.array.element


@dataclass(eq=False, slots=True)
class Random(Value):
    """The next number of the thread's stream: floats in [0, 1), integers over all values."""

    type: ScalarType
    loc: Loc | None = None


@dataclass(eq=False, slots=True)
class Position(Value):
    """The number of the "block" in a loop of blocks, or of the "thread" in its block."""

    kind: str
    type: ScalarType = i32
    loc: Loc | None = None


@dataclass(eq=False, slots=True)
class Worker(Value):
    """The number of the worker that runs this iteration of a parallel loop. No two workers have it at the same time."""

    type: ScalarType = i32
    loc: Loc | None = None


@dataclass(eq=False, slots=True)
class Barrier(Statement):
    """A barrier for the threads of the "block" or "warp", after which all see each other's earlier writes."""

    scope: str
    loc: Loc | None = None


@dataclass(eq=False, slots=True)
class Fence(Statement):
    """Orders the memory accesses of one thread: whoever sees one of its later writes sees all earlier ones."""

    loc: Loc | None = None


@dataclass(eq=False, slots=True)
class Collective(Value):
    """The result of a collective operation of a block or warp. `name` is the row (collectives.py)."""

    name: str
    args: tuple[Value, ...]
    type: ScalarType
    loc: Loc | None = None


@dataclass(eq=False, slots=True)
class Block:
    """A list of statements in order."""

    body: list[Statement] = field(default_factory=list)


@dataclass(eq=False, slots=True)
class If(Statement):
    """A branch. `condition` is a bool."""

    condition: Value
    then: Block
    orelse: Block
    loc: Loc | None = None


@dataclass(eq=False, slots=True)
class Axis:
    """One dimension of a loop: begin, begin + step, ... up to end, exclusive. All have one type."""

    index: LoopIndex
    begin: Value
    end: Value
    step: int = 1


@dataclass(eq=False, slots=True)
class For(Statement):
    """A loop over every point of the axes. Bounds are evaluated once, before. The last axis runs fastest.

    parallel  iterations may run at the same time, in any order
    block_dim  the number of consecutive iterations, in serial order, that form a block of cooperating threads; 0: none
    """

    axes: tuple[Axis, ...]
    body: Block
    parallel: bool = False
    settings: LoopSettings | None = None
    loc: Loc | None = None
    block_dim: int = 0

    def block_axes(self) -> int:
        """Return the number of leading axes that number the blocks, if the others span exactly one block; else 0."""
        size = 1
        for number in range(len(self.axes), 0, -1):
            if size == self.block_dim:
                return number
            axis = self.axes[number - 1]
            if not (isinstance(axis.begin, Const) and isinstance(axis.end, Const)):
                return 0
            size *= len(range(int(axis.begin.value), int(axis.end.value), axis.step))
        return 0


@record
class LoopSettings:
    """The settings of `cg.loop_config` for the next loop."""

    block_dim: int | None = None
    serialize: bool = False
    parallelize: int | None = None  # the largest number of CPU threads that take part
    name: str | None = None


@dataclass(eq=False, slots=True)
class While(Statement):
    """A loop: `head`, then as long as `condition`, a bool, holds: `body` and `head` again."""

    head: Block
    condition: Value
    body: Block
    loc: Loc | None = None


@dataclass(eq=False, slots=True)
class Region(Statement):
    """Statements that each thread of a block executes alone. All threads wait after each (split_at_barriers.py)."""

    body: Block
    loc: Loc | None = None


@dataclass(eq=False, slots=True)
class RegionCollective(Statement):
    """A Collective between regions, with operands and results in locals.

    args     locals, or values that are the same in all threads
    mask     a flag of each active thread: whether it takes part; None: all do
    uniform  all threads of the block get the same result, and `result` is one variable for all
    """

    name: str
    result: Local
    args: tuple[Local | Value, ...]
    mask: Local | None
    uniform: bool = False
    loc: Loc | None = None


@dataclass(eq=False, slots=True)
class SetCondition(Statement):
    """Sets a condition to a value, a u32. With `keeps`, a value other than 0 leaves the condition as it is."""

    condition: Condition
    value: Value
    loc: Loc | None = None
    keeps: bool = False


@dataclass(eq=False, slots=True)
class Conditional(Statement):
    """Blocks of tasks that a condition selects, at the top level of a kernel or in another Conditional or Sections.

    kind  "while": repeats the block as long as the condition is not 0, tested before each iteration. "do": the same
          without a test before the first iteration. "if": the first block, or the second, if any, where the condition
          is 0. "switch": the block with that number, if any.
    most  of "while" and "do": the most iterations; None for any number. passes/limit_loops.py counts them
    """

    kind: str
    condition: Condition
    blocks: tuple[Block, ...]
    loc: Loc | None = None
    most: int | None = None


@dataclass(eq=False, slots=True)
class Sections(Statement):
    """Blocks of tasks that may run at the same time, wherever a Conditional may stand.

    No block accesses memory that another one changes (passes/check_sections.py).
    """

    blocks: tuple[Block, ...]
    loc: Loc | None = None
    locs: tuple[Loc | None, ...] = ()  # the position of each block


@record
class HostConstant:
    """An argument of a HostCall: None, a string or a number of the source."""

    value: Any


@record
class HostMethod:
    """An argument of a HostCall: a method of the same object."""

    name: str


@dataclass(eq=False, slots=True)
class HostCall(Statement):
    """A call of a method of an object of the host, at the top level of a kernel or in a Conditional.

    It may read and write the arrays among its arguments. No access to memory moves across it.

    object  the path of the parameter
    args    Arrays, integer Values, HostConstants, HostMethods, and tuples of them
    """

    object: str
    method: str
    args: tuple[Array | Value | HostConstant | HostMethod | tuple[Any, ...], ...]
    loc: Loc | None = None


@dataclass(eq=False, slots=True)
class Last(Statement):
    """Statements that one thread executes when all threads have finished. It is the last statement of its task.

    array  the counter of finished threads: it is 0 before and after each launch
    """

    body: Block
    array: Array
    loc: Loc | None = None


@dataclass(eq=False, slots=True)
class Break(Statement):
    loc: Loc | None = None


@dataclass(eq=False, slots=True)
class Continue(Statement):
    loc: Loc | None = None


@dataclass(eq=False, slots=True)
class Print(Statement):
    """Text and values, one after the other. A value may have a format of printf without its type letter (".3")."""

    parts: tuple[str | tuple[Value, str], ...]
    loc: Loc | None = None


@dataclass(eq=False, slots=True)
class Assert(Statement):
    """Ends the kernel with an error if `condition`, a bool, does not hold."""

    condition: Value
    message: tuple[str | tuple[Value, str], ...]
    loc: Loc | None = None
    # or "index": out of range; "overflow": a result does not fit its type; "depth": the limit of a recursion
    kind: str = "assert"


@dataclass(eq=False, slots=True)
class Exit(Statement):
    """Ends the current task for the thread; in a function, ends the function, whose results are 0."""

    loc: Loc | None = None


@dataclass(eq=False, slots=True)
class Return(Statement):
    """The last statement of a function, and of a kernel that returns values."""

    values: tuple[Value, ...]
    loc: Loc | None = None


Checkpoint = tuple[int | None, str | None]  # label, and its name in the source or None


@dataclass(eq=False, slots=True)
class Stack:
    """Memory for values that a reverse sweep needs: element [n, w] is the n-th of worker w.

    array     an array of Space.TEMP with two dimensions, whose extents come with each launch
    capacity  the largest number of elements of a worker, an expression
              (compiler/autodiff/analysis/size_expressions.py); None: a kernel counts it
    with_duals  a second array of this size follows, with the duals of the elements
    """

    array: Array
    capacity: Any = None
    loc: Loc | None = None
    with_duals: bool = False


@dataclass(eq=False, slots=True)
class Kernel:
    """The frontend's translation of a function.

    `arrays` and `params` are in the order of the flattened signature, followed by those that the frontend has added.

    stacks       of a gradient
    overwrites   of a gradient: paths of the arrays that the kernel itself writes
    repeats      of a gradient: (path, line) of each array of the kernel that it reads, with the line of the first read
    checkpoints  in the order of the source
    parts        of a part of a kernel: the plan of all parts (autodiff/parts.py)
    stack_bytes  the most bytes of the stack of a thread that recursion takes (passes/limit_recursion.py)
    apart        pairs of arrays that calls of this code must not let overlap (passes/demote_atomics.py)
    gathered     of a gradient: (line, why not) of each loop with additions to other elements than its own; "" if each
                 iteration computes the sum of its own element (passes/gather_additions.py)
    """

    name: str
    params: tuple[Param, ...]
    arrays: tuple[Array, ...]
    body: Block
    returns: tuple[ScalarType, ...] = ()
    loc: Loc | None = None
    stacks: tuple[Stack, ...] = ()
    overwrites: tuple[str, ...] = ()
    repeats: tuple[tuple[str, int], ...] = ()
    checkpoints: tuple[Checkpoint, ...] = ()
    parts: tuple[Any, ...] = ()
    stack_bytes: int = 0
    apart: tuple[tuple[Array, Array], ...] = ()
    gathered: tuple[tuple[int, str], ...] = ()


@dataclass(eq=False, slots=True)
class Task:
    """A unit that runs as one launch.

    The statements of a serial task run in one thread. In a parallel task, threads share the iterations of a parallel
    For, and each thread executes the statements before and after it.

    bins      one atomic for each array whose atomics a thread may accumulate and add after its iterations
    alias_classes  the alias class of each array: two arrays may be the same memory if the class of one is a prefix of
                   that of the other; an array without a class may overlap any other
    """

    name: str
    body: Block
    loop: For | None  # in a parallel task; one of the statements of the body
    loc: Loc | None = None
    bins: tuple[Atomic, ...] = ()
    alias_classes: Mapping[Array, tuple[str, ...]] = field(default_factory=dict)

    @property
    def sums(self) -> list[If]:
        """The statements after the loop that add what a thread has accumulated, if anything (privatise_atomics)."""
        behind = self.body.body[self.body.body.index(self.loop) + 1 :] if self.loop is not None else []
        return [statement for statement in behind if isinstance(statement, If)]


@dataclass(eq=False, slots=True)
class Program:
    """A kernel divided into tasks, in the order of the source.

    plan     the order of execution
    temps    arrays of Space.TEMP, which carry values from task to task
    results  the temporaries that hold the values that the kernel returns
    early    a task may begin before the previous task has ended, and waits for that itself
    early_loads  paths of the arrays that it may read before it waits
    fusion   (lines of neighbouring tasks, the reason why they are not one task; "" for fused tasks)
    again    (lines of fused tasks, what their iterations compute again, in words)
    apart    pairs of arrays that calls of this code must not let overlap: those of the kernel, and of fused tasks
    equal    pairs of extents (artifact.bound_of) that are equal in calls of this code: fused tasks had both as bounds
    large_loops  sizes (artifact.LoopSize) of loops: if all are large, other code has fewer tasks
    """

    kernel: Kernel
    tasks: tuple[Task, ...]
    plan: Plan
    temps: tuple[Array, ...] = ()
    results: tuple[Array, ...] = ()
    early: bool = False
    early_loads: frozenset[str] = frozenset()
    fusion: tuple[tuple[tuple[int, ...], str], ...] = ()
    again: tuple[tuple[tuple[int, ...], str], ...] = ()
    apart: tuple[tuple[Array, Array], ...] = ()
    equal: tuple[tuple[Any, Any], ...] = ()
    large_loops: tuple[Any, ...] = ()


def _inner(statement: Any) -> tuple[Block, ...]:
    return (statement.body,)


def _blocks(statement: Any) -> tuple[Block, ...]:
    return statement.blocks


# Class of statements -> the blocks inside. Passes ask this of each statement, so it is a look-up and no search.
BLOCKS: dict[type, Callable[..., tuple[Block, ...]]] = {
    If: lambda statement: (statement.then, statement.orelse),
    While: lambda statement: (statement.head, statement.body),
    **dict.fromkeys((For, Region, Last), _inner),
    **dict.fromkeys((Conditional, Sections), _blocks),
}


def blocks_of(statement: Statement) -> tuple[Block, ...]:
    """Return the blocks inside a statement."""
    inside = BLOCKS.get(type(statement))
    return () if inside is None else inside(statement)


def _parts_of(parts: tuple[Any, ...]) -> tuple[Value, ...]:
    return tuple(part[0] for part in parts if isinstance(part, tuple))


def _values_in(args: tuple[Any, ...]) -> tuple[Value, ...]:
    found: list[Value] = []
    for each in args:
        found += _values_in(each) if isinstance(each, tuple) else (each,) if isinstance(each, Value) else ()
    return tuple(found)


# Class of statements -> the values that a statement itself uses.
OPERANDS: dict[type, Callable[..., tuple[Value, ...]]] = {
    **dict.fromkeys((Op, Call, Collective), lambda statement: statement.args),
    Result: lambda statement: (statement.call,),
    **dict.fromkeys((Set, SetCondition), lambda statement: (statement.value,)),
    **dict.fromkeys((If, While), lambda statement: (statement.condition,)),
    RegionCollective: lambda statement: tuple(each for each in statement.args if isinstance(each, Value)),
    Return: lambda statement: statement.values,
    Load: lambda statement: statement.index,
    Store: lambda statement: (*statement.index, statement.value),
    Atomic: lambda statement: (
        *statement.index,
        statement.value,
        *(() if statement.compare is None else (statement.compare,)),
    ),
    For: lambda statement: tuple(value for axis in statement.axes for value in (axis.begin, axis.end)),
    HostCall: lambda statement: _values_in(statement.args),
    Print: lambda statement: _parts_of(statement.parts),
    Assert: lambda statement: (statement.condition, *_parts_of(statement.message)),
}


def operands_of(statement: Statement) -> tuple[Value, ...]:
    """Return the values that a statement itself uses, not those used in blocks inside it."""
    used = OPERANDS.get(type(statement))
    return () if used is None else used(statement)


def walk(block: Block) -> Iterator[Statement]:
    """Yield all statements of a block and of the blocks inside it, each before the statements inside it."""
    left = block.body[::-1]  # a generator for each depth would pass each statement through all of them
    while left:
        statement = left.pop()
        yield statement
        inside = BLOCKS.get(type(statement))
        if inside is not None:
            for inner in reversed(inside(statement)):
                left += reversed(inner.body)


def walk_called(block: Block) -> Iterator[Statement]:
    """Yield what `walk` yields, then the statements of all functions that the block calls, each function once."""
    called: dict[Function, None] = {}
    for statement in walk(block):
        if isinstance(statement, Call):
            called[statement.function] = None
        yield statement
    if called:
        for function in reachable(called):
            yield from walk(function.body)


def functions_of(block: Block) -> list[Function]:
    """Return the functions that a block calls, directly or not, in the order of their first calls."""
    return reachable({each.function: None for each in walk(block) if isinstance(each, Call)})


def reachable(called: dict[Function, None]) -> list[Function]:
    """Return these functions and all that they call."""
    found, left = dict(called), list(called)
    for function in left:
        for each in walk(function.body):
            if isinstance(each, Call) and each.function not in found:
                found[each.function] = None
                left.append(each.function)
    return left


TRUE, FALSE = Const(True, bool_), Const(False, bool_)
