# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Activity analysis: finds the values and locals that carry a derivative.

A carrier is active if it depends on an array with a gradient, and an array with a gradient depends on it. The analysis
ignores the order of statements: a local is active everywhere or nowhere.
"""

from __future__ import annotations

from typing import TypeGuard

from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.ir.ops import OPS

__all__ = ["Activity", "has_derivative"]

Carrier = ir.Value | ir.Local


def has_derivative(op: ir.Op, number: int) -> bool:
    """Return True unless the derivative of an operation with respect to an operand is 0 everywhere."""
    derivative = OPS[op.name].derivative
    return derivative is None or (
        derivative[number] != "0" and op.type.kind == op.args[number].type.kind == "float"
    )


class Activity:
    """The active values and locals of a kernel.

    varied  carriers that depend on an element of an array with a gradient
    useful  carriers that an element of such an array depends on
    """

    def __init__(self, kernel: ir.Kernel) -> None:
        self.statements = list(ir.walk(kernel.body))
        inputs: set[Carrier] = {s for s in self.statements if isinstance(s, ir.Load) and s.array.needs_grad}
        self.varied = self._closure(inputs, forward=True)
        outputs: set[Carrier] = {s.value for s in self.statements if is_output(s)}
        self.useful = self._closure(outputs, forward=False)

    def __contains__(self, carrier: Carrier) -> bool:
        return carrier in self.varied and carrier in self.useful

    def _closure(self, found: set[Carrier], forward: bool) -> set[Carrier]:
        """Return all carriers that derivatives flow to from `found`, or, backwards, all that they flow from."""
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
    """Return (from, to) of the derivatives that flow through a statement between values and locals, without arrays."""
    match statement:
        case ir.Op():
            return [
                (arg, statement)
                for number, arg in enumerate(statement.args)
                if has_derivative(statement, number)
            ]
        case ir.Get() if statement.type.kind == "float":
            return [(statement.local, statement)]
        case ir.Set() if statement.local.type.kind == "float":
            return [(statement.value, statement.local)]
        case ir.Atomic() if isinstance(statement.array, ir.Local) and statement.type.kind == "float":
            return [(statement.value, statement.array)]
    return []


def is_output(statement: ir.Statement) -> TypeGuard[ir.Store | ir.Atomic]:
    """Return True if a statement writes an element of an array with a gradient."""
    if not isinstance(statement, (ir.Store, ir.Atomic)):
        return False
    return isinstance(statement.array, ir.Array) and statement.array.needs_grad
