# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Constructors of vectors and matrices, and of their types."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cuda_graphs.compiler.errors import (
    CompileError,
    CompileTypeError,
    compile_error,
)
from cuda_graphs.compiler.frontend.expressions.lvalues import make_vector, python_value
from cuda_graphs.compiler.frontend.frame.frame import Frame
from cuda_graphs.compiler.frontend.frame.values import Vector, describe
from cuda_graphs.compiler.ir.types import f32
from cuda_graphs.compiler.language.annotations import VectorType, mat

from .conversions import scalar_type


def vector(frame: Frame, *args: Any) -> Vector:
    """Return the vector of cg.vector(a, b, c), with the numbers' common type. Rows make a matrix."""
    return make_vector(frame, None, args[0] if len(args) == 1 else args)


def matrix(frame: Frame, rows: Any, columns: Any = None, dtype: Any = f32) -> Vector | VectorType:
    """Return the type for cg.mat(rows, columns, dtype), or the matrix for cg.mat([[a, b], [c, d]])."""
    if columns is None:
        found = make_vector(frame, None, rows)
        if len(found.shape) != 2:
            raise compile_error(
                CompileTypeError,
                frame.builder.loc,
                f"{describe(rows)} has no rows",
                "cg.mat([[a, b], [c, d]])",
            )
        return found
    return vector_type(frame, mat, rows, columns, dtype=dtype)


def vector_type(frame: Frame, make: Callable[..., VectorType], *extents: Any, dtype: Any) -> VectorType:
    """Return the type of cg.types.vec(n, dtype) or cg.types.mat(rows, columns, dtype) in a kernel."""
    try:
        return make(*(python_value(frame, each) for each in extents), scalar_type(frame, dtype))
    except (TypeError, ValueError) as error:
        if isinstance(error, CompileError):
            raise
        raise compile_error(
            CompileTypeError, frame.builder.loc, str(error), "cg.types.vec(3, cg.f32)"
        ) from None
