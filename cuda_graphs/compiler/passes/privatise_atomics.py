# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Privatises atomics: in `total[0] += x[i]` of a parallel loop, each thread sums its own share and adds it once.

The element must be the same in all iterations, and the old value must be unused. Memory that may alias the element must
not be touched in another way. Loads of other arrays that come first are an exception: they could see changes of other
iterations anyway, in no defined order. The order of atomics has no meaning, so the values may be added in any order.
Sums of floats are marked as loose, which lets loops vectorise. An element that no iteration changes is not touched.
Loops whose threads cooperate in blocks have faster reductions, and are left unchanged.

Two parameters of one element type may be the same memory: in `y[i] = x[i]; cg.atomic_max(most[0], y[i])` a store to y
may change most[0]. In code for calls such a pair becomes a condition, `Program.apart`, as in fuse_tasks.py.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import TypeGuard

from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.ir.collectives import neutral as neutral_value
from cuda_graphs.compiler.ir.ops import OPS
from cuda_graphs.compiler.ir.scalars import is_small
from cuda_graphs.compiler.ir.types import ScalarType, bool_, i32, i64

from .alias_classes import COMPARES, PASSED, Aliases, aliases_of
from .copy import Copier
from .demote_atomics import ROWS
from .free_order import is_unsigned

__all__ = ["MAX_BLOCK_SUMS", "LoopAccesses", "neutral", "privatise_atomics"]

MAX_BLOCK_SUMS = 16  # of a loop that GPU blocks combine; each takes shared memory and some fifty instructions

ACCESSES = (ir.Load, ir.Store, ir.Atomic)
ElementKey = tuple[ir.Array, tuple[Hashable, ...]]


def privatise_atomics(program: ir.Program, fuse: str | None = None) -> ir.Program:
    """Returns the program with such atomics after the loops.

    `fuse`: one of FUSIONS or None, as in fuse_tasks. Only code whose calls compare their arrays gets more of `apart`.
    """
    apart = dict.fromkeys(program.apart)
    if fuse in COMPARES:
        for task in program.tasks:
            apart.update(conditions(task, aliases_of(apart)))
    aliases = aliases_of(apart)
    tasks = tuple(privatise_in_task(task, aliases) for task in program.tasks)
    return ir.replace(program, tasks=tasks, apart=tuple(apart))


def conditions(task: ir.Task, aliases: Aliases) -> dict[tuple[ir.Array, ir.Array], None]:
    """Returns the pairs of arrays that calls must keep apart so that more atomics of a loop can be accumulated."""
    if task.loop is None or task.loop.block_dim:
        return {}

    def kept_apart(a: ir.Array, b: ir.Array) -> bool:
        return aliases(a, b) and (a is b or a.space not in PASSED or b.space not in PASSED)

    more = privatisable(task, task.loop, kept_apart).keys() - privatisable(task, task.loop, aliases).keys()
    used = dict.fromkeys(array_of(s) for s in ir.walk(task.loop.body) if is_access(s))
    arrays = [array for array in used if any(array is key[0] for key in more)]
    return {
        (one, other): None for one in arrays for other in used if one is not other and aliases(one, other)
    }


def privatise_in_task(task: ir.Task, aliases: Aliases) -> ir.Task:
    """Returns the task with a local for each element whose atomics its loop accumulates."""
    found = {} if task.loop is None or task.loop.block_dim else privatisable(task, task.loop, aliases)
    if not found:
        return task
    unsigned = {element_key(atomic) for atomic in compared(task.loop) if is_unsigned(atomic.value)}
    unsigned -= {element_key(atomic) for atomic in compared(task.loop) if not is_unsigned(atomic.value)}
    privatiser = _Privatiser({
        place: (Extreme if place in unsigned else Sum)(atomic) for place, atomic in found.items()
    })  # fmt: skip
    body: list[ir.Statement] = []
    loop = None
    for statement in task.body.body:
        if statement is not task.loop:
            body += privatiser.statement(statement)
            continue
        body += [made for each in privatiser.sums.values() for made in each.begin()]
        (loop,) = privatiser.statement(statement)
        body += [loop, *(made for each in privatiser.sums.values() for made in each.end(privatiser))]
    assert isinstance(loop, ir.For)
    return ir.replace(task, body=ir.Block(body), loop=loop)


def privatisable(task: ir.Task, loop: ir.For, aliases: Aliases) -> dict[ElementKey, ir.Atomic]:
    """Returns, for each element whose atomics may be accumulated, its first atomic."""
    statements = list(ir.walk(loop.body))
    changing = {s for s in statements if isinstance(s, ir.Value)} | indices(loop)
    accesses = LoopAccesses(task, statements, aliases, lambda atomic: not changing.intersection(atomic.index))
    return {element_key(s): s for s in reversed(accesses.deferrable())}


