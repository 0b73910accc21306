# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Conversions: `cg.f32(x)`, cg.cast and cg.bit_cast."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from cuda_graphs.compiler.errors import (
    CompileArgumentError,
    CompileLiteralError,
    CompileTypeError,
    compile_error,
)
from cuda_graphs.compiler.frontend.expressions.lvalues import python_value
from cuda_graphs.compiler.frontend.frame.frame import Frame
from cuda_graphs.compiler.frontend.frame.values import Computed, TypeOf, Vector, describe
from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.ir.builder import spelled
from cuda_graphs.compiler.ir.scalars import scalar as constant
from cuda_graphs.compiler.ir.types import PYTHON, ScalarType
from cuda_graphs.compiler.language import intrinsics as cg
from cuda_graphs.compiler.language.annotations import VectorType


def converts(function: Any) -> bool:
    """Return whether the function is a type, cg.cast or cg.vector, whose calls take exact results of arithmetic."""
    return isinstance(function, (ScalarType, TypeOf, VectorType)) or (
        is_hashable(function) and (function in (cg.cast, cg.vector) or function in PYTHON)
    )


def is_hashable(function: Any) -> bool:
    """Return whether the function can be a key of a table."""
    try:
        hash(function)
    except TypeError:  # the value or a part of it
        return False
    return True


def is_literal(node: ast.Call) -> bool:
    """Return whether the only argument is a number of the source."""
    found = node.args[0] if len(node.args) == 1 else node
    found = found.operand if isinstance(found, ast.UnaryOp) else found
    return isinstance(found, ast.Constant)


# The texts that float() takes in kernels: numbers that have no literal.
SPECIAL_FLOATS = ("inf", "-inf", "nan")


def convert(frame: Frame, type: ScalarType, *args: Any, literal: bool = False) -> Any:
    """Return the value of `cg.f32(x)`. A literal must be of the type's kind: `cg.i32(2.5)` is probably a mistake.

    Lenient rules take any literal.
    """
    if len(args) != 1:
        raise compile_error(
            CompileArgumentError, frame.builder.loc, f"{type} takes one value, not {len(args)}", "cg.f32(x)"
        )
    if isinstance(args[0], str) and args[0] in SPECIAL_FLOATS and type.kind == "float":
        return ir.Const(float(args[0]), type, frame.builder.loc)
    kinds = {int: ("int", "uint"), float: ("float",)}.get(args[0].__class__, ())
    if literal and kinds and type.kind not in kinds and not frame.rules.lenient:
        raise compile_error(
            CompileLiteralError, frame.builder.loc, f"{args[0]!r} is not a literal of {type}",
            f"write {float(args[0])}" if type.kind == "float" else f"write {int(args[0])}, or cg.cast(...)",
        )  # fmt: skip
    value = known_value(frame, args[0])
    if isinstance(value, int) and not isinstance(value, bool) and type.kind in ("int", "uint"):
        return frame.builder.const(value, type)  # raises if the type cannot hold it
    return cast(frame, value, type)


def cast(frame: Frame, value: Any, dtype: Any) -> Any:
    type = scalar_type(frame, dtype)
    if isinstance(value, ir.Const):
        return frame.builder.cast(value, type)
    value = known_value(frame, value)
    if isinstance(value, (int, float)) and type.kind == "bool":
        return ir.Const(value != 0, type, frame.builder.loc)
    if isinstance(value, int) and not isinstance(value, bool) and type.kind in ("int", "uint"):
        wrapped = (value - type.minimum) % (1 << type.bits) + type.minimum
        return ir.Const(wrapped, type, frame.builder.loc)
    if isinstance(value, (int, float)) and not isinstance(value, bool) and type.kind == "float":
        return ir.Const(rounded(frame, value, type), type, frame.builder.loc)
    value = frame.read(value)
    if isinstance(value, Vector):
        return value.map(lambda part: frame.builder.checked_cast(frame.scalar(part), type))
    return frame.builder.checked_cast(frame.scalar(value), type)


def rounded(frame: Frame, value: float, type: ScalarType) -> Any:
    """Return the nearest number of a float type."""
    try:
        return constant(value, type).item()
    except OverflowError:
        raise compile_error(
            CompileLiteralError,
            frame.builder.loc,
            f"{spelled(value)} is not a value of {type}",
            "write cg.inf",
        ) from None


def known_value(frame: Frame, found: Any) -> Any:
    """Return a compile-time number as Python's number. For a Computed it is the exact one."""
    return found.exact if isinstance(found, Computed) else python_value(frame, found)


def conversion(python: type) -> Callable[..., Any]:
    """Return the translation of a call of a type of Python or NumPy."""
    return lambda frame, x: convert(frame, frame.rules.named(python), x)


def scalar_type(frame: Frame, dtype: Any) -> ScalarType:
    """Return the scalar type that an argument names."""
    found = dtype.type if isinstance(dtype, TypeOf) else frame.rules.named(dtype)
    if not isinstance(found, ScalarType):
        raise compile_error(
            CompileTypeError,
            frame.builder.loc,
            f"{describe(dtype)} is not a scalar type",
            "cg.f32, cg.i32, ...",
        )
    return found


def bit_cast(frame: Frame, value: Any, dtype: Any) -> Any:
    value, type = frame.read(value), scalar_type(frame, dtype)
    if isinstance(value, Vector):
        return value.map(lambda part: frame.builder.op("bit_cast", part, type=type))
    return frame.builder.op("bit_cast", frame.scalar(value), type=type)
