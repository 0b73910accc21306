# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Finds values that are the same in all threads of a block ("uniform"), and control flow that all threads take
together.

The analysis starts with everything uniform. These vary: the number of the thread; elements of arrays that the loop
writes; elements read at different indices; variables assigned under divergent control flow. Variation spreads until
nothing changes. (If the loop writes an array under another name too, threads that read different values have a race.)
"""

from __future__ import annotations

from collections.abc import Collection

from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.ir.collectives import COLLECTIVES

__all__ = ["Uniformity"]


class Uniformity:
    """The uniformity of a loop of blocks. `promised`: statements that count as uniform anyhow.

    varying          values and variables that may differ between threads
    divergent_loops  loops that threads may leave or continue at different times
    """

    def __init__(self, loop: ir.For, promised: Collection[ir.Statement] = ()) -> None:
        self.promised = promised
        self.varying: set[ir.Value | ir.Local] = {axis.index for axis in loop.axes[loop.block_axes() :]}
        self.divergent_loops: set[ir.For | ir.While] = set()
        self.loops: list[ir.For | ir.While] = [loop]
        self.written = {s.array for s in ir.walk_called(loop.body) if isinstance(s, (ir.Store, ir.Atomic))}
        known = -1
        while known != len(self.varying) + len(self.divergent_loops):
            known = len(self.varying) + len(self.divergent_loops)
            self.block(loop.body, False)

    def is_uniform(self, statement: ir.If | ir.For | ir.While) -> bool:
        """Returns whether all threads of a block take the statement in the same way."""
        if statement in self.promised:
            return True
        return statement not in self.divergent_loops and not self.varying.intersection(
            ir.operands_of(statement)
        )

    def block(self, block: ir.Block, divergent: bool) -> None:
        """Analyses a block. `divergent`: threads may reach it at different times, or not at all."""
        for statement in block.body:
            self.statement(statement, divergent)

    def statement(self, statement: ir.Statement, divergent: bool) -> None:
        if isinstance(statement, ir.Value) and self.varies(statement):
            self.varying.add(statement)
        match statement:
            case ir.Set() if divergent or statement.value in self.varying:
                self.varying.add(statement.local)
            case ir.Break() | ir.Continue() if divergent:
                self.divergent_loops.add(self.loops[-1])
            case ir.If():
                divergent_inside = divergent or not self.is_uniform(statement)
                self.block(statement.then, divergent_inside)
                self.block(statement.orelse, divergent_inside)
            case ir.For() | ir.While():
                divergent_inside = divergent or not self.is_uniform(statement)
                if divergent_inside and isinstance(statement, ir.For):
                    self.varying.update(axis.index for axis in statement.axes)
                self.loops.append(statement)
                for each in ir.blocks_of(statement):
                    self.block(each, divergent_inside)
                self.loops.pop()

    def varies(self, value: ir.Value) -> bool:
        match value:
            case ir.Position():
                return value.kind == "thread"
            case ir.Collective():
                return COLLECTIVES[value.name].scope == "warp" and value not in self.promised
            case ir.Get():
                return value.local in self.varying
            case ir.Load() if value.array in self.written:
                return True
            case ir.Atomic():
                return True
            case ir.Call() if any(isinstance(s, ir.Load) for s in ir.walk_called(ir.Block([value]))):
                return True
        return not self.varying.isdisjoint(ir.operands_of(value))
