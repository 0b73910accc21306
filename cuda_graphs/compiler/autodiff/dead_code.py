# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Dead code elimination in a gradient, which removes most copies of the forward sweep.

The pass starts with the statements that have effects. It marks their operands and the control flow around them. A
stack or a local is live if a live statement reads it; then all its writers are live.
"""

from __future__ import annotations

from cuda_graphs.compiler.ir import ir

__all__ = ["eliminate_dead_code"]

Memory = ir.Local | ir.Array


def eliminate_dead_code(body: ir.Block, stacks: set[ir.Array]) -> ir.Block:
    """Return the block without the statements that do not contribute to a store, an atomic or a returned value."""
    marker = _Marker(body, stacks)
    return marker.live_part(body)


class _Marker:
    def __init__(self, body: ir.Block, stacks: set[ir.Array]) -> None:
        self.stacks = stacks
        self.owner: dict[ir.Statement, ir.Statement] = {}
        self.definers: dict[ir.LoopIndex, ir.For] = {}
        self.writers: dict[Memory, list[ir.Statement]] = {}
        self.live: set[ir.Statement] = set()
        self.worklist: list[ir.Statement] = []
        self.seen: set[Memory] = set()
        self.index_block(body, None)
        for statement in ir.walk(body):
            if isinstance(statement, (ir.Store, ir.Atomic, ir.Return)) and self.memory(statement) is None:
                self.mark(statement)
        while self.worklist:
            self.mark_operands(self.worklist.pop())

    def index_block(self, block: ir.Block, owner: ir.Statement | None) -> None:
        for statement in block.body:
            if owner is not None:
                self.owner[statement] = owner
            memory = self.memory(statement)
            if memory is not None and not isinstance(statement, (ir.Get, ir.Load, ir.Extent)):
                self.writers.setdefault(memory, []).append(statement)
            for inner in ir.blocks_of(statement):
                self.index_block(inner, statement)

    def memory(self, statement: ir.Statement) -> Memory | None:
        """Return the local or stack that a statement accesses; None for other memory."""
        found = getattr(statement, "local", None) or getattr(statement, "array", None)
        return found if isinstance(found, ir.Local) or found in self.stacks else None

    def mark(self, statement: ir.Statement) -> None:
        if statement not in self.live:
            self.live.add(statement)
            self.worklist.append(statement)

    def mark_operands(self, statement: ir.Statement) -> None:
        """Mark all statements that a live statement needs."""
        if statement in self.owner:
            self.mark(self.owner[statement])
        for value in ir.operands_of(statement):
            if not isinstance(value, (ir.Const, ir.Param, ir.LoopIndex)):
                self.mark(value)
        memory = self.memory(statement)
        if memory is not None and memory not in self.seen and not isinstance(statement, ir.Extent):
            self.seen.add(memory)
            for writer in self.writers.get(memory, ()):
                self.mark(writer)
        if isinstance(statement, (ir.For, ir.While)):
            for inner in ir.walk(ir.Block([statement])):
                if isinstance(inner, ir.Break):
                    self.mark(inner)

    def live_part(self, block: ir.Block) -> ir.Block:
        """Return a block with the live statements of a block."""
        made: list[ir.Statement] = []
        for statement in block.body:
            if statement not in self.live:
                continue
            match statement:
                case ir.If():
                    statement = ir.replace(
                        statement,
                        then=self.live_part(statement.then),
                        orelse=self.live_part(statement.orelse),
                    )
                case ir.For():
                    statement = ir.replace(statement, body=self.live_part(statement.body))
                case ir.While():
                    statement = ir.replace(
                        statement, head=self.live_part(statement.head), body=self.live_part(statement.body)
                    )
            made.append(statement)
        return ir.Block(made)
