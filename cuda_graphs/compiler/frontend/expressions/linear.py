# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Operations on small vectors and matrices besides arithmetic by components."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from functools import reduce
from typing import Any

from cuda_graphs.compiler.errors import CompileArgumentError, CompileTypeError, compile_error
from cuda_graphs.compiler.frontend.frame.frame import Frame
from cuda_graphs.compiler.frontend.frame.values import Vector, describe
from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.ir.types import bool_, f32, i32
from cuda_graphs.compiler.language import cofactors

from .construction import make_vector
from .lvalues import broadcast


def added(frame: Frame, numbers: Iterable[ir.Value]) -> ir.Value:
    """Return the sum of numbers, from the first to the last."""
    return reduce(lambda x, y: frame.builder.binary("Add", x, y), numbers)


def dot(frame: Frame, a: Any, b: Any) -> ir.Value:
    """Return the sum of the products of the components."""
    return added(
        frame, broadcast(frame, lambda x, y: frame.builder.binary("Mult", x, y), a, frame.read(b)).leaves()
    )


def norm_sqr(frame: Frame, a: Vector) -> ir.Value:
    """Return the sum of the squares of the components."""
    return dot(frame, a, a)


def plus(frame: Frame, number: ir.Value, eps: Any) -> ir.Value:
    """Return the sum of a number and an addend that may be missing."""
    return number if eps is None else frame.builder.binary("Add", number, frame.scalar(eps))


def real(frame: Frame, number: ir.Value) -> ir.Value:
    """Return a number as a float. Floats keep their type."""
    return number if number.type.kind == "float" else frame.builder.cast(number, frame.builder.real)


def reciprocal(frame: Frame, number: ir.Value) -> ir.Value:
    """Return 1 / number as a float."""
    number = real(frame, number)
    return frame.builder.op("div", ir.Const(1.0, number.type), number)


def scaled(frame: Frame, factor: ir.Value, a: Vector) -> Vector:
    """Return `factor * a`."""
    return a.map(lambda part: frame.builder.binary("Mult", factor, part))


def norm(frame: Frame, a: Vector, eps: Any = None) -> ir.Value:
    """Return the Euclidean length, the root of the sum of the squares and `eps`."""
    return frame.builder.op("sqrt", real(frame, plus(frame, norm_sqr(frame, a), eps)))


def cross(frame: Frame, a: Vector, b: Any) -> Vector | ir.Value:
    """Return the cross product of vectors of three components; of two components its third one, a number."""
    b = frame.read(b)
    if a.shape not in ((2,), (3,)) or not isinstance(b, Vector) or b.shape != a.shape:
        raise compile_error(
            CompileTypeError,
            frame.builder.loc,
            "cross takes two vectors of 3 components, or of 2",
            "make them cg.vec3",
        )

    def part(i: int, j: int) -> ir.Value:
        binary = frame.builder.binary
        return binary(
            "Sub",
            binary("Mult", a.components[i], b.components[j]),
            binary("Mult", a.components[j], b.components[i]),
        )

    return part(0, 1) if a.shape == (2,) else Vector((part(1, 2), part(2, 0), part(0, 1)))


def normalized(frame: Frame, a: Vector, eps: Any = None) -> Vector:
    """Return the vector times the reciprocal of the sum of its length and `eps`, with one division."""
    return scaled(frame, reciprocal(frame, plus(frame, norm(frame, a), eps)), a)


def sum_of(frame: Frame, a: Vector) -> ir.Value:
    """Return the sum of all components."""
    return added(frame, a.leaves())


def transpose(frame: Frame, a: Vector) -> Vector:
    """Return the transposed matrix."""
    return Vector(tuple(Vector(tuple(row.components[i] for row in a.components)) for i in range(a.shape[1])))


