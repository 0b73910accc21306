# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""What is the same in all threads of a block, and which control flow all of them take together.

Everything is taken to be, until something says otherwise: the number of the thread, what an array holds that the loop
writes or that is read at different places, a variable that is assigned under control flow that threads take
differently. That spreads until nothing changes. (Where an array is written under another name too, threads that read
different values have a race.)
"""

from __future__ import annotations

from .. import ir
from ..collectives import COLLECTIVES

__all__ = ["Uniformity"]


class Uniformity:
    """Of a loop of blocks.

    varying  values and variables that threads may have differently
    ragged   loops that threads may leave, or go on with, at different times
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
        """Whether all threads of a block take the statement in the same way."""
        return statement not in self.ragged and not self.varying.intersection(ir.operands_of(statement))

    def block(self, block: ir.Block, apart: bool) -> None:
        """`apart`: threads may be here at different times, or not at all."""
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
