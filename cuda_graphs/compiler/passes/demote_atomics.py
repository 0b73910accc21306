# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Replaces atomics by plain operations if no other iteration touches the element: `y[i] += a` in a loop over i.

Each axis of the parallel loop must be an index of the element, in the same position wherever the loop writes to that
array. (For shared memory of a block, only the axes that distinguish its threads count.) No array that may be the same
memory may be written in another way. (Gradients may be written in this way: they are the same array, or do not
overlap.) In code for calls, parameters of one type that the loop writes must not overlap: `Kernel.apart`. Two
iterations then never write the same element. Reads do not matter: reading an element that another
iteration changes has no defined result, with or without atomics.
"""

from __future__ import annotations

from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.ir.ops import OPS

from .alias_classes import COMPARES, PASSED, may_alias
from .copy import Copier

__all__ = ["demote_atomics"]

Pairs = dict[tuple[ir.Array, ir.Array], None]
"""Pairs of arrays, in order."""

ROWS = {"and": "bit_and", "or": "bit_or", "xor": "bit_xor"}


def demote_atomics(kernel: ir.Kernel, fuse: str | None = None) -> ir.Kernel:
    """Returns the kernel with a load, an operation and a store in place of each such atomic, and `apart`.

    `fuse`: one of FUSIONS or None. Only code whose calls compare their arrays gets `apart`.
    """
    if not any(isinstance(statement, ir.Atomic) for statement in ir.walk(kernel.body)):
        return kernel
    demoter = _Demoter(fuse in COMPARES)
    return ir.replace(kernel, body=demoter.block(kernel.body), apart=tuple(demoter.apart))


class _Demoter(Copier):
    """Replaces atomics.

    compares  whether calls of the code compare their arrays
    private   the result of `private_arrays` for the current parallel loop
    apart     pairs of arrays that calls must not let overlap
    """

    def __init__(self, compares: bool) -> None:
        super().__init__()
        self.compares = compares
        self.private: dict[ir.Array, Pairs] = {}
        self.apart: Pairs = {}

    def statement(self, statement: ir.Statement) -> list[ir.Statement]:
        if isinstance(statement, ir.For) and statement.parallel:
            self.private = private_arrays(statement, self.compares)
            made = super().statement(statement)
            self.private = {}
            return made
        return super().statement(statement)

    def Atomic(self, atomic: ir.Atomic) -> list[ir.Statement]:  # noqa: N802
        row = ROWS.get(atomic.kind, atomic.kind)
        if isinstance(atomic.array, ir.Local) or atomic.array not in self.private or row not in OPS:
            return [atomic]
        self.apart.update(self.private[atomic.array])
        old = ir.Load(atomic.array, atomic.index, atomic.loc)
        new = ir.Op(row, (old, atomic.value), atomic.type, atomic.loc)
        store = ir.Store(atomic.array, atomic.index, new, atomic.loc)
        return [old, new, store]

    def value_of(self, made: list[ir.Statement]) -> ir.Value:
        """Returns the old value for a replaced atomic: its load, the first statement."""
        first = made[0]
        assert isinstance(first, ir.Value)
        return first if len(made) == 3 and isinstance(made[-1], ir.Store) else super().value_of(made)


def private_arrays(loop: ir.For, compares: bool) -> dict[ir.Array, Pairs]:
    """Returns the arrays of which each iteration writes only its own elements, if pairs of arrays do not overlap.

    There are such pairs only if calls compare their arrays.
    """
    written: dict[ir.Array, set[tuple[int, ...] | None]] = {}
    for statement in ir.walk_called(loop.body):
        if isinstance(statement, (ir.Store, ir.Atomic)) and isinstance(statement.array, ir.Array):
            needed = thread_axes(loop) if statement.array.space is ir.Space.SHARED else loop.axes
            written.setdefault(statement.array, set()).add(positions(needed, statement.index))
    found: dict[ir.Array, Pairs] = {}
    for array, patterns in written.items():
        others = [other for other in written if may_conflict(array, other, patterns, written[other])]
        compared = compares and all(each.space in PASSED for each in (array, *others))
        if len(patterns) == 1 and None not in patterns and (compared or not others):
            found[array] = {(array, other): None for other in others}
    return found


def may_conflict(a: ir.Array, b: ir.Array, patterns: object, other: object) -> bool:
    """Returns whether an iteration may write an element of `a` that another iteration writes through `b`."""
    if a is b or not may_alias(a, b):
        return False
    return not (a.is_grad and b.is_grad and a.ndim == b.ndim and patterns == other)


def thread_axes(loop: ir.For) -> tuple[ir.Axis, ...]:
    """Returns the axes that distinguish the threads of a block."""
    return loop.axes[loop.block_axes() :]


def positions(axes: tuple[ir.Axis, ...], index: tuple[ir.Value, ...]) -> tuple[int, ...] | None:
    """Returns the positions of the axes in an index, or None if an axis is missing."""
    found = tuple(next((at for at, each in enumerate(index) if each is axis.index), -1) for axis in axes)
    return None if -1 in found else found
