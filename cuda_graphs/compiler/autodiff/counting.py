# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The counting kernel: a forward sweep that saves nothing and returns the peak number of values of each stack.

It is exact for every kind of loop, but costs a launch and a wait. It serves stacks without a size expression.
"""

from __future__ import annotations

from cuda_graphs.compiler.autodiff.analysis.program_points import ProgramPoints
from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.ir.types import i32
from cuda_graphs.compiler.passes.copy import Copier

from .forward import Forward, Unit
from .saved_values import SavedValues

__all__ = ["counting_body"]


def counting_body(points: ProgramPoints, saved: SavedValues, locals_: list[ir.Local]) -> ir.Block:
    """Return the body of a counting kernel, which returns the peaks of the stacks of the locals `wanted`, in order."""
    peaks = {local: ir.Local(f"{local.name}.peak", i32) for local in locals_}
    unit = Unit(points.root, {})
    counting = _Counting(points, saved, unit, peaks)
    made = [each for statement in points.root.body for each in counting.statement(statement)]
    made += counting.raise_peaks()
    begin = [ir.Set(peak, ir.Const(0, i32)) for peak in peaks.values()]
    read = [ir.Get(peak) for peak in peaks.values()]
    return ir.Block([*begin, *unit.prologue, *made, *read, ir.Return(tuple(read))])


class _Counting(Forward):
    def __init__(
        self, points: ProgramPoints, saved: SavedValues, unit: Unit, peaks: dict[ir.Local, ir.Local]
    ) -> None:
        super().__init__(points, saved, unit, {}, None)
        self.peaks = peaks
        self.tops: dict[ir.Local, ir.Local] = {}

    def change(self, statement: ir.Statement, local: ir.Local, value: ir.Value) -> list[ir.Statement]:
        return [*self.count_push(statement, local), ir.Set(self.local(local), value, statement.loc)]

    def count_push(self, statement: ir.Statement, local: ir.Local) -> list[ir.Statement]:
        """Return statements that count one more value, if a gradient would push the local here."""
        if local not in self.peaks or not self.points.loops(statement):
            return []
        if local not in self.tops:
            self.tops[local] = ir.Local(f"{local.name}.top", i32)
            self.unit.prologue.append(ir.Set(self.tops[local], ir.Const(0, i32)))
        before = ir.Get(self.tops[local])
        after = ir.Op("add", (before, ir.Const(1, i32)), i32)
        return [before, after, ir.Set(self.tops[local], after)]

    def statement(self, statement: ir.Statement) -> list[ir.Statement]:
        made = super().statement(statement)
        if isinstance(statement, ir.Value) and statement in self.saved.spills:
            made += self.count_push(statement, self.saved.spills[statement])
        return made

    def raise_peaks(self) -> list[ir.Statement]:
        """Return the statements after a unit: they raise the peaks to the numbers of this unit."""
        made: list[ir.Statement] = []
        for local, top in self.tops.items():
            found = ir.Get(top)
            if self.unit.outer is None:
                made += [found, ir.Set(self.peaks[local], found)]
            else:
                made += [found, ir.Atomic("max", self.peaks[local], (), found)]
        return made

    def atomic(self, atomic: ir.Atomic) -> list[ir.Statement]:
        if not isinstance(atomic.array, ir.Local):
            return []
        return [
            ir.Atomic(atomic.kind, self.local(atomic.array), (), self.part(atomic.value), None, atomic.loc)
        ]

    def parallel(self, loop: ir.For) -> list[ir.Statement]:
        inner = _Counting(self.points, self.saved, Unit(loop.body, dict(self.values), self.unit), self.peaks)
        (made,) = Copier.statement(inner, loop)
        assert isinstance(made, ir.For)
        body = [*inner.unit.prologue, *made.body.body, *inner.raise_peaks()]
        return [ir.replace(made, body=ir.Block(body), settings=loop.settings)]
