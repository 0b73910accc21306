# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""`y[i] += a` in a loop over i needs no atomic: no other iteration touches the element.

Each axis of the parallel loop (of memory of a block: each that tells its threads apart) must be an index of the
element, in the same position wherever the loop writes to that array; and no array that may be the same memory is
written in any other way. (Gradients may be in this one: they are one array or apart.) Then two iterations never write
one element. What they read does not matter: reading what another iteration changes has no defined result, atomic or
not.
"""

from __future__ import annotations

from .. import ir
from ..ops import OPS
from .alias_facts import may_alias
from .copy import Copier

__all__ = ["demote_atomics"]

ROWS = {"and": "bit_and", "or": "bit_or", "xor": "bit_xor"}


def demote_atomics(kernel: ir.Kernel) -> ir.Kernel:
    """The kernel with such atomics as a load, an operation and a store."""
    return ir.replace(kernel, body=_Demoter().block(kernel.body))


class _Demoter(Copier):
    """`private`: the arrays that the parallel loop around writes so."""

    def __init__(self) -> None:
        super().__init__()
        self.private: set[ir.Array] = set()

    def statement(self, statement: ir.Statement) -> list[ir.Statement]:
        if isinstance(statement, ir.For) and statement.parallel:
            self.private = private_arrays(statement)
            made = super().statement(statement)
            self.private = set()
            return made
        return super().statement(statement)

    def Atomic(self, atomic: ir.Atomic) -> list[ir.Statement]:  # noqa: N802
        row = ROWS.get(atomic.kind, atomic.kind)
        if isinstance(atomic.array, ir.Local) or atomic.array not in self.private or row not in OPS:
            return [atomic]
        old = ir.Load(atomic.array, atomic.index, atomic.loc)
        new = ir.Op(row, (old, atomic.value), atomic.type, atomic.loc)
        store = ir.Store(atomic.array, atomic.index, new, atomic.loc)
        return [old, new, store]

    def value_of(self, made: list[ir.Statement]) -> ir.Value:
        """Of what took the place of an atomic: what was there before."""
        first = made[0]
        assert isinstance(first, ir.Value)
        return first if len(made) == 3 and isinstance(made[-1], ir.Store) else super().value_of(made)


def private_arrays(loop: ir.For) -> set[ir.Array]:
    """Arrays of which each iteration writes elements of its own."""
    written: dict[ir.Array, set[tuple[int, ...] | None]] = {}
    for statement in ir.walk(loop.body):
        if isinstance(statement, (ir.Store, ir.Atomic)) and isinstance(statement.array, ir.Array):
            needed = thread_axes(loop) if statement.array.space is ir.Space.SHARED else loop.axes
            written.setdefault(statement.array, set()).add(positions(needed, statement.index))
    return {
        array
        for array, ways in written.items()
        if len(ways) == 1
        and None not in ways
        and not any(may_disturb(array, other, ways, written[other]) for other in written)
    }


def may_disturb(a: ir.Array, b: ir.Array, ways: object, other: object) -> bool:
    """Whether what an iteration writes to an array may be what another one writes to a second array."""
    if a is b or not may_alias(a, b):
        return False
    return not (a.is_grad and b.is_grad and a.ndim == b.ndim and ways == other)


def thread_axes(loop: ir.For) -> tuple[ir.Axis, ...]:
    """Those that tell the threads of a block apart."""
    return loop.axes[loop.block_axes() :]


def positions(axes: tuple[ir.Axis, ...], index: tuple[ir.Value, ...]) -> tuple[int, ...] | None:
    """Where the axes are in an index; None if one is not there."""
    found = tuple(next((at for at, each in enumerate(index) if each is axis.index), -1) for axis in axes)
    return None if -1 in found else found
