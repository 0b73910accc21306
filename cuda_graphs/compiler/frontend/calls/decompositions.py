# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Calls of the decompositions of matrices: their operands are checked, and their bodies are inlined."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cuda_graphs.compiler.errors import CompileTypeError, compile_error
from cuda_graphs.compiler.frontend.expressions.linear import require_vector
from cuda_graphs.compiler.frontend.frame.frame import Frame
from cuda_graphs.compiler.frontend.frame.values import Vector
from cuda_graphs.compiler.ir.types import f32, f64
from cuda_graphs.compiler.language import decompositions as library

from .inlining import inline

# Function -> the numbers of rows of square matrices that it takes.
SIZES: dict[Any, tuple[int, ...]] = {
    library.eig: (2, 3),
    library.polar_decompose: (2, 3),
    library.qr: (2, 3),
    library.solve: (1, 2, 3, 4),
    library.svd: (2, 3),
    library.sym_eig: (2, 3),
}


def decomposition(function: Any) -> Callable[..., Any]:
    """Return the translation of a decomposition of one matrix."""
    return lambda frame, m: inline(
        frame, function.__cuda_graphs_func__, [square_matrix(frame, function, m)], {}
    )


def solve(frame: Frame, a: Any, b: Any) -> Any:
    """Return the translation of cg.solve."""
    matrix = square_matrix(frame, library.solve, a)
    right = floats(frame, "solve", require_vector(frame, b))
    if right.shape[0] != matrix.shape[0]:
        raise compile_error(
            CompileTypeError, frame.builder.loc,
            f"cg.solve gets a matrix of shape {matrix.shape} and a right side of shape {right.shape}",
            "give as many equations as the matrix has rows",
        )  # fmt: skip
    builder = frame.builder
    wide = builder.promoted(matrix.leaves()[0], right.leaves()[0])[0].type
    args = [each.map(lambda part: builder.cast(part, wide)) for each in (matrix, right)]
    return inline(frame, library.solve.__cuda_graphs_func__, args, {})  # type: ignore[attr-defined]


def square_matrix(frame: Frame, function: Any, found: Any) -> Vector:
    """Return an operand as a matrix of floats that a decomposition takes, or raise."""
    name, matrix = function.__name__, require_vector(frame, found, 2)
    if matrix.shape not in [(n, n) for n in SIZES[function]]:
        sizes = " or ".join(f"{n} x {n}" for n in SIZES[function])
        raise compile_error(
            CompileTypeError, frame.builder.loc, f"cg.{name} takes a matrix of {sizes}, not shape {matrix.shape}",
            "make it cg.mat2 or cg.mat3",
        )  # fmt: skip
    return floats(frame, name, matrix)


def floats(frame: Frame, name: str, found: Vector) -> Vector:
    """Return a vector as f32 or f64. Integers become floats; narrower floats are refused."""
    type = found.leaves()[0].type
    if type.kind != "float":
        return found.map(lambda part: frame.builder.cast(part, frame.builder.real))
    if type not in (f32, f64):
        raise compile_error(
            CompileTypeError, frame.builder.loc, f"cg.{name} takes f32 or f64, not {type}",
            "convert it: m.cast(cg.f32)",
        )  # fmt: skip
    return found


DECOMPOSITIONS: dict[Any, Callable[..., Any]] = {
    **{function: decomposition(function) for function in SIZES},
    library.solve: solve,
}
