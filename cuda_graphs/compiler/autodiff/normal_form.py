# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The normal form for differentiation: loops have one axis, and a body jumps only at its end.

`continue` sets a flag, which guards the rest of the body. `break` also clears a second flag, which the loop tests at
the end of each iteration. A While tests only this flag: its head moves into the body. A loop whose bounds do not
determine the number of iterations counts them; the reverse sweep needs this number. Sections follow each other.

The normal form keeps the values and locals of the kernel. Only statements that contain other statements are new.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.ir.types import bool_, i64

__all__ = ["NormalForm", "normalise"]


@dataclass
class NormalForm:
    """A kernel in normal form.

    counts  value with the number of iterations, after each loop that counts them
    """

    kernel: ir.Kernel
    counts: dict[ir.For | ir.While, ir.Get] = field(default_factory=dict)


def normalise(kernel: ir.Kernel) -> NormalForm:
    """Return the kernel in normal form."""
    found = _Normaliser()
    body = ir.Block(found.statements(kernel.body.body))
    return NormalForm(ir.replace(kernel, body=body), found.counts)


@dataclass(eq=False)
class JumpFlags:
    """The flags of one loop.

    jumped  True after a jump, for the rest of the iteration
    alive   True until a break ends the loop
    """

    jumped: ir.Local = field(default_factory=lambda: ir.Local("jumped", bool_))
    alive: ir.Local = field(default_factory=lambda: ir.Local("alive", bool_))


class _Normaliser:
    def __init__(self) -> None:
        self.counts: dict[ir.For | ir.While, ir.Get] = {}
        self.jumps = JumpFlags()  # flags of the innermost loop

    def statements(self, body: Sequence[ir.Statement]) -> list[ir.Statement]:
        """Return the statements that replace the statements of a block."""
        made: list[ir.Statement] = []
        for number, statement in enumerate(body):
            match statement:
                case ir.Break() | ir.Continue():
                    made.append(ir.Set(self.jumps.jumped, ir.TRUE, statement.loc))
                    if isinstance(statement, ir.Break):
                        made.append(ir.Set(self.jumps.alive, ir.FALSE, statement.loc))
                    return made  # nothing after it runs
                case ir.If():
                    then, orelse = (
                        ir.Block(self.statements(b.body)) for b in (statement.then, statement.orelse)
                    )
                    made.append(ir.If(statement.condition, then, orelse, statement.loc))
                    rest = body[number + 1 :]
                    if jumps_in(statement) and rest:
                        asked = ir.Get(self.jumps.jumped, statement.loc)
                        guarded = ir.Block(self.statements(rest))
                        return [*made, asked, ir.If(asked, ir.Block(), guarded, statement.loc)]
                case ir.For():
                    made += self.loop(statement)
                case ir.While():
                    made += self.while_loop(statement)
                case ir.Sections():
                    for block in statement.blocks:
                        made += self.statements(block.body)
                case _:
                    made.append(statement)
        return made

    def loop_body(self, body: ir.Block, jumps: JumpFlags) -> list[ir.Statement]:
        """Return the body of a loop with these flags."""
        outer, self.jumps = self.jumps, jumps
        made = self.statements(body.body)
        self.jumps = outer
        begin = [ir.Set(jumps.jumped, ir.FALSE)] if jumps_in(body) else []
        return [*begin, *made]

    def loop(self, loop: ir.For) -> list[ir.Statement]:
        jumps = JumpFlags()
        inner = self.loop_body(loop.body, jumps)
        if loop.parallel:
            return [ir.replace(loop, body=ir.Block(inner))]
        leaves = any(isinstance(each, ir.Break) for each in statements_of_loop(loop.body))
        for axis in reversed(loop.axes):
            count = ir.Local("trips", i64)
            if leaves:
                inner = [*increment(count), *inner, *break_unless(jumps.alive, loop.loc)]
            made = ir.For((axis,), ir.Block(inner), False, None, loop.loc)
            inner = [made]
            if leaves:
                inner = [ir.Set(count, zero()), made, self.count_of(made, count)]
        return [ir.Set(jumps.alive, ir.TRUE), *inner] if leaves else inner

    def while_loop(self, loop: ir.While) -> list[ir.Statement]:
        jumps, count = JumpFlags(), ir.Local("trips", i64)
        ends = ir.Block([ir.Set(jumps.alive, ir.FALSE, loop.loc)])
        continues = ir.Block(self.loop_body(loop.body, jumps))
        body = [
            *increment(count),
            *self.statements(loop.head.body),
            ir.If(loop.condition, continues, ends, loop.loc),
        ]
        asked = ir.Get(jumps.alive, loop.loc)
        made = ir.While(ir.Block([asked]), asked, ir.Block(body), loop.loc)
        return [
            ir.Set(jumps.alive, ir.TRUE, loop.loc),
            ir.Set(count, zero(), loop.loc),
            made,
            self.count_of(made, count),
        ]

    def count_of(self, loop: ir.For | ir.While, count: ir.Local) -> ir.Get:
        self.counts[loop] = ir.Get(count, loop.loc)
        return self.counts[loop]


def zero() -> ir.Const:
    return ir.Const(0, i64)


def increment(count: ir.Local) -> list[ir.Statement]:
    """Return the statements that increment a counter."""
    before = ir.Get(count)
    after = ir.Op("add", (before, ir.Const(1, i64)), i64)
    return [before, after, ir.Set(count, after)]


def break_unless(alive: ir.Local, loc: ir.Loc | None) -> list[ir.Statement]:
    asked = ir.Get(alive, loc)
    return [asked, ir.If(asked, ir.Block(), ir.Block([ir.Break(loc)]), loc)]


def statements_of_loop(block: ir.Block) -> list[ir.Statement]:
    """Return the statements of a loop body, without the statements of inner loops."""
    found: list[ir.Statement] = []
    for statement in block.body:
        found.append(statement)
        if isinstance(statement, ir.If):
            found += statements_of_loop(statement.then) + statements_of_loop(statement.orelse)
    return found


def jumps_in(where: ir.Block | ir.If) -> bool:
    """Return True if the block or branch contains a jump of the enclosing loop."""
    blocks = [where] if isinstance(where, ir.Block) else [where.then, where.orelse]
    return any(
        isinstance(each, (ir.Break, ir.Continue)) for block in blocks for each in statements_of_loop(block)
    )
