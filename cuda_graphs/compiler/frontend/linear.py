# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Small vectors and matrices: what they can do besides arithmetic by components."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

from .. import ir
from ..errors import CompileTypeError, fail
from ..types import f32, promote
from .expressions import broadcast
from .functions import Frame, kind_of
from .values import Vector


def dot(frame: Frame, a: Any, b: Any) -> ir.Value:
    """The sum of the products of the components."""
    from .expressions import read

    products = broadcast(frame, lambda x, y: frame.builder.binary("Mult", x, y), a, read(frame, b)).leaves()
    return reduce(lambda x, y: frame.builder.binary("Add", x, y), products)


def norm_sqr(frame: Frame, a: Vector) -> ir.Value:
    """The sum of the squares."""
    return dot(frame, a, a)


def norm(frame: Frame, a: Vector) -> ir.Value:
    """The Euclidean length."""
    square = norm_sqr(frame, a)
    return frame.builder.op(
        "sqrt", square if square.type.kind == "float" else frame.builder.cast(square, f32)
    )


def cross(frame: Frame, a: Vector, b: Any) -> Vector:
    """The cross product of vectors of three components."""
    from .expressions import read

    b = read(frame, b)
    if a.shape != (3,) or not isinstance(b, Vector) or b.shape != (3,):
        raise fail(CompileTypeError, frame.builder.loc, "cross takes two vectors of 3 components")

    def part(i: int, j: int) -> ir.Value:
        binary = frame.builder.binary
        return binary(
            "Sub",
            binary("Mult", a.components[i], b.components[j]),
            binary("Mult", a.components[j], b.components[i]),
        )

    return Vector((part(1, 2), part(2, 0), part(0, 1)))


def normalized(frame: Frame, a: Vector) -> Vector:
    """The vector divided by its length."""
    length = norm(frame, a)
    return a.map(lambda part: frame.builder.binary("Div", part, length))


def sum_of(frame: Frame, a: Vector) -> ir.Value:
    """The sum of all components."""
    return reduce(lambda x, y: frame.builder.binary("Add", x, y), a.leaves())


def transpose(frame: Frame, a: Vector) -> Vector:
    """Columns as rows."""
    return Vector(tuple(Vector(tuple(row.components[i] for row in a.components)) for i in range(a.shape[1])))


def matmul(frame: Frame, a: Any, b: Any) -> Any:
    """`a @ b` of matrices and vectors."""
    if not isinstance(a, Vector) or not isinstance(b, Vector):
        raise fail(
            CompileTypeError,
            frame.builder.loc,
            f"@ takes matrices and vectors, not {kind_of(a)} and {kind_of(b)}",
        )
    if a.shape[-1] != b.shape[0]:
        raise fail(
            CompileTypeError, frame.builder.loc, f"shapes {a.shape} and {b.shape} do not go together in @"
        )
    if len(a.shape) == 1:
        return dot(frame, a, b) if len(b.shape) == 1 else matmul(frame, transpose(frame, b), a)
    if len(b.shape) == 1:
        return Vector(tuple(dot(frame, row, b) for row in a.components))
    columns = transpose(frame, b).components
    return Vector(tuple(Vector(tuple(dot(frame, row, column) for column in columns)) for row in a.components))


def minor(a: Vector, i: int, j: int) -> Vector:
    return Vector(
        tuple(
            Vector(tuple(c for k, c in enumerate(row.components) if k != j))
            for r, row in enumerate(a.components)
            if r != i
        )
    )


def determinant(frame: Frame, a: Vector) -> Any:
    """By expansion along the first row; square matrices up to 4 x 4."""
    if len(a.shape) != 2 or a.shape[0] != a.shape[1] or a.shape[0] > 4:
        raise fail(
            CompileTypeError, frame.builder.loc, f"a square matrix up to 4 x 4 is needed, not {a.shape}"
        )
    if a.shape == (1, 1):
        return a.components[0].components[0]
    binary = frame.builder.binary
    total: Any = None
    for j, entry in enumerate(a.components[0].components):
        term = binary("Mult", entry, determinant(frame, minor(a, 0, j)))
        total = term if total is None else binary("Sub" if j % 2 else "Add", total, term)
    return total


def inverse(frame: Frame, a: Vector) -> Vector:
    """By cofactors; square matrices up to 4 x 4."""
    whole = determinant(frame, a)
    size = a.shape[0]
    type = promote(whole.type, f32)
    builder = frame.builder

    def entry(i: int, j: int) -> ir.Value:
        cofactor = determinant(frame, minor(a, j, i)) if size > 1 else ir.Const(1.0, type)
        cofactor = builder.cast(cofactor, type)
        return builder.binary("Div", builder.op("neg", cofactor) if (i + j) % 2 else cofactor, whole)

    return Vector(tuple(Vector(tuple(entry(i, j) for j in range(size))) for i in range(size)))


METHODS: dict[str, Callable[..., Any]] = {
    "dot": dot,
    "cross": cross,
    "norm": norm,
    "norm_sqr": norm_sqr,
    "normalized": normalized,
    "sum": sum_of,
    "transpose": transpose,
    "determinant": determinant,
    "inverse": inverse,
}
