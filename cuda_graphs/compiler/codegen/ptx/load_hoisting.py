# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Load hoisting for short loops of a GPU thread: loads of several iterations come before their computations.

Square roots and divisions of floats have branches in machine code, and LLVM moves no load across a branch. Without
hoisting, each iteration would wait for memory. The computations of the iterations keep their order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cuda_graphs.compiler.ir import ir

if TYPE_CHECKING:
    from cuda_graphs.compiler.codegen.llvm.emitter import Emitter

__all__ = ["is_short", "several"]

SHORT = 64  # statements in a loop that may be unrolled
TIMES = 4
MOST_READS = 8  # loads of one iteration: all of them are in registers at the same time
PURE = (ir.Op, ir.Load, ir.Extent)
STRAIGHT = (*PURE, ir.Store, ir.Get, ir.Set)


def is_short(body: ir.Block) -> bool:
    """Return whether the body of a loop is worth several copies: straight-line and short."""
    inside = list(ir.walk(body))
    return len(inside) <= SHORT and all(isinstance(s, STRAIGHT) for s in inside)


def several(e: Emitter, loop: ir.For, axis: ir.Axis, begin: str, end: str) -> str:
    """Emit a loop that runs several iterations at a time; return where the remaining iterations begin."""
    reads = reads_of(loop.body)
    if not reads or axis.index.type.bits == 64:  # the end of a group of iterations could wrap around
        return begin

    rest = [each for each in loop.body.body if each not in reads]

    def body(_: str) -> None:
        first, read = e.wide[axis.index], []
        for number in range(TIMES):
            at = e.wide[axis.index] = e.let(f"add nsw i64 {first}, {number * axis.step}")
            e.statements(reads)
            read.append((at, {each: e.names[each] for each in reads if each in e.names}))
        for e.wide[axis.index], names in read:
            e.names.update(names)
            e.statements(rest)

    last = e.let(f"sub nsw i64 {end}, {(TIMES - 1) * axis.step}")
    return e.counted(axis.index, begin, last, TIMES * axis.step, body)


def reads_of(body: ir.Block) -> list[ir.Statement]:
    """Return the loads that depend on no earlier iteration, with the statements that compute their indices.

    Returns [] if there is no such load, or more than MOST_READS.
    """
    left = set(body.body)
    if any(isinstance(each, ir.Store) for each in left):
        return []
    early: list[ir.Statement] = []
    for each in body.body:
        if isinstance(each, PURE) and left.isdisjoint(ir.operands_of(each)):
            left.remove(each)
            early.append(each)
    loads = [each for each in early if isinstance(each, ir.Load)]
    needed: set[object] = set(loads)
    for each in reversed(early):
        if each in needed:
            needed.update(ir.operands_of(each))
    return [each for each in early if each in needed] if len(loads) <= MOST_READS else []
