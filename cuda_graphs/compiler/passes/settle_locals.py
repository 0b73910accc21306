# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Turns locals of an iteration into values where possible, and cuts out the part of it that some effects need.

    set s = 0; v = get s; set s = v + a; if c: set s = get s     =>     set s = a      (and if nothing reads s: nothing)

The sums of adjoints begin with 0. Adding to 0 is left out, so a sum of -0.0 alone keeps its sign.
"""

from __future__ import annotations

from collections.abc import Collection

from cuda_graphs.compiler.ir import ir

from .copy import Copier

__all__ = ["needed_for", "settled"]


def settled(body: ir.Block) -> ir.Block:
    """Returns an iteration of straight code with branches. Locals pass values only where branches decide on them."""
    return _Settler().run(body, {})


class _Settler(Copier):
    """Delays settings to the end of their block, or to a branch that changes the local.

    known  the value of each local, where it is the same on all ways to the current statement
    """

    def __init__(self) -> None:
        super().__init__()
        self.known: dict[ir.Local, ir.Value] = {}

    def run(self, block: ir.Block, entry: dict[ir.Local, ir.Value], is_inner: bool = False) -> ir.Block:
        """Returns a copy of a block. `entry`: what is known before it."""
        self.known = dict(entry)
        delayed: dict[ir.Local, ir.Set] = {}
        made: list[ir.Statement] = []
        for statement in block.body:
            match statement:
                case ir.Set():
                    value = self.known[statement.local] = self.part(statement.value)
                    delayed[statement.local] = ir.Set(statement.local, value, statement.loc)
                case ir.Get() if statement.local in self.known:
                    self.values[statement] = self.known[statement.local]
                case ir.If():
                    made += self.branch(statement, delayed)
                case ir.Op("add", (a, b)) if self.is_nothing(a) or self.is_nothing(b):
                    self.values[statement] = self.part(b if self.is_nothing(a) else a)
                case _:
                    made += self.statement(statement)
        if is_inner:
            changed = locals_set(made)
            made += [
                each
                for local, each in delayed.items()
                if local in changed or entry.get(local) is not each.value
            ]
        return ir.Block(made)

    def branch(self, branch: ir.If, delayed: dict[ir.Local, ir.Set]) -> list[ir.Statement]:
        """Returns a branch, after the delayed settings of locals that it changes."""
        condition, known = self.part(branch.condition), self.known
        then, orelse = (self.run(block, known, is_inner=True) for block in (branch.then, branch.orelse))
        self.known = known
        before: list[ir.Statement] = []
        for local in locals_set([*then.body, *orelse.body]):
            if local in delayed:
                before.append(delayed.pop(local))
            known.pop(local, None)
        return [*before, ir.If(condition, then, orelse, branch.loc)]

    def is_nothing(self, value: ir.Value) -> bool:
        """Returns whether a value is that of an adjoint before anything is added."""
        found = self.values.get(value)
        is_adjoint = isinstance(value, ir.Get) and value.local.is_adjoint
        return is_adjoint and isinstance(found, ir.Const) and float(found.value) == 0


def locals_set(body: list[ir.Statement]) -> dict[ir.Local, None]:
    """Returns the locals that statements set, in order."""
    return {each.local: None for each in ir.walk(ir.Block(body)) if isinstance(each, ir.Set)}


def needed_for(body: ir.Block, roots: Collection[ir.Statement]) -> ir.Block:
    """Returns the part of a block that the effects of some of its statements need: these, with all that they use."""
    finder = _Needed(roots)
    size = -1
    while size != len(finder.needed):
        size = len(finder.needed)
        found = finder.block(body)
    return found


class _Needed:
    """`needed`: the statements, values and locals that are known to be needed."""

    def __init__(self, roots: Collection[ir.Statement]) -> None:
        self.needed: set[ir.Statement | ir.Local] = set(roots)

    def block(self, block: ir.Block) -> ir.Block:
        kept: list[ir.Statement] = []
        for statement in reversed(block.body):
            if isinstance(statement, ir.If):
                orelse, then = self.block(statement.orelse), self.block(statement.then)
                if not then.body and not orelse.body:
                    continue
                statement = ir.replace(statement, then=then, orelse=orelse)
            elif statement not in self.needed and getattr(statement, "local", None) not in self.needed:
                continue
            elif isinstance(statement, ir.Get):
                if statement not in self.needed:
                    continue
                self.needed.add(statement.local)
            self.needed.update(ir.operands_of(statement))
            kept.append(statement)
        return ir.Block(kept[::-1])
