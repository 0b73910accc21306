# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Finds values that are the same in all threads of a block ("uniform"), and control flow that all threads take
together.

The analysis starts with everything uniform. These vary: the number of the thread; elements of arrays that the loop
writes; elements read at different indices; variables assigned under divergent control flow. Variation spreads until
nothing changes. (If the loop writes an array under another name too, threads that read different values have a race.)
"""

from __future__ import annotations

from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.ir.collectives import COLLECTIVES

__all__ = ["Uniformity"]


class Uniformity:
    """The uniformity of a loop of blocks.

    varying  values and variables that may differ between threads
    ragged   loops that threads may leave or continue at different times
    """

    def __init__(self, loop: ir.For) -> None:
        self.varying: set[ir.Value | ir.Local] = {axis.index for axis in loop.axes[loop.block_axes() :]}
        self.ragged: set[ir.For | ir.While] = set()
        self.loops: list[ir.For | ir.While] = [loop]
        self.written = {s.array for s in ir.walk(loop.body) if isinstance(s, (ir.Store, ir.Atomic))}
        known = -1
        while known != len(self.varying) + len(self.ragged):
            known = len(self.varying) + len(self.ragged)
            self.block(loop.body, False)

    def decides(self, statement: ir.If | ir.For | ir.While) -> bool:
        """Returns whether all threads of a block take the statement in the same way."""
        return statement not in self.ragged and not self.varying.intersection(ir.operands_of(statement))

    def block(self, block: ir.Block, apart: bool) -> None:
        """Analyses a block. `apart`: threads may reach it at different times, or not at all."""
        for statement in block.body:
            self.statement(statement, apart)

    def statement(self, statement: ir.Statement, apart: bool) -> None:
        if isinstance(statement, ir.Value) and self.varies(statement):
            self.varying.add(statement)
        match statement:
            case ir.Set() if apart or statement.value in self.varying:
                self.varying.add(statement.local)
            case ir.Break() | ir.Continue() if apart:
                self.ragged.add(self.loops[-1])
            case ir.If():
                inside = apart or not self.decides(statement)
                self.block(statement.then, inside)
                self.block(statement.orelse, inside)
            case ir.For() | ir.While():
                inside = apart or not self.decides(statement)
                if inside and isinstance(statement, ir.For):
                    self.varying.update(axis.index for axis in statement.axes)
                self.loops.append(statement)
                for each in ir.blocks_of(statement):
                    self.block(each, inside)
                self.loops.pop()

    def varies(self, value: ir.Value) -> bool:
        match value:
            case ir.Position():
                return value.kind == "thread"
            case ir.Collective():
                return COLLECTIVES[value.name].scope == "warp"
            case ir.Get():
                return value.local in self.varying
            case ir.Load() if value.array in self.written:
                return True
            case ir.Atomic():
                return True
        return not self.varying.isdisjoint(ir.operands_of(value))
