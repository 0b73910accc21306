# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Replaces locals whose value is known by it, folds operations on constants, and removes unused statements.

After this pass `n = x.shape[0]` and the parameters of inlined functions cost nothing, and the bounds of loops are
visible when tasks are cut. These locals are:

* those that are written once. The write stands before all reads (law 4 of verifier.py), and its value never changes.
* those that several statements of one block between tasks write, and no others: a read has the value of the last write
  before it, as `n` has in `n = x.shape[0]; if cg.static(is_long): n = y.shape[0]`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.ir.ops import evaluate
from cuda_graphs.compiler.ir.scalars import scalar

from .copy import Copier

__all__ = ["propagate"]

NEVER = 1 << 62  # writes that no block has alone
PURE = (ir.Op, ir.Extent, ir.Get, ir.Load, ir.Position)


def propagate(kernel: ir.Kernel) -> ir.Kernel:
    """Returns the kernel without locals that are written once, and without unused statements."""
    writes: Counter[ir.Local] = Counter()
    for statement in ir.walk(kernel.body):
        if isinstance(statement, ir.Set):
            writes[statement.local] += 1
        elif isinstance(statement, ir.Atomic) and isinstance(statement.array, ir.Local):
            writes[statement.array] += NEVER
    in_order = {local for local, count in writes.items() if count == 1}
    for block in blocks_between_tasks(kernel.body):
        own = Counter(each.local for each in block.body if isinstance(each, ir.Set))
        in_order.update(local for local, count in own.items() if count == writes[local])
    return ir.replace(kernel, body=without_unused(_Propagator(in_order).block(kernel.body)))


def blocks_between_tasks(body: ir.Block) -> Iterator[ir.Block]:
    """Yields the blocks whose statements run once, in order, each time that their Conditional or Sections do."""
    yield body
    for statement in body.body:
        if isinstance(statement, (ir.Conditional, ir.Sections)):
            for block in statement.blocks:
                yield from blocks_between_tasks(block)


class _Propagator(Copier):
    def __init__(self, in_order: set[ir.Local]) -> None:
        super().__init__()
        self.in_order = in_order
        self.known: dict[ir.Local, ir.Value] = {}

    def statement(self, statement: ir.Statement) -> list[ir.Statement]:
        if isinstance(statement, ir.Set) and statement.local in self.in_order:
            self.known[statement.local] = self.part(statement.value)
            return []
        if isinstance(statement, ir.Get) and statement.local in self.known:
            self.values[statement] = self.known[statement.local]
            return []
        made = super().statement(statement)
        if isinstance(statement, ir.Op) and all(isinstance(arg, ir.Const) for arg in made[-1].args):  # type: ignore[attr-defined]
            self.values[statement] = fold_constants(made[-1])  # type: ignore[arg-type]
            return []
        return made


def fold_constants(op: ir.Op) -> ir.Const:
    """Returns the result of an operation on constants."""
    types = tuple(arg.type for arg in op.args)
    args = tuple(scalar(arg.value, arg.type) for arg in op.args if isinstance(arg, ir.Const))
    return ir.Const(evaluate(op.name, types, args, op.type).item(), op.type, op.loc)


def without_unused(body: ir.Block) -> ir.Block:
    """Returns the block without unused pure values, and without empty branches."""
    used: set[ir.Value] = set()

    def strip(block: ir.Block) -> ir.Block:
        remaining: list[ir.Statement] = []
        for statement in reversed(block.body):
            if isinstance(statement, PURE) and statement not in used:
                continue
            if isinstance(statement, ir.While):  # scanned in reverse: body, then head
                inner = strip(statement.body)
                used.update(ir.operands_of(statement))
                statement = ir.While(strip(statement.head), statement.condition, inner, statement.loc)
            elif isinstance(statement, (ir.Conditional, ir.Sections)):
                statement = ir.replace(
                    statement, blocks=tuple(strip(b) for b in reversed(statement.blocks))[::-1]
                )
            elif isinstance(statement, ir.For):
                statement = ir.replace(statement, body=strip(statement.body))
            elif isinstance(statement, ir.If):
                statement = ir.replace(
                    statement,
                    then=strip(statement.then),
                    orelse=strip(statement.orelse),
                )
                if not statement.then.body and not statement.orelse.body:
                    continue
            used.update(ir.operands_of(statement))
            remaining.append(statement)
        return ir.Block(remaining[::-1])

    return strip(body)
