# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The indices in the brackets of a subscript, and the slices among them."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from cuda_graphs.compiler.errors import CompileIndexError, compile_error
from cuda_graphs.compiler.frontend.frame.frame import Frame
from cuda_graphs.compiler.frontend.frame.values import ArrayPart, RunTimeSlice, Struct, Vector
from cuda_graphs.compiler.ir import ir

from .array_parts import bounds_of
from .lvalues import integer, python_value

__all__ = ["index_of"]


def index_of(frame: Frame, node: ast.expr, owner: Any) -> tuple[Any, ...]:
    """Return the indices in the brackets of a subscript. Some owners take slices too."""
    slices = next((make for kinds, make in SLICES if isinstance(owner, kinds)), None)

    def visit(each: ast.expr) -> Any:
        return (
            slices(frame, each) if slices is not None and isinstance(each, ast.Slice) else frame.visit(each)
        )

    if isinstance(node, ast.Tuple):
        return tuple(frame.in_order(node.elts, visit))
    found = visit(node)
    return found if isinstance(found, tuple) else () if found is None else (found,)


def slice_of(frame: Frame, node: ast.Slice) -> slice | RunTimeSlice:
    """Return a slice whose bounds are known at compile time, or whose length is."""
    bounds = [
        None if each is None else python_value(frame, frame.visit(each))
        for each in (node.lower, node.upper, node.step)
    ]
    if all(each is None or type(each) is int for each in bounds):
        return slice(*bounds)
    count = slice_length(frame, node.lower, node.upper)
    if count is None or bounds[2] not in (None, 1):
        raise compile_error(
            CompileIndexError, frame.builder.loc, "the length of a slice is known at run time only",
            "write numbers, v[n : n + 3], or a loop over the items",
        )  # fmt: skip
    return RunTimeSlice(integer(frame, bounds[0], "a bound"), count)


def slice_length(frame: Frame, begin: ast.expr | None, end: ast.expr | None) -> int | None:
    """Return the number c for two bounds in the form `n` and `n + c`; None for other bounds."""
    if begin is None or not isinstance(end, ast.BinOp) or not isinstance(end.op, ast.Add):
        return None
    same = [ast.dump(each) == ast.dump(begin) for each in (end.left, end.right)]
    if not any(same):
        return None
    found = python_value(frame, frame.visit(end.right if same[0] else end.left))
    return found if type(found) is int else None


# Classes of owners -> what a slice in their brackets is.
SLICES: tuple[tuple[Any, Callable[[Frame, ast.Slice], Any]], ...] = (
    ((Vector, Struct, tuple, list), slice_of),
    ((ir.Array, ArrayPart), bounds_of),
)