def matmul(frame: Frame, a: Any, b: Any) -> Any:
    """Return `a @ b` for matrices and vectors."""
    a, b = (make_vector(frame, None, each) if isinstance(each, tuple) else each for each in (a, b))
    if not isinstance(a, Vector) or not isinstance(b, Vector):
        raise compile_error(
            CompileTypeError,
            frame.builder.loc,
            f"@ takes matrices and vectors, not {describe(a)} and {describe(b)}",
            "write * for numbers",
        )
    if a.shape[-1] != b.shape[0]:
        raise compile_error(
            CompileTypeError,
            frame.builder.loc,
            f"shapes {a.shape} and {b.shape} do not go together in @",
            "the columns of the left must be as many as the rows of the right",
        )
    if len(a.shape) == 1:
        return dot(frame, a, b) if len(b.shape) == 1 else matmul(frame, transpose(frame, b), a)
    if len(b.shape) == 1:
        return Vector(tuple(dot(frame, row, b) for row in a.components))
    columns = transpose(frame, b).components
    return Vector(tuple(Vector(tuple(dot(frame, row, column) for column in columns)) for row in a.components))


def determinant(frame: Frame, a: Vector) -> ir.Value:
    """Return the determinant of a square matrix up to 4 x 4."""
    return cofactors.determinant(square_rows(frame, a), arithmetic(frame))


def inverse(frame: Frame, a: Vector) -> Vector:
    """Return the inverse of a square matrix up to 4 x 4: the cofactors, times the reciprocal of the determinant."""
    rows = square_rows(frame, a)
    factor = reciprocal(frame, determinant(frame, a))
    if len(rows) == 1:
        return Vector((Vector((factor,)),))
    return scaled(frame, factor, Vector(tuple(map(Vector, cofactors.adjugate(rows, arithmetic(frame))))))


def square_rows(frame: Frame, a: Vector) -> tuple[tuple[ir.Value, ...], ...]:
    """Return the numbers of a square matrix up to 4 x 4, by rows, or raise."""
    if len(a.shape) != 2 or a.shape[0] != a.shape[1] or a.shape[0] > cofactors.MOST_ROWS:
        raise compile_error(
            CompileTypeError,
            frame.builder.loc,
            f"a square matrix up to 4 x 4 is needed, not {a.shape}",
            "make it cg.mat(n, n) with n up to 4",
        )
    return tuple(row.components for row in a.components)


def arithmetic(frame: Frame) -> cofactors.Arithmetic:
    """Return the operations of numbers in a kernel."""
    builder = frame.builder
    return cofactors.Arithmetic(
        add=lambda x, y: builder.binary("Add", x, y),
        multiply=lambda x, y: builder.binary("Mult", x, y),
        negate=lambda x: builder.op("neg", x),
    )


def outer(frame: Frame, a: Vector, b: Any) -> Vector:
    """Return the matrix of all products of components of two vectors."""
    b = require_vector(frame, b, 1)
    rows = (Vector(tuple(frame.builder.binary("Mult", x, y) for y in b.components)) for x in a.components)
    return Vector(tuple(rows))


def require_square(frame: Frame, a: Vector, name: str) -> None:
    """Raise unless a matrix is square."""
    if len(a.shape) != 2 or a.shape[0] != a.shape[1]:
        raise compile_error(
            CompileTypeError,
            frame.builder.loc,
            f"{name}() takes a square matrix, not one of shape {a.shape}",
            "use a matrix with as many rows as columns",
        )


def trace(frame: Frame, a: Vector) -> Any:
    """Return the sum of the diagonal."""
    require_square(frame, a, "trace")
    return reduce(
        lambda x, y: frame.builder.binary("Add", x, y),
        (row.components[i] for i, row in enumerate(a.components)),
    )


def least(frame: Frame, a: Vector) -> Any:
    """Return the least component."""
    return reduce(lambda x, y: frame.builder.op("min", x, y), a.leaves())


def greatest(frame: Frame, a: Vector) -> Any:
    """Return the greatest component."""
    return reduce(lambda x, y: frame.builder.op("max", x, y), a.leaves())


def all_of(frame: Frame, a: Vector) -> Any:
    """Return whether no component is 0."""
    return reduce(lambda x, y: frame.builder.op("bit_and", x, y), differ_from_zero(frame, a))


def any_of(frame: Frame, a: Vector) -> Any:
    """Return whether any component is not 0."""
    return reduce(lambda x, y: frame.builder.op("bit_or", x, y), differ_from_zero(frame, a))


def differ_from_zero(frame: Frame, a: Vector) -> list[ir.Value]:
    """Return for each component whether it is not 0."""
    return [
        part if part.type == bool_ else frame.builder.compare("NotEq", part, ir.Const(0, i32))
        for part in a.leaves()
    ]


