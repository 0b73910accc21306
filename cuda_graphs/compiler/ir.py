# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The intermediate representation: a kernel as a tree of blocks of typed scalars.

A block is a list of statements. A Value is a statement that has a type: it is defined where it stands, once, and may be
used by what follows it in its block and in the blocks inside that. Mutable variables are Locals, which are read by Get
and written by Set. There are no jumps other than Break and Continue, which belong to the innermost For or While. A
Conditional is control flow between tasks: its blocks become bodies of a conditional node of a graph. Those of Sections
are branches of a graph.

Everything that passes rewrite is made of frozen parts that refer to one another by identity: a pass builds new blocks
and leaves old ones as they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

from .plan import LOOPS, Branch, Fork, Plan, Resident, Step, all_steps, steps_of, tasks_of
from .types import ScalarType, bool_, i32

__all__ = [
    "LOOPS", "Arm", "Array", "Assert", "Atomic", "Axis", "Barrier", "Block", "Branch", "Break", "Collective",
    "Condition", "Conditional", "Const", "Continue", "Exit", "Extent", "For", "Fork", "Get", "If", "Kernel", "Last",
    "Load", "Loc", "Local", "LoopIndex", "LoopSettings", "Meeting", "Op", "Param", "Plan", "Position", "Print",
    "Program", "Random", "Region", "Resident", "Return", "Sections", "Set", "Space", "Stack", "Statement", "Step",
    "Store", "Task", "Value", "While", "Worker", "all_steps", "line_of", "replace", "steps_of", "tasks_of", "walk",
]  # fmt: skip


@dataclass(frozen=True)
class Loc:
    """Where in the user's source something comes from; `caller` is the call that was inlined, if any."""

    file: str
    line: int
    column: int = 0
    end_column: int = 0
    function: str = ""
    caller: Loc | None = None


def line_of(loc: Loc | None) -> int:
    """Its line; 0: nowhere."""
    return 0 if loc is None else loc.line


class Statement:
    """Anything that stands in a block."""

    __slots__ = ()
    loc: Loc | None


class Value(Statement):
    """A statement that has a type."""

    __slots__ = ()
    type: ScalarType


@dataclass(eq=False, slots=True)
class Const(Value):
    """A number. It may be used anywhere and stands in no block."""

    value: int | float | bool
    type: ScalarType
    loc: Loc | None = None


@dataclass(eq=False, slots=True)
class Param(Value):
    """A scalar parameter of the kernel: the same in all threads. `path` names it as the user does: "settings.dt"."""

    path: str
    type: ScalarType
    loc: Loc | None = None


class Space(Enum):
    """Where the elements of an array are."""

    PARAM = "param"  # passed with each call
    FIELD = (
        "field"  # known when the kernel is compiled: shape and address are constants of the specialisation
    )
    TEMP = "temp"  # of the kernel: what one task leaves for another
    SHARED = "shared"  # of a block of threads
    LOCAL = "local"  # of a thread


@dataclass(eq=False, slots=True)
class Array:
    """Memory that is indexed. Row-major.

    ndim   indices; those of a vector or matrix element come last and are in `inner`
    shape  extents that are known when compiling: of all spaces but PARAM; of PARAM only `inner`
    inner  shape of one element, () for scalars

    Derivatives flow through those that have a gradient in reverse, and forward through those that have a dual. Two that
    are gradients themselves are the same memory, with the same extents, or have no element in common:
    kernels/gradient.pyx sees to it.
    """

    path: str
    element: ScalarType
    ndim: int
    space: Space = Space.PARAM
    shape: tuple[int, ...] | None = None
    inner: tuple[int, ...] = ()
    needs_grad: bool = False
    needs_dual: bool = False
    is_grad: bool = False


@dataclass(eq=False, slots=True)
class Op(Value):
    """A pure operation of the op table on values; `name` is the row.

    loose  of a sum or product of many floats: they may be taken in any order
    """

    name: str
    args: tuple[Value, ...]
    type: ScalarType
    loc: Loc | None = None
    loose: bool = False


@dataclass(eq=False, slots=True)
class Extent(Value):
    """The number of elements of an array along an axis."""

    array: Array
    axis: int
    type: ScalarType = i32
    loc: Loc | None = None


@dataclass(eq=False, slots=True)
class LoopIndex(Value):
    """The variable of one axis of a For. It stands in no block: its loop defines it for the body."""

    name: str
    type: ScalarType = i32
    loc: Loc | None = None


@dataclass(eq=False, slots=True)
class Local:
    """A mutable variable of a thread."""

    name: str
    type: ScalarType


@dataclass(eq=False, slots=True)
class Get(Value):
    """What a local is now."""

    local: Local
    loc: Loc | None = None

    @property
    def type(self) -> ScalarType:  # type: ignore[override]
        return self.local.type


@dataclass(eq=False, slots=True)
class Set(Statement):
    """The local becomes the value, which has its type."""

    local: Local
    value: Value
    loc: Loc | None = None


