# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Load hoisting for short loops of a GPU thread: loads of several iterations come before their computations.

Square roots and divisions of floats have branches in machine code, and LLVM moves no load across a branch. Without
hoisting, each iteration would wait for memory. The computations of the iterations keep their order.
"""

from __future__ import annotations

from cuda_graphs.compiler.ir import ir

__all__ = ["GROUP", "hoistable_loads", "is_short"]

SHORT = 64  # statements in a loop that may be unrolled
GROUP = 4  # iterations whose loads come first
MOST_LOADS = 8  # loads of one iteration: all of them are in registers at the same time
PURE = (ir.Op, ir.Load, ir.Extent)
STRAIGHT = (*PURE, ir.Store, ir.Get, ir.Set)


def is_short(body: ir.Block) -> bool:
    """Return whether the body of a loop is worth several copies: straight-line and short."""
    inside = list(ir.walk(body))
    return len(inside) <= SHORT and all(isinstance(s, STRAIGHT) for s in inside)


def hoistable_loads(body: ir.Block) -> list[ir.Statement]:
    """Return the loads that depend on no earlier iteration, with the statements that compute their indices.

    Returns [] if there is no such load, or more than MOST_LOADS.
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
    return [each for each in early if each in needed] if len(loads) <= MOST_LOADS else []
