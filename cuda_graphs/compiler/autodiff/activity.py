# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""What carries a derivative: it depends on an array that has a gradient, and something that has one depends on it.

Asked of values and locals, whatever the order in which statements run: a local is active in all places or in none.
"""

from __future__ import annotations

from typing import TypeGuard

from .. import ir
from ..ops import OPS

__all__ = ["Activity", "flows"]

Carrier = ir.Value | ir.Local


def flows(op: ir.Op, number: int) -> bool:
    """Whether a derivative of an operation with respect to an operand is not 0 everywhere, or is not known."""
    derivative = OPS[op.name].derivative
    return derivative is None or (
        derivative[number] != "0" and op.type.kind == op.args[number].type.kind == "float"
    )


class Activity:
    """Of a kernel.

    varied  what depends on an element of an array with a gradient
    useful  what an element of such an array depends on
    """

    def __init__(self, kernel: ir.Kernel) -> None:
        self.statements = list(ir.walk(kernel.body))
        inputs: set[Carrier] = {s for s in self.statements if isinstance(s, ir.Load) and s.array.needs_grad}
        self.varied = self._closed(inputs, forward=True)
        outputs: set[Carrier] = {s.value for s in self.statements if is_output(s)}
        self.useful = self._closed(outputs, forward=False)

    def __contains__(self, carrier: Carrier) -> bool:
        return carrier in self.varied and carrier in self.useful

    def _closed(self, found: set[Carrier], forward: bool) -> set[Carrier]:
        """All that derivatives of some carriers flow to, or that they flow from."""
        order = self.statements if forward else self.statements[::-1]
        size = -1
        while size != len(found):
            size = len(found)
            for statement in order:
                for source, target in edges(statement):
                    if not forward:
                        source, target = target, source
                    if source in found:
                        found.add(target)
        return found


def edges(statement: ir.Statement) -> list[tuple[Carrier, Carrier]]:
    """(from, to) of the derivatives that flow through a statement, between what is no array."""
    match statement:
        case ir.Op():
            return [(arg, statement) for number, arg in enumerate(statement.args) if flows(statement, number)]
        case ir.Get() if statement.type.kind == "float":
            return [(statement.local, statement)]
        case ir.Set() if statement.local.type.kind == "float":
            return [(statement.value, statement.local)]
        case ir.Atomic() if isinstance(statement.array, ir.Local) and statement.type.kind == "float":
            return [(statement.value, statement.array)]
    return []


def is_output(statement: ir.Statement) -> TypeGuard[ir.Store | ir.Atomic]:
    """Whether an element of an array with a gradient is written."""
    if not isinstance(statement, (ir.Store, ir.Atomic)):
        return False
    return isinstance(statement.array, ir.Array) and statement.array.needs_grad