def norm_inv(frame: Frame, a: Vector, eps: Any = None) -> ir.Value:
    """Return 1 / norm."""
    return reciprocal(frame, norm(frame, a, eps))


def reflect(frame: Frame, a: Vector, normal: Any) -> Any:
    """Return a - 2 (a . n) n."""
    twice = frame.builder.binary("Mult", ir.Const(2.0, f32), dot(frame, a, normal))
    part = scaled(frame, twice, require_vector(frame, normal, 1))
    return broadcast(frame, lambda x, y: frame.builder.binary("Sub", x, y), a, part)


def distance(frame: Frame, a: Vector, b: Any) -> Any:
    """Return the length of a - b."""
    return norm(
        frame,
        broadcast(frame, lambda x, y: frame.builder.binary("Sub", x, y), a, require_vector(frame, b, 1)),
    )


def require_vector(frame: Frame, found: Any, ndim: int | None = None) -> Vector:
    """Return an argument as a vector or matrix, or raise. A tuple is a vector here."""
    found = frame.read(found)
    if isinstance(found, tuple):
        found = make_vector(frame, None, found)
    if not isinstance(found, Vector) or (ndim is not None and len(found.shape) != ndim):
        what = {1: "a vector", 2: "a matrix", None: "a vector or matrix"}[ndim]
        raise compile_error(
            CompileTypeError,
            frame.builder.loc,
            f"{what} is needed, not {describe(found)}",
            "cg.mat2(a, b, c, d)" if ndim == 2 else "cg.vec3(x, y, z)",
        )
    return found


# name -> (number of dimensions of the first operand or None, the function)
OPERATIONS: dict[str, tuple[int | None, Callable[..., Any]]] = {
    "dot": (1, dot),
    "cross": (1, cross),
    "outer": (1, outer),
    "outer_product": (1, outer),
    "norm": (None, norm),
    "norm_sqr": (None, norm_sqr),
    "norm_inv": (None, norm_inv),
    "normalized": (None, normalized),
    "reflect": (1, reflect),
    "distance": (1, distance),
    "sum": (None, sum_of),
    "min": (None, least),
    "max": (None, greatest),
    "all": (None, all_of),
    "any": (None, any_of),
    "trace": (2, trace),
    "transpose": (2, transpose),
    "determinant": (2, determinant),
    "inverse": (2, inverse),
}


# Operations with a small number as a second argument, which keeps the length from 0.
WITH_EPS = ("norm", "norm_inv", "normalized")


def with_eps(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return an operation that takes a vector, and may take a number."""

    def call(frame: Frame, a: Any, *eps: Any) -> Any:
        if len(eps) > 1:
            raise compile_error(
                CompileArgumentError, frame.builder.loc,
                f"{name} takes 1 vector and a number, not {len(eps) + 1} arguments",
                f"x.{name}(), x.{name}(1e-6)",
            )  # fmt: skip
        return function(frame, require_vector(frame, a), *eps)

    return call


def vector_operation(name: str) -> Callable[..., Any]:
    """Return an operation as a function that checks its operands first."""
    ndim, function = OPERATIONS[name]
    count = len(inspect.signature(function).parameters) - 2
    if name in WITH_EPS:
        return with_eps(name, function)

    def call(frame: Frame, a: Any, *others: Any) -> Any:
        if len(others) != count:
            loc = frame.builder.loc
            raise compile_error(
                CompileArgumentError,
                loc,
                f"{name} takes {count + 1} vectors, not {len(others) + 1}",
                f"x.{name}()",
            )
        return function(
            frame, require_vector(frame, a, ndim), *(require_vector(frame, other, 1) for other in others)
        )

    return call


METHODS: dict[str, Callable[..., Any]] = {name: vector_operation(name) for name in OPERATIONS}
# Methods that take a type or change the vector (calls/vectors.py).
CHANGES = ("cast", "fill")
# The functions of cg. length and normalize are the names in shading languages.
FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{
        name: METHODS[name] for name in ("dot", "cross", "outer", "norm", "normalized", "reflect", "distance")
    },
    **{name: METHODS[name] for name in ("transpose", "determinant", "inverse", "trace")},
    "length": METHODS["norm"],
    "normalize": METHODS["normalized"],
}
