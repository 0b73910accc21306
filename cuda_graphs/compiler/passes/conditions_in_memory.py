# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Turns conditions into temporary arrays of the same names. The launching code reads them and branches.

Parameters stay conditions, as nodes outside of the kernel read them.
"""

from __future__ import annotations

from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.ir.types import u32

from .copy import Copier

__all__ = ["conditions_in_memory"]


def conditions_in_memory(program: ir.Program) -> ir.Program:
    """Returns the program with stores in place of statements that set conditions."""
    copier = _Stores()
    tasks = []
    for task in program.tasks:
        if any(is_own(statement) for statement in ir.walk(task.body)):
            task = ir.replace(task, body=copier.block(task.body))  # one thread executes the stores
        tasks.append(task)
    temps = tuple(copier.arrays.values())
    return ir.replace(program, tasks=tuple(tasks), temps=(*program.temps, *temps))


def is_own(statement: ir.Statement) -> bool:
    """Returns whether a statement sets a condition of a Conditional of the kernel."""
    return isinstance(statement, ir.SetCondition) and not statement.condition.is_parameter


class _Stores(Copier):
    def __init__(self) -> None:
        super().__init__()
        self.arrays: dict[ir.Condition, ir.Array] = {}

    def SetCondition(self, statement: ir.SetCondition) -> list[ir.Statement]:  # noqa: N802
        condition = statement.condition
        if condition.is_parameter:
            return [statement]
        if condition not in self.arrays:
            self.arrays[condition] = ir.Array(condition.name, u32, 0, ir.Space.TEMP, ())
        return [ir.Store(self.arrays[condition], (), statement.value, statement.loc)]
