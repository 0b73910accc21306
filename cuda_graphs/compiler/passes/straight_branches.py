# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Replaces branches on indices by selections. A GPU thread then begins all loads of an iteration at once.

    h = a[i]                                            h = a[i]
    if 0 < i: s = s + f(a[i - 1])       =>              t = s + f(a[select(0 < i, i - 1, i)])
                                                        s = select(0 < i, t, s)

Where the condition does not hold, the iteration computes an unused value. An element may be loaded there if
every iteration loads the one at its own indices.
"""

from __future__ import annotations

from cuda_graphs.compiler.ir import ir

from .copy import Copier
from .forward_stores import Numbers
from .fuse_stencils import COSTS
from .index_spaces import FIXED, leaves_of, linear

__all__ = ["loads_first", "straight"]

COMPARISONS = ("less", "less_equal", "greater", "greater_equal", "bit_and")
PLAIN = (ir.Op, ir.Extent, ir.Load, ir.Get, ir.Set)


def straight(
    body: list[ir.Statement], axes: tuple[ir.Axis, ...], numbers: Numbers, known: set[ir.Local]
) -> list[ir.Statement]:
    """Returns the statements of an iteration that only sets locals. `known`: those that have values before it."""
    indices = {axis.index for axis in axes}
    loaded = {numbers.element(each) for each in body if isinstance(each, ir.Load)}
    copier = _Straight(indices, loaded, numbers, known)
    return copier.block(ir.Block(body)).body


class _Straight(Copier):
    """Copies an iteration.

    loaded     the elements that every iteration loads
    known      the locals that have values
    condition  that of the branch that is replaced
    """

    def __init__(
        self,
        indices: set[ir.LoopIndex],
        loaded: set[tuple[ir.Array, tuple[int, ...]]],
        numbers: Numbers,
        known: set[ir.Local],
    ) -> None:
        super().__init__()
        self.indices, self.loaded, self.numbers, self.known = indices, loaded, numbers, known
        self.condition: ir.Value | None = None

    def statement(self, statement: ir.Statement) -> list[ir.Statement]:
        if isinstance(statement, ir.If) and self.is_replaceable(statement):
            self.condition = self.part(statement.condition)
            made = self.block(statement.then).body
            self.condition = None
            return made
        if self.condition is not None and isinstance(statement, ir.Load):
            return self.load(statement, self.condition)
        if isinstance(statement, ir.Set):
            if self.condition is not None:
                return self.set(statement, self.condition)
            self.known.add(statement.local)
        known = set(self.known)
        made = super().statement(statement)
        if isinstance(statement, ir.If):
            self.known = known  # a local that a branch sets may have no value after it
        return made

    def is_replaceable(self, branch: ir.If) -> bool:
        return (
            self.condition is None
            and not branch.orelse.body
            and self.is_on_indices(branch.condition)
            and all(map(self.is_harmless, branch.then.body))
        )

    def is_on_indices(self, condition: ir.Value) -> bool:
        """Returns whether a condition compares indices with numbers that all iterations have in common."""
        if isinstance(condition, ir.Op) and condition.name in COMPARISONS:
            return all(
                self.is_on_indices(each) if condition.name == "bit_and" else self.is_bound(each)
                for each in condition.args
            )
        return False

    def is_bound(self, value: ir.Value) -> bool:
        return all(isinstance(each, FIXED) or each in self.indices for each in leaves_of(value))

    def is_harmless(self, statement: ir.Statement) -> bool:
        """Returns whether iterations may run a statement of a branch whose condition does not hold."""
        if isinstance(statement, ir.Load):
            own = ir.Load(statement.array, self.own(statement.index), statement.loc)
            return self.numbers.element(own) in self.loaded
        if isinstance(statement, ir.Op):
            return statement.type.kind == "float" or statement.name in COSTS  # no division of integers
        return isinstance(statement, PLAIN)

    def own(self, index: tuple[ir.Value, ...]) -> tuple[ir.Value, ...]:
        """Returns an index with the indices of the loop in place of those plus numbers."""
        bases = [linear(each)[0] for each in index]
        return tuple(
            base if isinstance(base, ir.LoopIndex) and base in self.indices else each
            for base, each in zip(bases, index, strict=True)
        )

    def load(self, load: ir.Load, condition: ir.Value) -> list[ir.Statement]:
        index, own = self.part(load.index), self.own(load.index)
        made: list[ir.Statement] = []
        chosen: list[ir.Value] = []
        for other, mine in zip(index, own, strict=True):
            if mine in self.indices and other is not mine:
                made.append(ir.Op("select", (condition, other, mine), mine.type, load.loc))
                chosen.append(made[-1])  # type: ignore[arg-type]
            else:
                chosen.append(other)
        found = self.values[load] = ir.Load(load.array, tuple(chosen), load.loc)
        return [*made, found]

    def set(self, statement: ir.Set, condition: ir.Value) -> list[ir.Statement]:
        local = statement.local
        if local not in self.known:
            self.known.add(local)
            return [ir.Set(local, self.part(statement.value), statement.loc)]
        before = ir.Get(local, statement.loc)
        after = ir.Op("select", (condition, self.part(statement.value), before), local.type, statement.loc)
        return [before, after, ir.Set(local, after, statement.loc)]


def loads_first(block: ir.Block) -> ir.Block:
    """Returns an iteration that only writes at its end, with loads before all that needs no memory.

    ptxas does not move loads over divisions and roots, which have branches in them.
    """
    late: set[ir.Statement] = (
        set()
    )  # what depends on locals, and all other statements but loads and operations
    for each in block.body:
        if not isinstance(each, (ir.Op, ir.Extent, ir.Load)) or not late.isdisjoint(ir.operands_of(each)):
            late.add(each)
    early: set[ir.Statement] = set()
    for each in reversed(block.body):
        if each in early or (isinstance(each, ir.Load) and each not in late):
            early.update((each, *ir.operands_of(each)))
    first = [each for each in block.body if each in early]
    return ir.Block([*first, *(each for each in block.body if each not in early)])
