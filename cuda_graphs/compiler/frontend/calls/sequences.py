# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Python's functions of sequences: sum, any, all, enumerate, zip and reversed, of tuples, vectors and ranges of known
length. Their results are numbers and tuples."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from functools import reduce
from typing import Any

from cuda_graphs.compiler.errors import CompileValueError, compile_error
from cuda_graphs.compiler.frontend.expressions.arithmetic import arithmetic
from cuda_graphs.compiler.frontend.expressions.expressions import items_of
from cuda_graphs.compiler.frontend.expressions.lvalues import python_value
from cuda_graphs.compiler.frontend.frame.frame import Frame
from cuda_graphs.compiler.ir import ir

__all__ = ["SEQUENCES"]


def items(frame: Frame, found: Any) -> tuple[Any, ...]:
    return tuple(items_of(frame, found))


def total(frame: Frame, iterable: Any, start: Any = None) -> Any:
    parts = items(frame, iterable) if start is None else (start, *items(frame, iterable))
    return frame.read(reduce(lambda a, b: frame.read(arithmetic(frame, "Add", a, b)), parts)) if parts else 0


def truth_of(operation: str, empty: ir.Const) -> Callable[[Frame, Any], ir.Value]:
    """Return the translation of any or all. All items are evaluated."""

    def function(frame: Frame, iterable: Any) -> ir.Value:
        found: ir.Value = empty
        for each in items(frame, iterable):
            value = frame.builder.truth(frame.scalar(each), "an item")
            found = frame.builder.op(operation, found, value)
        return found

    return function


def enumerated(frame: Frame, iterable: Any, start: Any = 0) -> tuple[Any, ...]:
    first = python_value(frame, start)
    if type(first) is not int:
        raise compile_error(
            CompileValueError,
            frame.builder.loc,
            "the start of enumerate is known at run time only",
            "add it to the number in the loop",
        )
    return tuple(enumerate(items(frame, iterable), first))


SEQUENCES: dict[Callable[..., Any], Callable[..., Any]] = {
    builtins.sum: total,
    builtins.any: truth_of("bit_or", ir.FALSE),
    builtins.all: truth_of("bit_and", ir.TRUE),
    builtins.enumerate: enumerated,
    builtins.zip: lambda frame, *iterables: tuple(
        zip(*(items(frame, each) for each in iterables), strict=False)
    ),
    builtins.reversed: lambda frame, iterable: items(frame, iterable)[::-1],
}
