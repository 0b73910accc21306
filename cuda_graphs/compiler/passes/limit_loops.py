# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Ends loops between tasks after `max_iterations` iterations: counts them in a variable of the kernel.

while c, at most n: ...; set_condition c = x
    =>   count = 0; while c: ...; count = count + 1; set_condition c = select(count < n, x, 0)
"""

from __future__ import annotations

from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.ir.builder import Builder
from cuda_graphs.compiler.ir.types import i32, u32

from .copy import Copier

__all__ = ["limit_loops"]


def limit_loops(kernel: ir.Kernel) -> ir.Kernel:
    """Returns the kernel with counters in the loops that have a limit."""
    if all(not isinstance(each, ir.Conditional) or each.most is None for each in ir.walk(kernel.body)):
        return kernel
    return ir.replace(kernel, body=_Limits().block(kernel.body))


class _Limits(Copier):
    def Conditional(self, statement: ir.Conditional) -> list[ir.Statement]:  # noqa: N802
        if statement.most is None:
            return [statement]
        count = ir.Local("graph.count", i32)
        (block,) = statement.blocks
        body = ir.Block(block.body[:-1])
        test = block.body[-1]
        assert isinstance(test, ir.SetCondition) and test.condition is statement.condition
        builder = Builder()
        builder.loc = statement.loc
        with builder.into(body):
            done = builder.op("add", builder.put(ir.Get(count)), ir.Const(1, i32))
            builder.put(ir.Set(count, done))
            goes_on = builder.op("less", done, ir.Const(statement.most, i32))
            value = builder.op("select", goes_on, test.value, ir.Const(0, u32))
            builder.put(ir.replace(test, value=value))
        return [
            ir.Set(count, ir.Const(0, i32), statement.loc),
            ir.replace(statement, blocks=(body,), most=None),
        ]
