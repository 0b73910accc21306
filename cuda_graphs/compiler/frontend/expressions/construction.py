# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Construction of vectors and matrices from components, rows and numbers."""

from __future__ import annotations

import math
from functools import reduce
from typing import Any

from cuda_graphs.compiler.errors import CompileTypeError, compile_error
from cuda_graphs.compiler.frontend.frame.frame import Frame
from cuda_graphs.compiler.frontend.frame.values import Vector, describe
from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.ir.scalars import scalar
from cuda_graphs.compiler.ir.types import ScalarType, promote
from cuda_graphs.compiler.language.annotations import VectorType

from .numbers import exact_constant, is_source_number, source_type

__all__ = ["filled", "make_vector"]


def make_vector(frame: Frame, type: VectorType | None, *args: Any) -> Vector:
    """Return a vector from components, rows, another vector or one number. Without a type it has their common type.

    Vectors among numbers stand for their components, as do all vectors in a vector type: `cg.vec4(v, 1.0)`.
    """
    parts = parts_of(frame, type, args)
    scalars = [
        leaf if is_source_number(leaf) else frame.scalar(leaf, "a component") for leaf in parts.leaves()
    ]
    if type is None:
        made = converted(frame, parts, common_type(frame, scalars))
        numbers = source_numbers(args)
        return made if numbers is None else Vector(made.components, tuple(numbers))
    return converted(frame, in_shape(frame, parts, scalars, type), type.dtype).map(rounded_constant)


def parts_of(frame: Frame, type: VectorType | None, args: tuple[Any, ...]) -> Vector:
    """Return the components that arguments stand for, as they are. One number stands for all components of a type."""
    found = (
        unless_number(frame, args[0]) if len(args) == 1 else tuple(unless_number(frame, arg) for arg in args)
    )
    if isinstance(found, Vector):
        return found
    if isinstance(found, tuple) and found:
        return Vector(rows_of(frame, type, found))
    if type is not None:
        return filled(found if is_source_number(found) else frame.scalar(found, "a component"), type.shape)
    raise compile_error(
        CompileTypeError,
        frame.builder.loc,
        f"a vector is made of several numbers, not {describe(found)}",
        "cg.vec3(x, y, z)",
    )


def rows_of(frame: Frame, type: VectorType | None, parts: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the rows of a matrix, or the components of a vector, in each of which vectors may stand for several."""
    rows = [
        make_vector(frame, None, part) if isinstance(part, tuple) else unless_number(frame, part)
        for part in parts
    ]
    if takes_vectors(parts, rows, type):
        rows = [leaf for row in rows for leaf in (row.components if isinstance(row, Vector) else (row,))]
    if len({row.shape if isinstance(row, Vector) else () for row in rows}) > 1:
        raise compile_error(
            CompileTypeError, frame.builder.loc, "the rows of a matrix have different lengths",
            "give each row as many numbers; cg.vector(*v, *w) has the components of both vectors",
        )  # fmt: skip
    return tuple(rows)


def in_shape(frame: Frame, parts: Vector, scalars: list[Any], type: VectorType) -> Vector:
    """Return the components in the shape of a type. All components of a matrix may come in one row."""
    if parts.shape == type.shape:
        return parts
    if len(type.shape) == 2 and len(scalars) == math.prod(type.shape):
        columns = type.shape[1]
        rows = (tuple(scalars[i : i + columns]) for i in range(0, len(scalars), columns))
        return Vector(tuple(map(Vector, rows)))
    raise compile_error(
        CompileTypeError,
        frame.builder.loc,
        f"{type!r} is made of a value of shape {parts.shape}",
        "give all components, or one number for all of them",
    )


def converted(frame: Frame, parts: Vector, type: ScalarType) -> Vector:
    """Return the components in one type."""
    return parts.map(lambda part: component_in(frame, part, type))


def common_type(frame: Frame, scalars: list[Any]) -> ScalarType:
    """Return the type that holds all components."""
    types = [type_of_component(frame, each) for each in scalars]
    return reduce(lambda a, b: a if a == b else promote(a, b), types)


def unless_number(frame: Frame, found: Any) -> Any:
    """Read a value, but leave a number of the source, which is exact in the type of the vector."""
    return found if is_source_number(found) else frame.read(found)


def type_of_component(frame: Frame, found: Any) -> ScalarType:
    return source_type(frame, found) if is_source_number(found) else found.type


def component_in(frame: Frame, found: Any, type: ScalarType) -> ir.Value:
    """Return a component in the type of the vector. The call of the type converts, so nothing is reported."""
    exact = exact_constant(found, type) if is_source_number(found) else None
    return frame.builder.cast(frame.scalar(found), type) if exact is None else exact


def rounded_constant(value: ir.Value) -> ir.Value:
    """Return a constant with the digits that its type holds, and other values as they are."""
    return (
        ir.Const(scalar(value.value, value.type).item(), value.type) if isinstance(value, ir.Const) else value
    )


def source_numbers(parts: Any) -> list[Any] | None:
    """Return the numbers in nested tuples if all of them are numbers of the source, else None."""
    found: list[Any] = []
    for part in parts:
        inner = (
            source_numbers(part) if isinstance(part, tuple) else [part] if is_source_number(part) else None
        )
        if inner is None:
            return None
        found += inner
    return found


def takes_vectors(parts: tuple[Any, ...], rows: list[Any], type: VectorType | None) -> bool:
    """Return whether vectors among the parts of a vector stand for their components; they may be rows of a matrix."""
    shapes = [row.shape if isinstance(row, Vector) else () for row in rows]
    if any(isinstance(part, tuple) for part in parts) or any(len(shape) > 1 for shape in shapes):
        return False
    if type is None:
        return () in shapes
    return len(type.shape) == 1 or len(set(shapes)) > 1  # also mat2(a, vec3(b, c, d))


def filled(value: ir.Value, shape: tuple[int, ...]) -> Vector:
    """Return a vector whose components are all one value."""
    return Vector(tuple(filled(value, shape[1:]) if shape[1:] else value for _ in range(shape[0])))
