# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Branches that limit the indices of a loop: neighbouring iterations within the limits run as a straight line.

    if 1 <= i < n - 1: y[i] = f(x[i - 1]) + f(x[i]) + f(x[i + 1])

Such a condition holds between two points of a row for which it holds. A thread that runs a few neighbours together
tests the first and the last one. Without the branch, LLVM computes and loads once what several neighbours need: four of
this example call f six times. Neighbours at a limit run one after the other, with their branches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import takewhile

from cuda_graphs.compiler.codegen.llvm.emitter import Emitter
from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.passes.index_spaces import leaves_of

from .early_loads import PURE, needs_of

__all__ = ["LimitBranches", "side_by_side"]

MOST = 64  # statements of a body that may be emitted several times
STRAIGHT = (*PURE, ir.Store, ir.Atomic, ir.Get, ir.Set)
FEW, FEW_OF_RESIDENT = 1, 4  # iterations of a thread of a launch that are too few
COMPARISONS = ("less", "less_equal", "greater", "greater_equal")


class LimitBranches:
    """The branches of a loop whose conditions limit its indices.

    conditions   those of these branches
    taken        the loop with the contents of the branches in their places
    is_straight  whether an iteration is a short straight line but for these branches
    """

    def __init__(self, loop: ir.For) -> None:
        self.loop = loop
        self.indices = {axis.index for axis in loop.axes}
        body = list(ir.walk(loop.body))
        self.varying = {*self.indices, *body}
        self.conditions: list[ir.Value] = []
        self.taken = loop
        has_locals = any(isinstance(each, (ir.Get, ir.Set)) for each in body)
        if not has_locals:  # neighbours can run side by side
            self.taken = ir.replace(loop, body=ir.Block(self.without_branches(loop.body)))
        is_line = all(isinstance(each, STRAIGHT) for each in self.taken.body.body)
        may_repeat = len(body) <= MOST and all(isinstance(each, (*STRAIGHT, ir.If)) for each in body)
        self.is_straight = is_line and may_repeat

    def without_branches(self, block: ir.Block) -> list[ir.Statement]:
        """Return the statements of an iteration that takes all of the branches."""
        found: list[ir.Statement] = []
        for each in block.body:
            if isinstance(each, ir.If) and self.is_limit(each.condition):
                self.conditions.append(each.condition)
                found += self.without_branches(each.then)
            else:
                found.append(each)
        return found

    def is_limit(self, condition: ir.Value) -> bool:
        """Return whether a condition compares indices with values that are the same in all iterations."""
        match condition:
            case ir.Op("bit_and", (a, b)):
                return self.is_limit(a) and self.is_limit(b)
            case ir.Op(name, (a, b)) if name in COMPARISONS:
                others = [each for each in (a, b) if each not in self.indices]
                return len(others) == 1 and all(map(self.is_fixed, leaves_of(others[0])))
        return False

    def is_fixed(self, value: ir.Value) -> bool:
        """Return whether a value that is no operation is the same in all iterations."""
        return isinstance(value, ir.Extent) or value not in self.varying

    def hold(self, e: Emitter, places: Iterable[Callable[[], None]]) -> str:
        """Emit whether the conditions hold at points whose indices `places` set."""
        found = "true"
        for place in places:
            place()
            e.statements(needs_of(self.taken.body.body, self.conditions))
            for each in self.conditions:
                found = e.let(f"and i1 {found}, {e.value(each)}")
        return found

    def are_many(self, e: Emitter, iterations: str, is_resident: bool) -> str:
        """Emit whether several blocks have several iterations for each of their threads.

        With fewer iterations all threads would wait for the few at limits, which take longer. Half of the blocks of a
        launch run at a time, and all blocks of a resident launch.
        """
        threads, blocks = (
            e.let(f"zext i32 {e.call(f'llvm.nvvm.read.ptx.sreg.{name}.x', 'i32', [])} to i64")
            for name in ("ntid", "nctaid")
        )
        each = e.let(f"mul nuw nsw i64 {threads}, {FEW_OF_RESIDENT if is_resident else FEW}")
        is_more = e.let(f"icmp sgt i64 {iterations}, {e.let(f'mul nuw nsw i64 {each}, {blocks}')}")
        return e.let(f"and i1 {is_more}, {e.let(f'icmp ugt i64 {blocks}, 1')}")

    def together(
        self,
        e: Emitter,
        places: Sequence[Callable[[], None]],
        metadata: Sequence[str],
        in_turn: Callable[[], None],
    ) -> None:
        """Emit iterations at neighbouring points of a row, whose indices `places` set.

        Args:
            metadata: That of the accesses of each iteration.
            in_turn: Emits these iterations one after the other, with their branches.
        """
        if not self.conditions:
            side_by_side(e, self.loop.body, places, metadata)
            return
        inside, across, done = (e.label(stem) for stem in ("inside", "across", "done"))
        e.jump_if(self.hold(e, (places[0], places[-1])), inside, across)
        e.start(inside)
        side_by_side(e, self.taken.body, places, metadata)
        e.jump(done)
        e.start(across)
        in_turn()
        e.jump(done)
        e.start(done)


def side_by_side(
    e: Emitter, body: ir.Block, places: Sequence[Callable[[], None]], metadata: Sequence[str]
) -> None:
    """Emit several iterations of a straight line: their loads, then the rest.

    The rest is emitted statement by statement, so stores to one array are neighbours: LLVM does not know that they may
    change places with those to another array. Iterations share the memory of locals, so with locals one iteration ends
    before the next one begins.
    """
    pure = sum(1 for _ in takewhile(lambda s: isinstance(s, PURE), body.body))
    early, late = body.body[:pure], body.body[pure:]
    begun = []
    for place, own in zip(places, metadata, strict=True):
        place()
        e.metadata = own
        e.statements(early)
        begun.append((dict(e.wide), {each: e.names[each] for each in early if each in e.names}))
    has_locals = any(isinstance(each, (ir.Get, ir.Set)) for each in late)
    for part in [late] if has_locals else [[each] for each in late]:
        for (indices, names), own in zip(begun, metadata, strict=True):
            e.metadata = own
            e.wide.update(indices)
            e.names.update(names)
            e.statements(part)
            names |= {each: e.names[each] for each in part if each in e.names}
    e.metadata = ""
