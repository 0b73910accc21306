# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The part of an iteration that computes one element of an array, and copies of it in other iterations.

    t[i] = x[i + 1] * c; u[i] = x[i] + 1; total += 1     the part for t at i - 1:    v = x[i] * c

Stores to other elements and atomics are left out. If branches store to the element, a local gets the value.
"""

from __future__ import annotations

from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.ir.types import bool_
from cuda_graphs.compiler.records import entity

from .copy import Copier
from .forward_stores import Numbers
from .index_spaces import linear
from .propagate import without_unused

__all__ = ["Element", "Key", "Moved", "element_of", "key_of", "values_once", "zeroed"]

Key = tuple[
    tuple[int, int], ...
]  # (position, number) of each index of an element that is no axis of the loop


@entity
class Element:
    """The statements of an iteration that compute an element of an array.

    axes   of the loop; `at`: their positions in the index
    block  the statements
    value  the result; None: the statements set `local`
    line   of the first store
    """

    array: ir.Array
    axes: tuple[ir.Axis, ...]
    at: tuple[int, ...]
    block: ir.Block
    value: ir.Value | None
    local: ir.Local
    line: int

    def at_index(self, index: tuple[ir.Value, ...]) -> tuple[list[ir.Statement], ir.Value]:
        """Returns the statements that compute the element at another index, and its value."""
        copier = Moved({axis.index: index[at] for axis, at in zip(self.axes, self.at, strict=True)})
        made = copier.block(self.block).body
        if self.value is not None:
            return made, copier.values.get(self.value, self.value)
        found = ir.Get(copier.locals[self.local])
        return [*made, found], found


def element_of(
    body: ir.Block, array: ir.Array, axes: tuple[ir.Axis, ...], at: tuple[int, ...], key: Key
) -> Element | None:
    """Returns what computes an element of an array in an iteration, or None if some iterations leave it alone."""
    if not always_stores(body, array, key):
        return None
    slicer = _Slicer(array, key)
    block = without_unused(slicer.block(body))
    sets = [each for each in ir.walk(block) if isinstance(each, ir.Set) and each.local is slicer.local]
    value = None
    if len(sets) == 1:  # as each iteration has it, it is in no branch
        value = sets[0].value
        block = ir.Block([each for each in block.body if each is not sets[0]])
    else:
        block = ir.Block([zeroed(slicer.local), *block.body])
    return Element(array, axes, at, block, value, slicer.local, slicer.line)


def zeroed(local: ir.Local) -> ir.Set:
    """Returns the statement that defines a local before branches set it."""
    return ir.Set(local, ir.Const(False if local.type == bool_ else 0, local.type))


def key_of(index: tuple[ir.Value, ...], at: tuple[int, ...]) -> Key | None:
    """Returns the indices of an access that are no axes of the loop; None if one is not a number."""
    rest = [(place, each) for place, each in enumerate(index) if place not in at]
    found = [(place, int(each.value)) for place, each in rest if isinstance(each, ir.Const)]
    return tuple(found) if len(found) == len(rest) else None


def always_stores(block: ir.Block, array: ir.Array, key: Key) -> bool:
    """Returns whether each run of a block stores to an element."""
    return any(
        is_store(each, array, key)
        or (isinstance(each, ir.If) and all(always_stores(b, array, key) for b in (each.then, each.orelse)))
        for each in block.body
    )


def is_store(statement: ir.Statement, array: ir.Array, key: Key) -> bool:
    if not isinstance(statement, ir.Store) or statement.array is not array:
        return False
    numbers = ((statement.index[place], number) for place, number in key)
    return all(isinstance(each, ir.Const) and int(each.value) == number for each, number in numbers)


class _Slicer(Copier):
    """Replaces the stores to an element by settings of a local, and leaves out all other effects on memory."""

    def __init__(self, array: ir.Array, key: Key) -> None:
        super().__init__()
        self.array, self.key = array, key
        self.local = ir.Local(f"{array.path}.again", array.element)
        self.line = 0

    def statement(self, statement: ir.Statement) -> list[ir.Statement]:
        return [] if isinstance(statement, ir.Atomic) else super().statement(statement)

    def Store(self, store: ir.Store) -> list[ir.Statement]:  # noqa: N802
        if not is_store(store, self.array, self.key):
            return []
        self.line = self.line or ir.line_of(store.loc)
        return [ir.Set(self.local, store.value, store.loc)]


class Moved(Copier):
    """Copies statements to another iteration. Each copy has its own locals, and i + 1 - 1 becomes i."""

    def __init__(self, values: dict[ir.Value, ir.Value]) -> None:
        super().__init__(values)
        self.locals: dict[ir.Local, ir.Local] = {}

    def statement(self, statement: ir.Statement) -> list[ir.Statement]:
        made = super().statement(statement)
        if not isinstance(statement, ir.Op) or statement.type.kind != "int":
            return made
        base, number = linear(made[-1])  # type: ignore[arg-type]
        if base is None or base is made[-1] or abs(number) > statement.type.maximum:
            return made
        if number == 0:
            self.values[statement] = base
            return []
        name = "add" if number > 0 else "sub"
        found = ir.Op(name, (base, ir.Const(abs(number), base.type)), base.type, statement.loc)
        self.values[statement] = found
        return [found]

    def Get(self, get: ir.Get) -> list[ir.Statement]:  # noqa: N802
        return [ir.Get(self.locals.get(get.local, get.local), get.loc)]

    def Set(self, statement: ir.Set) -> list[ir.Statement]:  # noqa: N802
        old = statement.local
        local = self.locals.setdefault(old, ir.Local(old.name, old.type))
        return [ir.Set(local, statement.value, statement.loc)]


def values_once(body: ir.Block) -> ir.Block:
    """Returns a block that computes equal values once."""
    return without_unused(_Once().block(body))


class _Once(Copier):
    """`known`: the values that the open blocks have computed, by number."""

    def __init__(self) -> None:
        super().__init__()
        self.numbers = Numbers()
        self.known: dict[int, ir.Value] = {}

    def statement(self, statement: ir.Statement) -> list[ir.Statement]:
        made = super().statement(statement)
        if not isinstance(statement, (ir.Op, ir.Extent)):
            return made
        value = self.values[statement]
        found = self.values[statement] = self.known.setdefault(self.numbers.of(value), value)
        return made if found is value else []

    def part(self, part: object) -> object:
        if not isinstance(part, ir.Block):
            return super().part(part)
        known = dict(self.known)  # what a branch computes is not known after it
        made = self.block(part)
        self.known = known
        return made
