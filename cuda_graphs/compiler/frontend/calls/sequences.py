# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Python's functions of sequences: sum, any, all, enumerate, zip and reversed, of tuples, vectors and ranges of known
length, and the methods of dicts. Their results are numbers and tuples."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from functools import reduce
from typing import Any

from cuda_graphs.compiler.errors import (
    CompileArgumentError,
    CompileStaticError,
    CompileValueError,
    compile_error,
)
from cuda_graphs.compiler.frontend.expressions.arithmetic import arithmetic
from cuda_graphs.compiler.frontend.expressions.expressions import items_of
from cuda_graphs.compiler.frontend.expressions.lvalues import field_or_value, python_value
from cuda_graphs.compiler.frontend.frame.frame import Frame
from cuda_graphs.compiler.frontend.frame.values import PLACES, Bound
from cuda_graphs.compiler.ir import ir

__all__ = ["SEQUENCES", "dict_method"]


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


def dict_method(frame: Frame, bound: Bound, args: list[Any], keywords: dict[str, Any]) -> Any:
    """Translate the call of a method of a dict: items(), keys(), values() and get() with a known key."""
    given = [python_value(frame, each) for each in args]
    if given and isinstance(given[0], PLACES):
        raise compile_error(
            CompileStaticError, frame.builder.loc, f"the key of {bound.name}() is known at run time only",
            "keys are known when compiling: write if and elif, or use an array",
        )  # fmt: skip
    try:
        found = getattr(bound.owner, bound.name)(*given, **keywords)
    except TypeError as error:
        raise compile_error(
            CompileArgumentError,
            frame.builder.loc,
            f"{bound.name}(): {error}",
            "keys are known when compiling",
        ) from None
    if bound.name == "get":
        return field_or_value(frame, found)
    parts = [each if bound.name == "items" else (each,) for each in found]
    pairs = [tuple(field_or_value(frame, part) for part in each) for each in parts]
    return tuple(pair if bound.name == "items" else pair[0] for pair in pairs)


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
