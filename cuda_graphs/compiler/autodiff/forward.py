# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The forward sweep: repeats the computation of a unit without its effects, and saves values for the reverse sweep.

Each change of a needed local saves the old value. A change that runs at most once in the unit saves it in another
local; a change in a loop pushes it on the stack of the local.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from cuda_graphs.compiler.autodiff.analysis.program_points import ProgramPoints
from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.ir.builder import Builder
from cuda_graphs.compiler.passes.copy import Copier

from .saved_values import SavedValues
from .stacks import AdStack

__all__ = ["Forward", "Unit"]


@dataclass(eq=False)
class Unit:
    """A copy of a unit, with the copies of its values and locals and the locations of saved values.

    values  copies of values; inner units start with these
    locals  copies of the unit's own locals; `outer` has the others
    saves   local or stack with the old value, for each statement that changes a needed local
    before  for each parallel loop, the locals with the old values of the kernel's locals that it changes
    stacks  stacks of the unit's locals
    """

    block: ir.Block
    values: dict[ir.Value, ir.Value]
    outer: Unit | None = None
    locals: dict[ir.Local, ir.Local] = field(default_factory=dict)
    saves: dict[ir.Statement, ir.Local | AdStack] = field(default_factory=dict)
    before: dict[ir.For, dict[ir.Local, ir.Local]] = field(default_factory=dict)
    stacks: dict[ir.Local, AdStack] = field(default_factory=dict)
    prologue: list[ir.Statement] = field(default_factory=list)  # first statements of the copy


class Forward(Copier):
    """Copies the statements of a unit.

    loads  receives the original load for each copied load
    stack  makes the stack of a local; None saves no values
    """

    def __init__(
        self,
        points: ProgramPoints,
        saved: SavedValues,
        unit: Unit,
        loads: dict[ir.Statement, ir.Load],
        stack: Callable[[ir.Local], AdStack] | None,
    ) -> None:
        super().__init__(unit.values)
        self.points, self.saved, self.unit, self.loads, self.stack = points, saved, unit, loads, stack

    def local(self, local: ir.Local) -> ir.Local:
        """Return the copy of a local."""
        return local_in(self.points, self.unit, local)

    def statement(self, statement: ir.Statement) -> list[ir.Statement]:
        match statement:
            case ir.Store() | ir.Print() | ir.Assert() | ir.Return():
                return []
            case ir.Atomic():
                return self.atomic(statement)
            case ir.For() if statement.parallel:
                return self.parallel(statement)
            case ir.Get():
                read = ir.Get(self.local(statement.local), statement.loc)
                self.values[statement] = read
                made: list[ir.Statement] = [read]
            case ir.Set():
                return self.change(statement, statement.local, self.part(statement.value))
            case _:
                made = super().statement(statement)
        if isinstance(statement, ir.Load):
            self.loads[made[-1]] = statement
        if isinstance(statement, ir.Value) and statement in self.saved.spills and self.stack is not None:
            made += self.change(statement, self.saved.spills[statement], self.values[statement])
        return made

    def change(self, statement: ir.Statement, local: ir.Local, value: ir.Value) -> list[ir.Statement]:
        """Return statements that set a local, and save its old value if the plan needs it."""
        change = ir.Set(self.local(local), value, statement.loc)
        if local not in self.saved.needed or self.stack is None:
            return [change]
        return [*self.save(statement, local), change]

    def save(self, statement: ir.Statement, local: ir.Local) -> list[ir.Statement]:
        """Return statements that save the value of a local before a statement changes it."""
        assert self.stack is not None
        old = ir.Get(self.local(local), statement.loc)
        loops = self.points.loops(statement)
        if not loops:
            old_value = self.unit.saves[statement] = ir.Local(f"{local.name}.before", local.type)
            self.unit.prologue.append(ir.Set(old_value, zero(local)))
            return [old, ir.Set(old_value, old, statement.loc)]
        if local not in self.unit.stacks:
            self.unit.stacks[local] = self.stack(local)
        stack = self.unit.saves[statement] = self.unit.stacks[local]
        stack.sites.append(loops)
        builder = Builder()
        builder.loc = statement.loc
        builder.put(old)
        stack.push(builder, old)
        return builder.block.body

    def atomic(self, atomic: ir.Atomic) -> list[ir.Statement]:
        """Copy an atomic on a local of the kernel to the kernel's own sweep; omit other atomics, which are effects."""
        of_kernel = self.unit.outer is None or self.stack is None
        if not isinstance(atomic.array, ir.Local) or not of_kernel:
            return []
        value = self.part(atomic.value)
        return [ir.Atomic(atomic.kind, self.local(atomic.array), (), value, None, atomic.loc)]

    def parallel(self, loop: ir.For) -> list[ir.Statement]:
        """Copy the part of a parallel loop that changes locals of the kernel."""
        changed = [
            each for each in self.points.written(loop) if self.points.unit_of[each] is self.points.root
        ]
        if not changed:
            return []
        made: list[ir.Statement] = []
        for local in sorted(
            (each for each in changed if each in self.saved.needed), key=lambda each: each.name
        ):
            old_value = ir.Local(f"{local.name}.before", local.type)
            self.unit.before.setdefault(loop, {})[local] = old_value
            old = ir.Get(self.local(local), loop.loc)
            made += [old, ir.Set(old_value, old, loop.loc)]
        inner = Forward(
            self.points, self.saved, Unit(loop.body, dict(self.values), self.unit), self.loads, None
        )
        return [*made, *Copier.statement(inner, loop)]


def local_in(points: ProgramPoints, unit: Unit, local: ir.Local) -> ir.Local:
    """Return the copy of a local in a copy of a unit. It starts with 0, so that it can be saved before it is set."""
    if unit.outer is not None and points.unit_of.get(local) is points.root:
        return local_in(points, unit.outer, local)
    if local not in unit.locals:
        found = unit.locals[local] = ir.Local(local.name, local.type)
        unit.prologue.append(ir.Set(found, zero(local)))
    return unit.locals[local]


def zero(local: ir.Local) -> ir.Const:
    """Return the initial value of a local: the 0 of its type."""
    empty: float | int | bool = {"float": 0.0, "bool": False}.get(local.type.kind, 0)
    return ir.Const(empty, local.type)
