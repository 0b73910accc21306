# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The adstack: the stack of the old values of a local that changes in loops.

A stack is an array [capacity, workers], so neighbouring threads of a GPU write neighbouring elements. It holds only
values. Their adjoints need a single register, since only the adjoint of the last value can differ from 0.
"""

from __future__ import annotations

from cuda_graphs.compiler.artifact import OVERFLOW_PATH, STACK
from cuda_graphs.compiler.autodiff.analysis.bounds import capacity
from cuda_graphs.compiler.autodiff.analysis.program_points import ProgramPoints
from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.ir.builder import Builder
from cuda_graphs.compiler.ir.types import i32, i64

__all__ = ["OVERFLOW", "AdStack", "skip_writes_if"]

# One word of host memory: the number, counted from 1, of a stack that overflowed in an iteration.
OVERFLOW = ir.Array(OVERFLOW_PATH, i64, 1, ir.Space.FIELD, (1,))


class AdStack:
    """The stack of one local in a unit. `sites` holds the loops around each push."""

    def __init__(self, local: ir.Local, number: int, worker: ir.Value, unit: ir.Block) -> None:
        self.number, self.unit = number, unit
        self.array = ir.Array(f"{STACK}{number}", local.type, 2, ir.Space.TEMP)
        # Number of pushed values, including values that did not fit.
        self.top = ir.Local(f"{local.name}.top", i32)
        self.worker = worker
        self.sites: list[tuple[ir.For | ir.While, ...]] = []
        self.loc: ir.Loc | None = None

    def push(self, builder: Builder, value: ir.Value) -> None:
        """Generate a push, which drops the value if the stack is full."""
        self.loc = self.loc or builder.loc
        count = builder.put(ir.Get(self.top))
        capacity = builder.put(ir.Extent(self.array, 0))
        store = ir.Store(self.array, (count, self.worker), value, builder.loc)
        builder.put(ir.If(builder.op("less", count, capacity), ir.Block([store]), ir.Block()))
        builder.put(ir.Set(self.top, builder.op("add", count, ir.Const(1, i32))))

    def pop(self, builder: Builder) -> ir.Value:
        """Generate a pop, and return the value."""
        count = builder.op("sub", builder.put(ir.Get(self.top)), ir.Const(1, i32))
        builder.put(ir.Set(self.top, count))
        if isinstance(self.worker, ir.Const):  # the kernel itself goes back even after an overflow
            last = builder.op("sub", builder.put(ir.Extent(self.array, 0)), ir.Const(1, i32))
            count = builder.op("min", count, last)
        return builder.put(ir.Load(self.array, (count, self.worker), builder.loc))

    def overflowed(self, builder: Builder) -> ir.Value:
        """Return a value that is true after an overflow. The test must stand between the sweeps, before any pop."""
        capacity = builder.put(ir.Extent(self.array, 0))
        return builder.op("greater", builder.put(ir.Get(self.top)), capacity)

    def describe(self, points: ProgramPoints) -> ir.Stack:
        """Return the description of the stack in the kernel."""
        return ir.Stack(self.array, capacity(self.sites, points.owner.get(self.unit), points), self.loc)


def skip_writes_if(full: ir.Local, body: list[ir.Statement]) -> list[ir.Statement]:
    """Return statements that skip writes to arrays and fields if a local is set.

    Loops over parallel tasks skip their whole body. Inner statements are changed in place.
    """
    used = {value for each in ir.walk(ir.Block(body)) for value in ir.operands_of(each)}
    made: list[ir.Statement] = []
    for statement in body:
        asked = ir.Get(full, statement.loc)
        if isinstance(statement, ir.For):
            guarded = ir.Block(list(statement.body.body))
            statement.body.body[:] = [asked, ir.If(asked, ir.Block(), guarded, statement.loc)]
            made.append(statement)
        elif (
            isinstance(statement, (ir.Store, ir.Atomic))
            and statement not in used
            and is_given(statement.array)
        ):
            made += [asked, ir.If(asked, ir.Block(), ir.Block([statement]), statement.loc)]
        else:
            for block in ir.blocks_of(statement):
                block.body[:] = skip_writes_if(full, block.body)
            made.append(statement)
    return made


def is_given(array: ir.Array | ir.Local) -> bool:
    """Return True for memory of arguments and fields, except the word for overflows."""
    is_external = isinstance(array, ir.Array) and array.space in (ir.Space.PARAM, ir.Space.FIELD)
    return is_external and array is not OVERFLOW