@dataclass(eq=False, slots=True)
class Load(Value):
    """An element of an array, as it is now. One index for each dimension."""

    array: Array
    index: tuple[Value, ...]
    loc: Loc | None = None

    @property
    def type(self) -> ScalarType:  # type: ignore[override]
        return self.array.element


@dataclass(eq=False, slots=True)
class Store(Statement):
    """The element becomes the value, which has its type."""

    array: Array
    index: tuple[Value, ...]
    value: Value
    loc: Loc | None = None


@dataclass(eq=False, slots=True)
class Atomic(Value):
    """Reads, changes and writes an element in one step; the value is what it was before.

    kind   "add", "mul", "min", "max", "and", "or", "xor", "exchange", or "cas", which has `compare`
    array  or, before tasks are cut, a Local that a parallel loop did not declare
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
    """In a loop of blocks: the number of the "block", or of the "thread" in it."""

    kind: str
    type: ScalarType = i32
    loc: Loc | None = None


@dataclass(eq=False, slots=True)
class Worker(Value):
    """In a parallel loop: the number of whoever runs this iteration. No two have the same at the same time."""

    type: ScalarType = i32
    loc: Loc | None = None


@dataclass(eq=False, slots=True)
class Barrier(Statement):
    """Nobody of the "block", or of the "warp", goes on before all are here; what they have written, all see."""

    scope: str
    loc: Loc | None = None


@dataclass(eq=False, slots=True)
class Collective(Value):
    """What threads of a block or warp make of what each of them gives; `name` is the row (collectives.py)."""

    name: str
    args: tuple[Value, ...]
    type: ScalarType
    loc: Loc | None = None


@dataclass(eq=False, slots=True)
class Block:
    """Statements in order."""

    body: list[Statement] = field(default_factory=list)


@dataclass(eq=False, slots=True)
class If(Statement):
    """`condition` is a bool."""

    condition: Value
    then: Block
    orelse: Block
    loc: Loc | None = None


@dataclass(eq=False, slots=True)
class Axis:
    """One dimension of a loop: begin, begin + step, ... before end (after it, for a negative step). Of one type."""

    index: LoopIndex
    begin: Value
    end: Value
    step: int = 1


@dataclass(eq=False, slots=True)
class For(Statement):
    """The body for every point of the axes; bounds are evaluated once, before. The last axis runs fastest.

    parallel  iterations may run at the same time, in any order
    blocks    so many of them, one after the other in the order of a serial loop, are a block of threads that work
              together; 0: they do not
    """

    axes: tuple[Axis, ...]
    body: Block
    parallel: bool = False
    settings: LoopSettings | None = None
    loc: Loc | None = None
    blocks: int = 0

    def block_axes(self) -> int:
        """How many of the first axes say which block it is: where the others are one whole block. Else 0."""
        inside = 1
        for number in range(len(self.axes), 0, -1):
            if inside == self.blocks:
                return number
            axis = self.axes[number - 1]
            if not (isinstance(axis.begin, Const) and isinstance(axis.end, Const)):
                return 0
            inside *= len(range(int(axis.begin.value), int(axis.end.value), axis.step))
        return 0


@dataclass(frozen=True)
class LoopSettings:
    """What `cg.loop_config` said of the next loop."""

    block_dim: int | None = None
    serialize: bool = False
    parallelize: int | None = None  # threads of a CPU that take part
    name: str | None = None


@dataclass(eq=False, slots=True)
class While(Statement):
    """`head` then `condition`, a bool; as long as it holds, `body`, and again."""

    head: Block
    condition: Value
    body: Block
    loc: Loc | None = None


@dataclass(eq=False, slots=True)
class Region(Statement):
    """What each thread of a block executes by itself. Between regions all of them wait (passes/split_blocks.py)."""

    body: Block
    loc: Loc | None = None


@dataclass(eq=False, slots=True)
class Meeting(Statement):
    """A Collective between regions. Each thread gives what its locals hold, and gets the result in another.

    args     locals, or values that are the same in all threads
    mask     who takes part, of those that are there; None: all
    uniform  all threads of the block get the same, and `result` is one variable for all
    """

    name: str
    result: Local
    args: tuple[Local | Value, ...]
    mask: Local | None
    uniform: bool = False
    loc: Loc | None = None


@dataclass(eq=False, slots=True)
class Condition:
    """32 bits that a Conditional tests. `initial`: what they are when the kernel begins; None: nothing to rely on."""

    name: str
    initial: int | None = None


@dataclass(eq=False, slots=True)
class Arm(Statement):
    """The condition becomes the value, a u32."""

    condition: Condition
    value: Value
    loc: Loc | None = None


@dataclass(eq=False, slots=True)
class Conditional(Statement):
    """Tasks that run if and as often as a condition says, at the top level of a kernel or of another one.

    kind  "while": the block as long as the condition is not 0, which is asked before each round; "do": the same, but it
          is not asked before the first; "if": the first block, or where it is 0 the second, if there is one; "switch":
          the block of that number, if there is one
    """

    kind: str
    condition: Condition
    blocks: tuple[Block, ...]
    loc: Loc | None = None


@dataclass(eq=False, slots=True)
class Sections(Statement):
    """Blocks of tasks that may run at the same time, where a Conditional may stand: none of them touches what another
    changes (passes/check_sections.py)."""

    blocks: tuple[Block, ...]
    loc: Loc | None = None
    locs: tuple[Loc | None, ...] = ()  # of each


@dataclass(eq=False, slots=True)
class Last(Statement):
    """What one thread executes when all threads have done what stands before it, the last statement of their task.

    array  a number by which they find out who is last: it is 0 before a launch, and after it
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
    """Text and values, one after the other; a value may have a format of printf without its type letter (".3")."""

    parts: tuple[str | tuple[Value, str], ...]
    loc: Loc | None = None


