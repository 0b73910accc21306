# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The counting kernel: a forward sweep that saves nothing and returns the peak number of values of each stack.

It is exact for every kind of loop, but costs a launch and a wait. It serves stacks without a size expression.
"""

from __future__ import annotations

from cuda_graphs.compiler.autodiff.analysis.program_points import Places
from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.ir.types import i32
from cuda_graphs.compiler.passes.copy import Copier

from .forward import Forward, Unit
from .plan import Plan

__all__ = ["counting_body"]


def counting_body(places: Places, plan: Plan, wanted: list[ir.Local]) -> ir.Block:
    """Return the body of a counting kernel, which returns the peaks of the stacks of the locals `wanted`, in order."""
    peaks = {local: ir.Local(f"{local.name}.peak", i32) for local in wanted}
    unit = Unit(places.root, {})
    counting = _Counting(places, plan, unit, peaks)
    made = [each for statement in places.root.body for each in counting.statement(statement)]
    made += counting.peaks_of_unit()
    begin = [ir.Set(peak, ir.Const(0, i32)) for peak in peaks.values()]
    read = [ir.Get(peak) for peak in peaks.values()]
    return ir.Block([*begin, *unit.front, *made, *read, ir.Return(tuple(read))])


class _Counting(Forward):
    def __init__(self, places: Places, plan: Plan, unit: Unit, peaks: dict[ir.Local, ir.Local]) -> None:
        super().__init__(places, plan, unit, {}, None)
        self.peaks = peaks
        self.tops: dict[ir.Local, ir.Local] = {}

    def change(self, statement: ir.Statement, local: ir.Local, value: ir.Value) -> list[ir.Statement]:
        return [*self.counted(statement, local), ir.Set(self.local(local), value, statement.loc)]

    def counted(self, statement: ir.Statement, local: ir.Local) -> list[ir.Statement]:
        """Return statements that count one more value, if a gradient would push the local here."""
        if local not in self.peaks or not self.places.loops(statement):
            return []
        if local not in self.tops:
            self.tops[local] = ir.Local(f"{local.name}.top", i32)
            self.unit.front.append(ir.Set(self.tops[local], ir.Const(0, i32)))
        before = ir.Get(self.tops[local])
        after = ir.Op("add", (before, ir.Const(1, i32)), i32)
        return [before, after, ir.Set(self.tops[local], after)]

    def statement(self, statement: ir.Statement) -> list[ir.Statement]:
        made = super().statement(statement)
        if isinstance(statement, ir.Value) and statement in self.plan.spills:
            made += self.counted(statement, self.plan.spills[statement])
        return made

    def peaks_of_unit(self) -> list[ir.Statement]:
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
        inner = _Counting(self.places, self.plan, Unit(loop.body, dict(self.values), self.unit), self.peaks)
        (made,) = Copier.statement(inner, loop)
        assert isinstance(made, ir.For)
        body = [*inner.unit.front, *made.body.body, *inner.peaks_of_unit()]
        return [ir.replace(made, body=ir.Block(body), settings=loop.settings)]
