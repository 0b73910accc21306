# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The reference semantics of loops over blocks: threads run in lockstep.

Each thread is a generator that executes the body, before or after its division into regions, up to the next barrier or
collective. The thread's position is a tuple of numbers of statements and of iterations of the enclosing loops.
Positions compare in program order. The waiting threads at the first position execute the operation together, and
continue.
"""

from __future__ import annotations

import itertools
from collections import ChainMap
from collections.abc import Iterator
from typing import Any

import numpy as np

from . import ir
from . import scalars as number
from .collectives import COLLECTIVES, WARP, evaluate_collective
from .thread_interpreter import STATEMENTS, BreakLoop, ContinueLoop, ThreadInterpreter, points

__all__ = ["run_blocks"]

Position = tuple[int, ...]
# The position where a thread waits, and the operation that it waits for.
Waiting = tuple[Position, ir.Statement]
PATTERN = 0xA5  # byte that fills uninitialised shared memory


def run_blocks(outer: ThreadInterpreter, loop: ir.For) -> None:
    """Run all blocks of a loop, one after the other."""
    spans = [range(int(outer.value(a.begin)), int(outer.value(a.end)), a.step) for a in loop.axes]
    box = points(spans)
    for block in itertools.count():
        threads = [
            BlockThread(outer, loop, block, t, point)
            for t, point in enumerate(itertools.islice(box, loop.block_dim))
        ]
        if not threads:
            return
        for array in {
            a for s in ir.walk_called(loop.body) if (a := getattr(s, "array", None)) and is_shared(a)
        }:
            dtype = number.memory_dtype(array.element)
            bytes_ = np.full(int(np.prod(array.shape)) * dtype.itemsize, PATTERN, np.uint8)
            outer.temps[array] = bytes_.view(dtype).reshape(array.shape)
        run_block(threads)


def is_shared(array: object) -> bool:
    return isinstance(array, ir.Array) and array.space is ir.Space.SHARED


def run_block(threads: list[BlockThread]) -> None:
    """Run the threads of one block until all have ended."""
    waiting = {thread: where for thread in threads if (where := next(thread.steps, None)) is not None}
    while waiting:
        first = min(position for position, _ in waiting.values())
        group = [thread for thread, (position, _) in waiting.items() if position == first]
        statement = waiting[group[0]][1]
        if is_of_block(statement) and len(group) != len(threads):
            raise RuntimeError(
                f"{len(group)} of {len(threads)} threads come to a barrier or reduction of their block"
            )
        if isinstance(statement, (ir.Collective, ir.RegionCollective)):
            run_collective(statement, group)
        for thread in group:
            where = next(thread.steps, None)
            if where is None:
                del waiting[thread]
            else:
                waiting[thread] = where


def is_of_block(statement: ir.Statement) -> bool:
    if isinstance(statement, ir.Barrier):
        return statement.scope == "block"
    assert isinstance(statement, (ir.Collective, ir.RegionCollective))
    return COLLECTIVES[statement.name].scope == "block"


def run_collective(statement: ir.Collective | ir.RegionCollective, threads: list[BlockThread]) -> None:
    """Give each thread its result of a collective. Threads whose mask is false take no part."""
    if isinstance(statement, ir.RegionCollective) and statement.mask is not None:
        threads = [thread for thread in threads if thread.values[statement.mask]]
    types = tuple(arg.type for arg in statement.args)
    result = statement.result if isinstance(statement, ir.RegionCollective) else statement
    size = WARP if COLLECTIVES[statement.name].scope == "warp" else WARP * WARP
    for group in {thread.number // size for thread in threads}:
        members = [thread for thread in threads if thread.number // size == group]
        given = {each.number % size: tuple(map(each.operand, statement.args)) for each in members}
        found = evaluate_collective(statement.name, given, types)
        for each in members:
            each.values[result] = found[each.number % size]


class BlockThread(ThreadInterpreter):
    """One iteration. It reads and changes the values and variables from before the loop in the outer outer."""

    def __init__(
        self, outer: ThreadInterpreter, loop: ir.For, block: int, thread: int, point: tuple[int, ...]
    ):
        super().__init__(outer.arrays, outer.scalars, outer.write)
        self.outer, self.number, self.block_number = outer, thread, block
        self.temps, self.rounds = outer.temps, outer.rounds
        self.stream = [outer.loop_number(loop), block * loop.block_dim + thread, 0]
        self.values = ChainMap({}, outer.values)  # type: ignore[assignment]
        for axis, at in zip(loop.axes, point, strict=True):
            self.values[axis.index] = number.scalar(at, axis.index.type)
        self.steps = self.thread(loop.body)

    def thread(self, body: ir.Block) -> Iterator[Waiting]:
        try:
            yield from self.run_steps(body, ())
        except ContinueLoop:
            return

    def run_steps(self, block: ir.Block, position: Position) -> Iterator[Waiting]:
        for at, statement in enumerate(block.body):
            here = (*position, at)
            match statement:
                case ir.Barrier() | ir.Collective() | ir.RegionCollective():
                    yield here, statement
                case ir.Region():
                    yield from self.run_steps(statement.body, here)
                case ir.If():
                    first = bool(self.value(statement.condition))
                    yield from self.run_steps(
                        statement.then if first else statement.orelse, (*here, 1 - first)
                    )
                case ir.For():
                    yield from self.loop_steps(statement, here)
                case ir.While():
                    yield from self.while_steps(statement, here)
                case ir.Position():
                    self.values[statement] = np.int32(
                        self.number if statement.kind == "thread" else self.block_number
                    )
                case ir.Set(local=local) | ir.Atomic(array=local) if self.is_shared_local(local):
                    self.change_shared(statement)
                case _:
                    STATEMENTS[type(statement)](self, statement)

    def operand(self, arg: ir.Local | ir.Value) -> Any:
        return self.values[arg] if isinstance(arg, ir.Local) else self.value(arg)

    def is_shared_local(self, what: object) -> bool:
        return isinstance(what, ir.Local) and what in self.outer.values

    def change_shared(self, statement: ir.Set | ir.Atomic) -> None:
        """Change a variable from before the loop, which all threads share."""
        value = self.value(statement.value)
        if isinstance(statement, ir.Set):
            self.outer.values[statement.local] = value
            return
        assert isinstance(statement.array, ir.Local)
        old = self.outer.values[statement.array]
        self.values[statement], self.outer.values[statement.array] = old, self.combined(statement, old, value)

    def loop_steps(self, statement: ir.For, here: Position) -> Iterator[Waiting]:
        spans = [range(int(self.value(a.begin)), int(self.value(a.end)), a.step) for a in statement.axes]
        for turn, point in enumerate(points(spans)):
            for axis, at in zip(statement.axes, point, strict=True):
                self.values[axis.index] = number.scalar(at, axis.index.type)
            try:
                yield from self.run_steps(statement.body, (*here, turn))
            except ContinueLoop:
                pass
            except BreakLoop:
                return

    def while_steps(self, statement: ir.While, here: Position) -> Iterator[Waiting]:
        for turn in itertools.count():
            yield from self.run_steps(statement.head, (*here, turn, 0))
            if not self.value(statement.condition):
                return
            try:
                yield from self.run_steps(statement.body, (*here, turn, 1))
            except ContinueLoop:
                pass
            except BreakLoop:
                return