def compared(loop: ir.For | None) -> list[ir.Atomic]:
    """Returns the minima and maxima of floats of a loop."""
    statements = () if loop is None else ir.walk(loop.body)
    return [
        each for each in statements
        if isinstance(each, ir.Atomic) and each.type.kind == "float" and each.kind in ("min", "max")
    ]  # fmt: skip


@dataclass
class AliasingAccesses:
    """The accesses of a loop to all arrays that may be the same memory as one array.

    kinds    kinds of the atomics that fit
    others   whether there are stores, or atomics that do not fit
    read     whether the array itself is read
    last     number of the last access that reads an aliasing array, or -1
    """

    kinds: set[str] = field(default_factory=set)
    others: bool = False
    read: bool = False
    last: int = -1


class LoopAccesses:
    """The accesses of a loop, in order. `deferrable` finds the atomics that can be done later, unnoticed.

    Such an atomic is exact, its old value is unused, and `fits` is true for it. Memory that may alias it is touched
    only by atomics of the same kind, and by loads of other arrays that come first, once. A fence orders them all.
    """

    def __init__(
        self,
        task: ir.Task,
        statements: list[ir.Statement],
        aliases: Aliases,
        fits: Callable[[ir.Atomic], bool] = lambda atomic: True,
    ) -> None:
        used = {value for s in ir.walk(task.body) for value in ir.operands_of(s)}
        self.accesses = [s for s in statements if is_access(s)]
        self.fits = {
            s for s in self.accesses if isinstance(s, ir.Atomic) and s not in used and is_exact(s) and fits(s)
        }
        self.ends = last_accesses_of_loops(statements, self.accesses)
        arrays = dict.fromkeys(array_of(s) for s in self.accesses)
        self.uses = {array: AliasingAccesses() for array in arrays}
        overlaps = {array: [other for other in arrays if aliases(array, other)] for array in arrays}
        for number, s in enumerate(self.accesses):
            for array in overlaps[array_of(s)]:
                self.record(self.uses[array], array, s, number)
        inner = [s for each in called_in(statements) for s in ir.walk(each.body)]
        self.is_ordered = any(isinstance(s, ir.Fence) for s in (*statements, *inner))
        called = {s.array for s in inner if isinstance(s, ACCESSES) and isinstance(s.array, ir.Array)}
        for array, uses in self.uses.items():
            uses.others = uses.others or any(aliases(array, other) for other in called)

    def record(
        self, uses: AliasingAccesses, array: ir.Array, s: ir.Load | ir.Store | ir.Atomic, number: int
    ) -> None:
        if isinstance(s, ir.Atomic) and s in self.fits:
            uses.kinds.add(s.kind)
        elif not isinstance(s, ir.Load):
            uses.others = True
        elif s.array is array:
            uses.read = True
        else:
            uses.last = max(number, uses.last, self.ends.get(s, -1))

    def deferrable(self) -> list[ir.Atomic]:
        """Returns the atomics that can be done later."""
        if self.is_ordered:
            return []
        return [
            s
            for number, s in enumerate(self.accesses)
            if isinstance(s, ir.Atomic)
            and s in self.fits
            and self.is_deferrable(self.uses[array_of(s)], number)
        ]

    def is_deferrable(self, uses: AliasingAccesses, number: int) -> bool:
        return not uses.others and not uses.read and len(uses.kinds) == 1 and uses.last < number


def called_in(statements: list[ir.Statement]) -> list[ir.Function]:
    """Returns the functions that statements call. Nothing in them is deferred."""
    return ir.reachable({s.function: None for s in statements if isinstance(s, ir.Call)})


def last_accesses_of_loops(
    statements: list[ir.Statement], accesses: list[ir.Load | ir.Store | ir.Atomic]
) -> dict[ir.Statement, int]:
    """Returns, for each access in an inner loop, the number of that loop's last access.

    The access may come again until then.
    """
    numbers = {s: number for number, s in enumerate(accesses)}
    found: dict[ir.Statement, int] = {}
    for loop in statements:
        if isinstance(loop, (ir.For, ir.While)):
            again = [s for s in ir.walk(ir.Block([loop])) if s in numbers]
            for s in again:
                found[s] = max(found.get(s, -1), numbers[again[-1]])
    return found


def is_access(statement: ir.Statement) -> TypeGuard[ir.Load | ir.Store | ir.Atomic]:
    """Returns whether a statement reads or writes an array."""
    return isinstance(statement, ACCESSES) and isinstance(statement.array, ir.Array)


def array_of(access: ir.Load | ir.Store | ir.Atomic) -> ir.Array:
    assert isinstance(access.array, ir.Array)
    return access.array


def indices(loop: ir.For) -> set[ir.Value]:
    """Returns the indices of the loop and of the loops in it."""
    loops = [loop, *(s for s in ir.walk(loop.body) if isinstance(s, ir.For))]
    return {axis.index for each in loops for axis in each.axes}


