# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Lets the threads of a block agree on control flow around barriers that they could decide differently.

    if x[i] > 0: barrier    =>    if block.any(x[i] > 0): barrier

`split_at_barriers` refuses such control flow. Programs of the peers promise that their threads decide in the same way.
For them, all threads take a branch that one of them takes, and repeat a loop as long as one of them does. No thread
waits for ever. Warp operations under an `if` without loops keep their masks instead.
"""

from __future__ import annotations

from dataclasses import replace

from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.ir.collectives import COLLECTIVES, WARP
from cuda_graphs.compiler.ir.types import bool_

from .copy import Copier
from .uniform import Uniformity

__all__ = ["agree_at_barriers", "scope_of"]

Decided = ir.If | ir.For | ir.While


def agree_at_barriers(task: ir.Task, has_warps: bool) -> tuple[ir.Task, set[ir.Statement]]:
    """Returns the task of a loop of blocks, whose threads agree around barriers, and the control flow of warps.

    With `has_warps`, warps of a block may go different ways between barriers, so around operations of warps only the
    lanes of each warp agree. Machines that run one thread of a block after the other have no such control flow.
    """
    loop = task.loop
    assert loop is not None
    found = Promises(loop, has_warps).found
    varying = Uniformity(loop, found).varying
    open_ = {each: scope for each, scope in found.items() if varying.intersection(ir.operands_of(each))}
    if not open_:
        return task, set()
    agreement = Agreement(open_)
    made = replace(loop, body=agreement.block(loop.body))
    body = ir.Block([made if s is loop else s for s in task.body.body])
    return replace(task, body=body, loop=made), agreement.of_warps


def scope_of(statement: ir.Barrier | ir.Collective) -> str:
    """Returns the threads that take part: those of the "block" or of a "warp"."""
    return statement.scope if isinstance(statement, ir.Barrier) else COLLECTIVES[statement.name].scope


class Promises:
    """Finds the control flow that threads must take together, in a loop of blocks.

    scopes  control flow -> the scopes of the collectives in it
    found   control flow with barriers, with loops around warp operations, and exits from such loops -> the threads that
            take it together, those of the "block" or of a "warp"
    """

    def __init__(self, loop: ir.For, has_warps: bool) -> None:
        self.of_warps = "block" if loop.block_dim <= WARP else "warp" if has_warps else ""
        self.scopes: dict[ir.Statement, set[str]] = {}
        self.found: dict[ir.Statement, str] = {}
        self.note(loop)
        self.promise(loop.body, "")

    def note(self, statement: ir.Statement) -> set[str]:
        """Returns the scopes of the collectives in a statement, and notes them."""
        if isinstance(statement, (ir.Barrier, ir.Collective)):
            return {scope_of(statement)}
        found: set[str] = set()
        for block in ir.blocks_of(statement):
            for each in block.body:
                found |= self.note(each)
        if isinstance(statement, Decided):
            self.scopes[statement] = found
        return found

    def promise(self, block: ir.Block, around: str) -> bool:
        """Finds the promised control flow of a block; returns whether a loop is among it.

        `around`: the threads that take the innermost loop together, or "".
        """
        has_loops = False
        for statement in block.body:
            if not isinstance(statement, Decided):
                continue
            scopes = self.scopes[statement]
            together = "block" if "block" in scopes else self.of_warps if scopes else ""
            here = around if isinstance(statement, ir.If) else together
            inner = [self.promise(part, here) for part in ir.blocks_of(statement)]
            if isinstance(statement, ir.If):
                has_loops |= any(inner)
                if together and ("block" in scopes or any(inner)):
                    self.found[statement] = together
                elif around and leaves(statement):
                    self.found[statement] = around
            elif together:
                has_loops = True
                self.found[statement] = together
        return has_loops


def leaves(statement: ir.If) -> bool:
    """Returns whether a branch ends an iteration of the loop around it."""
    for part in ir.blocks_of(statement):
        for each in part.body:
            if isinstance(each, (ir.Break, ir.Continue)) or (isinstance(each, ir.If) and leaves(each)):
                return True
    return False


class Agreement(Copier):
    """Copies the body of the loop of blocks, with a collective for each decision in `open_`.

    of_warps  the copies of the control flow that lanes of a warp take together, with the collectives
    """

    def __init__(self, open_: dict[ir.Statement, str]) -> None:
        super().__init__()
        self.open = open_
        self.of_warps: set[ir.Statement] = set()

    def statement(self, statement: ir.Statement) -> list[ir.Statement]:
        made = super().statement(statement)
        if statement not in self.open:
            return made
        scope, copy = self.open[statement], made[-1]
        first: list[ir.Statement] = []
        if isinstance(copy, ir.If):
            one = agreed(scope, "any", copy.condition)
            first, copy = [one], replace(copy, condition=one)
            agreements = [one]
        elif isinstance(copy, ir.While):
            one = agreed(scope, "any", copy.condition)
            copy = replace(copy, head=ir.Block([*copy.head.body, one]), condition=one)
            agreements = [one]
        else:
            assert isinstance(copy, ir.For)
            begins = [agreed(scope, "reduce_min", axis.begin) for axis in copy.axes]
            ends = [agreed(scope, "reduce_max", axis.end) for axis in copy.axes]
            axes = zip(copy.axes, begins, ends, strict=True)
            copy = replace(copy, axes=tuple(replace(axis, begin=b, end=e) for axis, b, e in axes))
            agreements = [*begins, *ends]
            first = [*agreements]
        if scope == "warp":
            self.of_warps.update(agreements, [copy])
        return [*first, copy]


def agreed(scope: str, name: str, value: ir.Value) -> ir.Collective:
    """Returns the collective by which threads agree on a value."""
    return ir.Collective(f"{scope}.{name}", (value,), bool_ if name == "any" else value.type, value.loc)
