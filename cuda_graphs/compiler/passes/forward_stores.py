# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Passes stored values on to later loads of the same element, and removes stores that a later store overwrites.

    store b[i] = v; w = load b[i]; store b[i] = w * c   =>   store b[i] = v * c

It works on the body of one iteration, in which no other iteration changes an element that is read: the language calls
the result of such a read undefined. A store has a value of the type of the element, so the forwarded value is the
rounded one. LLVM does the same only if it knows that the stores between do not change the element. `aliases` knows
more.
"""

from __future__ import annotations

from cuda_graphs.compiler.ir import ir

from .alias_classes import Aliases
from .copy import Copier
from .propagate import without_unused

__all__ = ["Numbers", "forward_stores"]

Element = tuple[ir.Array, tuple[int, ...]]  # an array, and the numbers of its indices
GLOBAL = (ir.Space.PARAM, ir.Space.FIELD, ir.Space.TEMP)


class Numbers:
    """Numbers values so that values of one number are equal within an iteration."""

    def __init__(self) -> None:
        self.numbers: dict[object, int] = {}
        self.known: dict[ir.Value, int] = {}
        self.constants: set[int] = set()

    def of(self, value: ir.Value) -> int:
        """Returns the number of a value."""
        if value not in self.known:
            self.known[value] = self.numbers.setdefault(self.key(value), len(self.numbers))
            if isinstance(value, ir.Const):
                self.constants.add(self.known[value])
        return self.known[value]

    def key(self, value: ir.Value) -> object:
        match value:
            case ir.Const():
                return "number", value.type.name, repr(value.value)
            case ir.Extent():
                return "extent", value.array, value.axis
            case ir.Op("mul", (ir.Op("sub", (a, b)) as one, other)) if self.of(one) == self.of(other):
                return "square of a difference", value.type.name, frozenset(map(self.of, (a, b)))
            case ir.Op("add" | "mul"):
                return value.name, value.type.name, *sorted(map(self.of, value.args))
            case ir.Op():
                return value.name, value.type.name, *map(self.of, value.args)
        return value

    def element(self, statement: ir.Load | ir.Store | ir.Atomic) -> Element:
        assert isinstance(statement.array, ir.Array)
        return statement.array, tuple(map(self.of, statement.index))

    def differ(self, one: tuple[int, ...], other: tuple[int, ...]) -> bool:
        """Returns whether two indices of one array are known to differ."""
        return any(a != b and {a, b} <= self.constants for a, b in zip(one, other, strict=True))


def forward_stores(body: ir.Block, aliases: Aliases) -> ir.Block:
    """Returns the body of an iteration without loads of known values, and without overwritten stores.

    `aliases` returns whether two arrays may be the same memory.
    """
    numbers = Numbers()
    found = _Forwarder(numbers, aliases).block(body)
    return without_unused(_DeadStores(numbers, aliases).block(found, {}))


class _Forwarder(Copier):
    """Replaces loads. `known`: the value of each element that the iteration has loaded or stored."""

    def __init__(self, numbers: Numbers, aliases: Aliases) -> None:
        super().__init__()
        self.numbers, self.aliases = numbers, aliases
        self.known: dict[Element, ir.Value] = {}

    def statement(self, statement: ir.Statement) -> list[ir.Statement]:
        if isinstance(statement, ir.Load) and statement.array.space in GLOBAL:
            return self.load(statement)
        if isinstance(statement, (ir.For, ir.While)):
            self.forget_written(statement)
        known = dict(self.known)
        made = super().statement(statement)
        if isinstance(statement, ir.If):
            self.known = known
            self.forget_written(statement)
        elif isinstance(statement, (ir.For, ir.While)):
            self.known = known
        return made

    def part(self, part: object) -> object:
        if not isinstance(part, ir.Block):
            return super().part(part)
        known = dict(self.known)  # the blocks of a branch do not see one another's values
        made = self.block(part)
        self.known = known
        return made

    def load(self, load: ir.Load) -> list[ir.Statement]:
        """Returns the copy of a load, or nothing if the value of its element is known."""
        made = ir.Load(load.array, self.part(load.index), load.loc)  # type: ignore[arg-type]
        found = self.values[load] = self.known.setdefault(self.numbers.element(made), made)
        return [made] if found is made else []

    def Store(self, store: ir.Store) -> list[ir.Statement]:  # noqa: N802
        element = self.numbers.element(store)
        self.forget(*element)
        if store.array.space in GLOBAL:
            self.known[element] = store.value
        return [store]

    def Atomic(self, atomic: ir.Atomic) -> list[ir.Statement]:  # noqa: N802
        if isinstance(atomic.array, ir.Array):
            self.forget(atomic.array)
        return [atomic]

    def Call(self, call: ir.Call) -> list[ir.Statement]:  # noqa: N802
        self.known.clear()
        return [call]

    def forget_written(self, statement: ir.Statement) -> None:
        """Forgets the elements that the blocks of a statement may change."""
        for each in ir.walk(ir.Block([statement])):
            if isinstance(each, ir.Call):
                self.known.clear()
            elif isinstance(each, (ir.Store, ir.Atomic)) and isinstance(each.array, ir.Array):
                self.forget(each.array)

    def forget(self, array: ir.Array, index: tuple[int, ...] | None = None) -> None:
        """Forgets the elements that a store to an array may change. None: to any element."""
        for other, at in list(self.known):
            if not self.aliases(array, other) or (
                array is other and index is not None and self.numbers.differ(index, at)
            ):
                continue
            del self.known[other, at]


class _DeadStores:
    """Removes stores to elements that the iteration stores to again before anything reads them."""

    def __init__(self, numbers: Numbers, aliases: Aliases) -> None:
        self.numbers, self.aliases = numbers, aliases

    def block(self, block: ir.Block, overwritten: dict[Element, None]) -> ir.Block:
        """Returns the block. `overwritten`: the elements that are stored to after it, then also after its begin."""
        kept: list[ir.Statement] = []
        for statement in reversed(block.body):
            if isinstance(statement, ir.Store):
                element = self.numbers.element(statement)
                if element in overwritten:
                    continue
                if statement.array.space in GLOBAL:
                    overwritten[element] = None
            elif isinstance(statement, ir.If):
                statement = self.branch(statement, overwritten)
            elif not isinstance(statement, (ir.Op, ir.Extent, ir.Get, ir.Set)):
                self.read(statement, overwritten)
            kept.append(statement)
        return ir.Block(kept[::-1])

    def branch(self, statement: ir.If, overwritten: dict[Element, None]) -> ir.If:
        """Returns a branch. A block sees what is overwritten after it; what both blocks overwrite, the branch does."""
        then, orelse = dict(overwritten), dict(overwritten)
        made = ir.replace(
            statement, then=self.block(statement.then, then), orelse=self.block(statement.orelse, orelse)
        )
        overwritten.clear()
        overwritten.update({element: None for element in then if element in orelse})
        return made

    def read(self, statement: ir.Statement, overwritten: dict[Element, None]) -> None:
        """Keeps the elements that a statement may read, or all if it may end the iteration or call a function."""
        if not isinstance(statement, (ir.Load, ir.Atomic)) or isinstance(statement.array, ir.Local):
            overwritten.clear()
            return
        array, index = self.numbers.element(statement)
        for other, at in list(overwritten):
            if self.aliases(array, other) and not (array is other and self.numbers.differ(index, at)):
                del overwritten[other, at]