def is_exact(atomic: ir.Atomic) -> bool:
    """Returns whether accumulating gives the result of some order of the atomics, apart from rounding of float sums."""
    numbers = ("add", "mul", "min", "max")
    kinds = numbers if atomic.type.kind == "float" else (*numbers, "and", "or", "xor")
    return atomic.type.kind != "bool" and not is_small(atomic.type) and atomic.kind in kinds


def element_key(atomic: ir.Atomic) -> ElementKey:
    """Returns a key for the element: equal for two atomics on the same element."""
    assert isinstance(atomic.array, ir.Array)
    return atomic.array, tuple(each.value if isinstance(each, ir.Const) else each for each in atomic.index)


def neutral(kind: str, type: ScalarType) -> ir.Const:
    """Returns the neutral element of an operation in a type.

    For sums of floats it is -0.0, which preserves both zeros. For minima and maxima of floats it is NaN, because the
    result is the operand that is not NaN.
    """
    if kind == "mul":
        return ir.Const(1.0 if type.kind == "float" else 1, type)
    return ir.Const(neutral_value(ROWS.get(kind, kind), type), type)


class Sum:
    """The locals of a thread for one privatised element: the sum, and whether anything was added."""

    def __init__(self, atomic: ir.Atomic) -> None:
        assert isinstance(atomic.array, ir.Array)
        self.atomic = atomic
        self.sum = ir.Local(f"{atomic.array.path}.{atomic.kind}", atomic.type)
        self.any = ir.Local(f"{atomic.array.path}.any", bool_)

    def begin(self) -> list[ir.Statement]:
        """Returns the statements before the loop."""
        return [ir.Set(self.sum, neutral(self.atomic.kind, self.atomic.type)), ir.Set(self.any, ir.FALSE)]

    def add(self, value: ir.Value, loc: ir.Loc | None) -> list[ir.Statement]:
        """Returns the statements that replace an atomic."""
        row = ROWS.get(self.atomic.kind, self.atomic.kind)
        assert row in OPS
        before = ir.Get(self.sum, loc)
        after = ir.Op(row, (before, value), self.atomic.type, loc, loose=self.atomic.type.kind == "float")
        return [ir.Set(self.any, ir.TRUE, loc), before, after, ir.Set(self.sum, after, loc)]

    def end(self, copier: Copier) -> list[ir.Statement]:
        """Returns the statements after the loop."""
        atomic, found, there = self.atomic, ir.Get(self.sum), ir.Get(self.any)
        index = copier.part(atomic.index)
        last = ir.Atomic(atomic.kind, atomic.array, index, found, None, atomic.loc)
        return [there, ir.If(there, ir.Block([found, last]), ir.Block(), atomic.loc)]


class Extreme(Sum):
    """The locals for a minimum or maximum of floats without sign. Such floats are in the order of their bits.

    LLVM makes vectors of comparisons of integers, also in loops with stores. A value that is NaN counts as the neutral
    element, whose bits are NaN too.
    """

    def __init__(self, atomic: ir.Atomic) -> None:
        super().__init__(atomic)
        assert isinstance(atomic.array, ir.Array)
        integer = i32 if atomic.type.size == 4 else i64
        self.bits = ir.Local(f"{atomic.array.path}.bits", integer)
        self.nothing = ir.Const(-1 if atomic.kind == "max" else integer.maximum, integer)

    def begin(self) -> list[ir.Statement]:
        return [ir.Set(self.bits, self.nothing), ir.Set(self.any, ir.FALSE)]

    def add(self, value: ir.Value, loc: ir.Loc | None) -> list[ir.Statement]:
        nan, bits = ir.Op("is_nan", (value,), bool_, loc), ir.Op("bit_cast", (value,), self.bits.type, loc)
        found = ir.Op("select", (nan, self.nothing, bits), bits.type, loc)
        before = ir.Get(self.bits, loc)
        after = ir.Op(self.atomic.kind, (before, found), bits.type, loc)
        return [
            ir.Set(self.any, ir.TRUE, loc),
            nan,
            bits,
            found,
            before,
            after,
            ir.Set(self.bits, after, loc),
        ]

    def end(self, copier: Copier) -> list[ir.Statement]:
        bits = ir.Get(self.bits)
        found = ir.Op("bit_cast", (bits,), self.sum.type)
        return [bits, found, ir.Set(self.sum, found), *super().end(copier)]


class _Privatiser(Copier):
    def __init__(self, sums: dict[ElementKey, Sum]) -> None:
        super().__init__()
        self.sums = sums

    def statement(self, statement: ir.Statement) -> list[ir.Statement]:
        if isinstance(statement, ir.Atomic) and isinstance(statement.array, ir.Array):
            found = self.sums.get(element_key(statement))
            if found is not None:
                return found.add(self.part(statement.value), statement.loc)
        return super().statement(statement)
