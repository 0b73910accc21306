# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The limits of loop indices that conditions of branches guarantee.

    if 0 < i and j < n - 1: ...      i >= 1 and j < n - 1 in the branch

The frontend makes branches of `and`: a local is set to the second condition if the first one holds, else to False.
"""

from __future__ import annotations

from cuda_graphs.compiler.ir import ir

from .index_spaces import Limit, linear

__all__ = ["Facts", "limits"]

# Rows of comparisons -> those with exchanged operands.
SWAPPED = {"greater": "less", "greater_equal": "less_equal"}


class Facts:
    """Limits that hold if a condition does, while a block is read from its begin.

    locals  those that hold if a local is True
    values  those that hold if a value is True, which was read from a local
    """

    def __init__(self) -> None:
        self.locals: dict[ir.Local, list[Limit]] = {}
        self.values: dict[ir.Value, list[Limit]] = {}

    def of(self, condition: ir.Value) -> list[Limit]:
        """Returns the limits that hold if a condition does."""
        match condition:
            case ir.Op("bit_and", (a, b)):
                return [*self.of(a), *self.of(b)]
            case ir.Op("greater" | "greater_equal", (a, b)):
                return limits(SWAPPED[condition.name], b, a)
            case ir.Op("less" | "less_equal", (a, b)):
                return limits(condition.name, a, b)
        return self.values.get(condition, [])

    def note(self, statement: ir.Statement) -> None:
        """Takes account of the next statement of the block."""
        match statement:
            case ir.Get():
                self.values[statement] = self.locals.get(statement.local, [])
            case ir.Set():
                self.locals[statement.local] = self.of(statement.value)
            case ir.If():
                self.forget(ir.Block([statement]))
                self.note_and(statement)

    def forget(self, block: ir.Block) -> None:
        """Forgets the locals that a block sets."""
        for each in ir.walk(block):
            if isinstance(each, ir.Set):
                self.locals.pop(each.local, None)

    def note_and(self, branch: ir.If) -> None:
        """Notes what holds if a local is True that a branch sets to True only if its own condition holds."""
        if not branch.then.body or not branch.orelse.body:
            return
        then, orelse = branch.then.body[-1], branch.orelse.body[-1]
        if isinstance(then, ir.Set) and isinstance(orelse, ir.Set) and then.local is orelse.local:
            value = orelse.value
            if value is branch.condition or (isinstance(value, ir.Const) and value.value is False):
                self.locals[then.local] = [*self.of(branch.condition), *self.of(then.value)]


def limits(name: str, a: ir.Value, b: ir.Value) -> list[Limit]:
    """Returns the limits that hold if a < b, or a <= b."""
    if a.type.kind != "int":
        return []
    (lesser, x), (greater, y) = linear(a), linear(b)
    found = []
    closed = int(name == "less_equal")
    if isinstance(lesser, ir.LoopIndex):  # i < b - x, or i < b - x + 1
        found.append(Limit(lesser, True, b, closed - x))
    if isinstance(greater, ir.LoopIndex):  # i >= a - y + 1, or i >= a - y
        found.append(Limit(greater, False, a, 1 - closed - y))
    return found
