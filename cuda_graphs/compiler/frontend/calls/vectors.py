# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Constructors of vectors and matrices, and of their types."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cuda_graphs.compiler.errors import (
    CompileArgumentError,
    CompileError,
    CompileTypeError,
    compile_error,
)
from cuda_graphs.compiler.frontend.expressions.assignment import assign_lvalue
from cuda_graphs.compiler.frontend.expressions.construction import filled, make_vector
from cuda_graphs.compiler.frontend.expressions.linear import CHANGES, METHODS, WITH_EPS
from cuda_graphs.compiler.frontend.expressions.lvalues import python_value
from cuda_graphs.compiler.frontend.frame.frame import Frame
from cuda_graphs.compiler.frontend.frame.values import (
    PLACES,
    Bound,
    Component,
    Element,
    Vector,
    VectorElement,
    describe,
)
from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.ir.types import f32
from cuda_graphs.compiler.language import library
from cuda_graphs.compiler.language.annotations import VectorType, mat

from .conversions import cast, scalar_type
from .inlining import inline

# The names of the argument of methods that take one besides vectors, as on the host.
ARGUMENT_NAMES = {**dict.fromkeys(WITH_EPS, "eps"), "cast": "dtype", "fill": "value"}


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


def fill(frame: Frame, owner: Any, value: Any) -> None:
    """Assign a number to each component of a variable or element, or a value to each element of an array."""
    if isinstance(owner, ir.Array):
        value = frame.read(value)
        if owner.inner and not isinstance(value, Vector):
            value = filled(frame.scalar(value), owner.inner)
        inline(frame, library.fill_array.__cuda_graphs_func__, [owner, value], {})  # type: ignore[attr-defined]
        return
    found = frame.scalar(value)
    target = owner.elements if isinstance(owner, VectorElement) else owner
    if not all(isinstance(leaf, (ir.Local, Element, Component)) for leaf in target.leaves()):
        raise compile_error(
            CompileTypeError, frame.builder.loc, "fill() changes a vector, and this one is a value",
            "assign it to a name first, or write v = cg.vec3(0)",
        )  # fmt: skip
    assign_lvalue(frame, target, filled(found, target.shape))


def method(frame: Frame, bound: Bound, args: list[Any], keywords: dict[str, Any]) -> Any:
    """Translate the call of a method of a vector or matrix, or of `fill` of an array."""
    for name, value in keywords.items():
        if name != ARGUMENT_NAMES.get(bound.name) or args:
            raise compile_error(
                CompileArgumentError, frame.builder.loc, f"{bound.name}() has no argument {name!r} here",
                "v.norm(eps=1e-6), v.cast(cg.f64), v.fill(0)",
            )  # fmt: skip
        args = [value]
    if bound.name not in CHANGES:
        return METHODS[bound.name](frame, frame.read(bound.owner), *args)
    if len(args) != 1:
        raise compile_error(
            CompileArgumentError, frame.builder.loc, f"{bound.name}() takes one argument, not {len(args)}",
            "v.cast(cg.f64), v.fill(0)",
        )  # fmt: skip
    return (
        cast(frame, frame.read(bound.owner), args[0])
        if bound.name == "cast"
        else fill(frame, bound.owner, args[0])
    )


def vector_type(frame: Frame, make: Callable[..., VectorType], *extents: Any, dtype: Any) -> VectorType:
    """Return the type of cg.types.vec(n, dtype) or cg.types.mat(rows, columns, dtype) in a kernel."""
    given = [python_value(frame, each) for each in extents]
    for each in given:
        if isinstance(each, PLACES):
            raise compile_error(
                CompileTypeError,
                frame.builder.loc,
                f"the number of components of a vector is known when compiling, and is not {describe(each)}",
                "cg.types.vec(3, cg.f32)",
            )
    try:
        return make(*given, scalar_type(frame, dtype))
    except (TypeError, ValueError) as error:
        if isinstance(error, CompileError):
            raise
        raise compile_error(
            CompileTypeError, frame.builder.loc, str(error), "cg.types.vec(3, cg.f32)"
        ) from None