@dataclass(eq=False, slots=True)
class Assert(Statement):
    """Ends the kernel with an error when `condition`, a bool, does not hold."""

    condition: Value
    message: tuple[str | tuple[Value, str], ...]
    loc: Loc | None = None
    kind: str = "assert"  # or "index": of an array


@dataclass(eq=False, slots=True)
class Exit(Statement):
    """Ends what the thread does in this task."""

    loc: Loc | None = None


@dataclass(eq=False, slots=True)
class Return(Statement):
    """The last statement of a kernel that returns values."""

    values: tuple[Value, ...]
    loc: Loc | None = None


Checkpoint = tuple[int | None, str | None]  # label, and how the source names it; None: it has none


@dataclass(eq=False, slots=True)
class Stack:
    """Memory for values that a sweep back needs: element [n, w] is the n-th of worker w.

    array  of Space.TEMP and two dimensions, whose extents come with each launch
    room   how many there are at most, an expression (autodiff/sizes.py); None: that must be counted
    """

    array: Array
    room: Any = None
    loc: Loc | None = None


@dataclass(eq=False, slots=True)
class Kernel:
    """What the frontend makes of a function. `arrays` and `params` are in the order of the flattened signature, and
    behind them what the frontend has added.

    stacks       of a gradient
    overwrites   of a gradient: paths of the arrays that the kernel itself writes
    repeats      of a gradient: (path, line) of each array of the kernel that it reads, where that is done first
    checkpoints  in the order of the source
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


@dataclass(eq=False, slots=True)
class Task:
    """What runs as one launch: statements that one thread executes, or a parallel For, whose iterations are shared out
    among threads, with what each of them executes before and after it.

    bins      an atomic of each array whose atomics a thread may collect, to do them after its iterations
    families  of arrays: two may be the same memory where one's begins with the other's; what is not in it may be any
    """

    name: str
    body: Block
    loop: For | None  # in a parallel task; one of the statements of the body
    loc: Loc | None = None
    bins: tuple[Atomic, ...] = ()
    families: Mapping[Array, tuple[str, ...]] = field(default_factory=dict)

    @property
    def sums(self) -> list[If]:
        """What is behind the loop: each adds what a thread has gathered, if there is anything (gather_atomics)."""
        behind = self.body.body[self.body.body.index(self.loop) + 1 :] if self.loop is not None else []
        return [statement for statement in behind if isinstance(statement, If)]


@dataclass(eq=False, slots=True)
class Program:
    """A kernel cut into tasks, in the order of the source.

    plan     which runs when
    temps    arrays of Space.TEMP: what goes from task to task
    results  of these, those that hold what the kernel returns
    early    a task may begin before the one before it has ended, and waits for that itself
    """

    kernel: Kernel
    tasks: tuple[Task, ...]
    plan: Plan
    temps: tuple[Array, ...] = ()
    results: tuple[Array, ...] = ()
    early: bool = False


def blocks_of(statement: Statement) -> tuple[Block, ...]:
    """The blocks inside a statement."""
    match statement:
        case If():
            return statement.then, statement.orelse
        case For() | Region() | Last():
            return (statement.body,)
        case While():
            return statement.head, statement.body
        case Conditional() | Sections():
            return statement.blocks
    return ()


def operands_of(statement: Statement) -> tuple[Value, ...]:
    """The values that a statement itself uses, not those used in blocks inside it."""
    match statement:
        case Op() | Collective():
            return statement.args
        case Meeting():
            return tuple(each for each in statement.args if isinstance(each, Value))
        case Set() | Arm():
            return (statement.value,)
        case Return():
            return statement.values
        case Load():
            return statement.index
        case Store():
            return (*statement.index, statement.value)
        case Atomic():
            compare = () if statement.compare is None else (statement.compare,)
            return (*statement.index, statement.value, *compare)
        case If() | While():
            return (statement.condition,)
        case For():
            return tuple(value for axis in statement.axes for value in (axis.begin, axis.end))
        case Print():
            return tuple(part[0] for part in statement.parts if isinstance(part, tuple))
        case Assert():
            return (statement.condition, *(part[0] for part in statement.message if isinstance(part, tuple)))
    return ()


def walk(block: Block) -> Iterator[Statement]:
    """All statements of a block and of the blocks inside it, each before those inside it."""
    for statement in block.body:
        yield statement
        for inner in blocks_of(statement):
            yield from walk(inner)


TRUE, FALSE = Const(True, bool_), Const(False, bool_)
