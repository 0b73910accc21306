# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Reports failed asserts to the caller: the first assert that fails stores its number and the values of its message.

On a GPU, `__assertfail` ends the whole context and prints to stdout. The compiler uses a report instead, in an array of
the kernel. Word 0 is the number of the assert that failed first, from 1 on; 0 means none failed. The values follow. A
thread whose assert fails leaves its task, and the functions in which it is: a function with asserts returns whether
they held as its last result.
"""

from __future__ import annotations

from dataclasses import replace

from cuda_graphs.compiler.artifact import REPORT
from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.ir.builder import Builder
from cuda_graphs.compiler.ir.formats import formatted
from cuda_graphs.compiler.ir.types import ScalarType, bool_, f64, i64
from cuda_graphs.compiler.records import record

from .copy import FunctionCopier

__all__ = ["REPORT", "AssertInfo", "failed_assert", "report_asserts"]

MOST_VALUES = 8
WORDS = 1 + MOST_VALUES


@record
class AssertInfo:
    """One assert. `message`: texts, and (type, format) of each value."""

    kind: str
    message: tuple[str | tuple[ScalarType, str], ...]
    loc: ir.Loc | None

    def text(self, words: list[int]) -> str:
        """Returns the message with its values, which are words of the report."""
        import numpy as np

        written, at = "", iter(words)
        for part in self.message:
            if isinstance(part, str):
                written += part
                continue
            type, form = part
            word = next(at, None)
            if word is None:
                written += "..."
            elif type.kind == "float":
                written += formatted(np.array(word, "i8").view("f8")[()], f64, form)
            else:
                written += formatted(word & (1 << 64) - 1 if type.kind == "uint" else word, type, form)
        return written


def report_asserts(program: ir.Program) -> tuple[ir.Program, tuple[AssertInfo, ...]]:
    """Returns the program with a report in place of asserts, and the asserts. The report must be zero at the start."""
    array = ir.Array(REPORT, i64, 1, ir.Space.TEMP, (WORDS,))
    copier = _Reports(array)
    tasks = []
    for task in program.tasks:
        body = copier.block(task.body)
        loop = None if task.loop is None else next(s for s in reversed(body.body) if isinstance(s, ir.For))
        tasks.append(replace(task, body=body, loop=loop))
    if not copier.asserts:
        return program, ()
    return replace(program, tasks=tuple(tasks), temps=(*program.temps, array)), tuple(copier.asserts)


class _Reports(FunctionCopier):
    def __init__(self, array: ir.Array) -> None:
        super().__init__()
        self.array, self.asserts = array, list[AssertInfo]()

    def shell(self, function: ir.Function) -> ir.Function:
        held = (bool_,) if may_fail(function) else ()
        return replace(function, body=ir.Block(), results=(*function.results, *held))

    def Call(self, call: ir.Call) -> list[ir.Statement]:  # noqa: N802
        (made,) = super().Call(call)
        assert isinstance(made, ir.Call)
        if not may_fail(call.function):
            return [made]
        held = ir.Result(made, len(call.function.results), bool_, call.loc)
        leave = ir.If(held, ir.Block(), ir.Block([ir.Exit(call.loc)]), call.loc)
        return [made, held, leave]

    def value_of(self, made: list[ir.Statement]) -> ir.Value:
        """Returns the call, which stands before the test of it."""
        return made[0] if isinstance(made[0], ir.Call) else super().value_of(made)

    def Return(self, statement: ir.Return) -> list[ir.Statement]:  # noqa: N802
        fails = self.function is not None and may_fail(self.function)
        return [ir.replace(statement, values=(*statement.values, ir.TRUE)) if fails else statement]

    def Assert(self, statement: ir.Assert) -> list[ir.Statement]:  # noqa: N802
        values = [part[0] for part in statement.message if isinstance(part, tuple)]
        message = tuple(p if isinstance(p, str) else (p[0].type, p[1]) for p in statement.message)
        self.asserts.append(AssertInfo(statement.kind, message, statement.loc))
        broken, first = ir.Block(), ir.Block()
        builder = Builder()
        builder.loc = statement.loc
        with builder.into(broken):
            zero, number = ir.Const(0, i64), ir.Const(len(self.asserts), i64)
            before = builder.put(ir.Atomic("cas", self.array, (zero,), number, zero, statement.loc))
            builder.put(ir.If(builder.op("equal", before, zero), first, ir.Block(), statement.loc))
            builder.put(ir.Exit(statement.loc))
        with builder.into(first):
            for place, value in enumerate(values[:MOST_VALUES], 1):
                word = builder.cast(value, f64 if value.type.kind == "float" else i64)
                if word.type == f64:
                    word = builder.op("bit_cast", word, type=i64)
                builder.put(ir.Store(self.array, (ir.Const(place, i64),), word, statement.loc))
        return [ir.If(statement.condition, ir.Block(), broken, statement.loc)]


def may_fail(function: ir.Function) -> bool:
    """Returns whether a function, or one that it calls, contains an assert."""
    return any(
        isinstance(each, ir.Assert)
        for called in ir.reachable({function: None})
        for each in ir.walk(called.body)
    )


def failed_assert(asserts: tuple[AssertInfo, ...], words: list[int]) -> tuple[AssertInfo, str] | None:
    """Returns the assert that the report names, and its message with values; None if all asserts held."""
    if not words[0]:
        return None
    assertion = asserts[words[0] - 1]
    return assertion, assertion.text(words[1:])
