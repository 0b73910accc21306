# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Limits recursion: functions that call one another in a circle count the calls of each that are inside one another.

    function f(n) at most 8 deep: ... call f(n - 1)
    =>   function f(n, f.depth): assert f.depth < 8; ... call f(n - 1, f.depth + 1)

Each function of a circle gets the count of each, and passes it on. Calls from elsewhere pass 0.

A GPU gives threads as much stack as the context says, and does not check it. So the pass computes how much is enough.
"""

from __future__ import annotations

from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.ir.builder import Builder
from cuda_graphs.compiler.ir.types import i32

from .copy import FunctionCopier

__all__ = ["limit_recursion"]


def limit_recursion(kernel: ir.Kernel) -> ir.Kernel:
    """Returns the kernel with counts in the functions that call themselves."""
    functions = ir.functions_of(kernel.body)
    if all(each.max_depth is None for each in functions):
        return kernel
    called = {each: set(ir.functions_of(each.body)) for each in functions}
    circles = {
        each: tuple(other for other in functions if other in called[each] and each in called[other])
        for each in functions
    }
    return ir.replace(
        kernel,
        body=_Limits(circles).block(kernel.body),
        stack_bytes=USUAL + sum(each.max_depth * frame_bytes(each) for each in functions if each.max_depth),
    )


# Bytes of the stack of a GPU thread: what functions without recursion may take (the default of CUDA); and of each call
# what it saves besides values, at most as many as there are registers.
USUAL, SAVED, REGISTERS = 1024, 64, 4 * 255


def frame_bytes(function: ir.Function) -> int:
    """Returns the most bytes that one call takes: for variables, and for values that are used behind inner calls."""
    kept: set[ir.Value | ir.Local] = set()
    made: set[ir.Value] = set(function.params)
    before: set[ir.Value] = set()  # values from before the last call so far
    for statement in ir.walk(function.body):
        kept.update(before.intersection(ir.operands_of(statement)))
        if isinstance(statement, (ir.Get, ir.Set)):
            kept.add(statement.local)
        if isinstance(statement, ir.Call):
            before |= made
        if isinstance(statement, ir.Value):
            made.add(statement)
    return SAVED + min(REGISTERS, 8 * len(kept))


class _Limits(FunctionCopier):
    """`circles`: the functions of the circle of each function, in one order. `counts`: its parameters for them."""

    def __init__(self, circles: dict[ir.Function, tuple[ir.Function, ...]]) -> None:
        super().__init__()
        self.circles = circles
        self.counts = {
            function: {each: ir.Param(f"{each.name}.depth", i32) for each in circle}
            for function, circle in circles.items()
        }

    def shell(self, function: ir.Function) -> ir.Function:
        params = (*function.params, *self.counts[function].values())
        return ir.replace(function, params=params, body=self.begin(function), max_depth=None)

    def begin(self, function: ir.Function) -> ir.Block:
        """Returns a block with the test of the function's own count."""
        if function not in self.counts[function]:
            return ir.Block()
        assert function.max_depth is not None
        builder = Builder()
        builder.loc = function.loc
        below = builder.op("less", self.counts[function][function], ir.Const(function.max_depth, i32))
        limit = f"more than {function.max_depth} levels deep: max_depth= is the limit"
        message = f"{function.source_name} calls itself {limit}"
        builder.put(ir.Assert(below, (message,), function.loc, "depth"))
        return builder.block

    def Call(self, call: ir.Call) -> list[ir.Statement]:  # noqa: N802
        (made,) = super().Call(call)
        assert isinstance(made, ir.Call)
        builder = Builder()
        builder.loc = call.loc
        around = {} if self.function is None else self.counts[self.function]
        counts: list[ir.Value] = []
        for each in self.circles[call.function]:
            count: ir.Value = around.get(each, ir.Const(0, i32))
            counts.append(builder.op("add", count, ir.Const(1, i32)) if each is self.function else count)
        return [*builder.block.body, ir.replace(made, args=(*call.args, *counts))]
