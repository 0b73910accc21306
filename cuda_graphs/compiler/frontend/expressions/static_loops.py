# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Names of loops and comprehensions over compile-time lists."""

from __future__ import annotations

import ast
from typing import Any

from cuda_graphs.compiler.errors import (
    CompileLoopError,
    CompileStaticError,
    compile_error,
)
from cuda_graphs.compiler.frontend.frame.frame import Frame
from cuda_graphs.compiler.frontend.frame.values import PLACES, Vector
from cuda_graphs.compiler.ir import ir

from .assignment import declare
from .lvalues import field_or_value

MAX_UNROLLED = 1_000_000


def bind_static(frame: Frame, target: ast.expr, item: Any) -> None:
    if isinstance(target, ast.Name):
        found = field_or_value(frame, item)
        is_place = isinstance(found, PLACES) and not is_constant(found)
        frame.scope.names[target.id] = declare(frame, target.id, frame.read(found)) if is_place else found
        return
    parts = parts_of(item)
    if isinstance(target, (ast.Tuple, ast.List)) and len(target.elts) == len(parts):
        for each, part in zip(target.elts, parts, strict=True):
            bind_static(frame, each, part)
    else:
        raise compile_error(
            CompileLoopError,
            frame.builder.loc,
            "the loop variables do not fit the items",
            "write as many names as each item has parts",
        )


def is_constant(found: Any) -> bool:
    """Return True for a number, and for a vector of numbers, that is known when compiling."""
    leaves = found.leaves() if isinstance(found, Vector) else [found]
    return all(isinstance(each, ir.Const) for each in leaves)


def parts_of(item: Any) -> tuple[Any, ...]:
    """Return the parts of an iterable; (item,) for other values."""
    try:
        return tuple(item)
    except TypeError:
        return (item,)


def check_count(frame: Frame, items: Any) -> None:
    """Raise for a list of too many items to unroll."""
    if items[MAX_UNROLLED:]:
        raise compile_error(
            CompileStaticError, frame.builder.loc, f"a loop over cg.static is unrolled more than {MAX_UNROLLED} times",
            "loop without cg.static where the loop variable need not be known when compiling",
        )  # fmt: skip
