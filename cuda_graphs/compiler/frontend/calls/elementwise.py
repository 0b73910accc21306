# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Functions of numbers that apply to vectors by component: the rows of the op table, and cg.select."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cuda_graphs.compiler.errors import (
    CompileArgumentError,
    CompileTypeError,
    compile_error,
)
from cuda_graphs.compiler.frontend.expressions.arithmetic import arithmetic, computed
from cuda_graphs.compiler.frontend.expressions.lvalues import broadcast
from cuda_graphs.compiler.frontend.expressions.numbers import calculate_function, number_of
from cuda_graphs.compiler.frontend.frame.frame import Frame
from cuda_graphs.compiler.frontend.frame.values import Computed, Vector
from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.ir.ops import OPS
from cuda_graphs.compiler.ir.types import f64, i32

from .conversions import cast


def elementwise(name: str) -> Callable[..., Any]:
    """Return the translation of a row of the op table: operands are promoted, vectors handled by component."""
    row = OPS[name]
    needs_float = row.kinds == ("float",)

    def scalar(frame: Frame, *args: ir.Value) -> ir.Value:
        builder = frame.builder
        if name in REAL and any(arg.type.kind != "float" for arg in args):
            types = ", ".join(repr(arg.type) for arg in args)
            raise compile_error(
                CompileTypeError,
                builder.loc,
                f"{row.spelling} takes real numbers, not {types}",
                "cg.cast(x, cg.f32)",
            )
        if needs_float and all(arg.type.kind != "float" for arg in args):
            args = tuple(builder.cast(arg, builder.real) for arg in args)
        if name == "atan2":
            real = f64 if f64 in [arg.type for arg in args] else builder.real
            args = tuple(builder.cast(arg, real) for arg in args)
        if name == "shift_right_logical":
            return builder.shift(name, "RShift", *args)
        if len(args) == 2:
            args = builder.promoted(*args)
        elif len(args) == 3:
            wide = builder.promoted(*builder.promoted(args[0], args[1]))[0]
            wide = builder.promoted(wide, args[2])[0]
            args = tuple(builder.cast(arg, wide.type) for arg in args)
        elif not needs_float and args[0].type.kind == "bool":
            args = (builder.cast(args[0], i32),)
        if name == "abs":
            return builder.absolute(*args)
        if name in OF_FLOATS and args[0].type.kind == "float":
            return builder.op(OF_FLOATS[name], *args)
        return builder.checked(name, *args) if name == "trunc_div" else builder.op(name, *args)

    def function(frame: Frame, *args: Any) -> Any:
        if len(args) != row.arity:
            raise compile_error(
                CompileArgumentError,
                frame.builder.loc,
                f"{row.spelling} takes {row.arity} values, got {len(args)}",
                "see its row in the language reference",
            )
        if frame.rules.lenient and name in REAL:
            args = tuple(float(n) if isinstance(n := number_of(arg), int) else arg for arg in args)
        parts = [frame.read(arg) for arg in args]
        if any(isinstance(part, Vector) for part in parts):
            return broadcast(frame, lambda *each: scalar(frame, *each), *parts)
        result = scalar(frame, *(frame.scalar(part) for part in parts))
        exact = calculate_function(name, args) if result.type.kind == "float" else None
        return result if exact is None else computed(frame, exact, lambda: result)

    return function


# Functions that have another row for floats.
OF_FLOATS = {"trunc_div": "div"}

# Functions that refuse integers, as those are probably mistakes. The other functions of floats accept integers, as f32.
REAL = {
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "sinh",
    "cosh",
    "tanh",
    "floor",
    "ceil",
    "round",
    "trunc",
}


def rounding(name: str) -> Callable[..., Any]:
    """Return the translation of floor(x) and of floor(x, dtype), which converts."""
    one = elementwise(name)

    def function(frame: Frame, x: Any, dtype: Any = None) -> Any:
        found = one(frame, x)
        return found if dtype is None else cast(frame, found, dtype)

    return function


def variadic(name: str) -> Callable[..., Any]:
    """Return the translation of min and max: of two or more operands, or of the items of a tuple."""
    two = elementwise(name)

    def function(frame: Frame, *args: Any) -> Any:
        if len(args) == 1 and isinstance(args[0], tuple) and args[0]:
            args = args[0]
        elif len(args) < 2:
            raise compile_error(
                CompileArgumentError,
                frame.builder.loc,
                f"{name} takes two values or more",
                "for a vector, write v.max() or v.min()",
            )
        result = args[0]
        for each in args[1:]:
            result = two(frame, result, each)
        return result if isinstance(result, Computed) else frame.read(result)

    return function


def power(frame: Frame, a: Any, b: Any) -> Any:
    return arithmetic(frame, "Pow", a, b)


def select(frame: Frame, condition: Any, a: Any, b: Any) -> Any:
    """Return the translation of cg.select. Both operands are evaluated."""
    a, b, condition = frame.read(a), frame.read(b), frame.read(condition)

    def one(decides: ir.Value, x: ir.Value, y: ir.Value) -> ir.Value:
        x, y = (x, y) if x.type == y.type else frame.builder.promoted(x, y)
        return frame.choice(frame.builder.truth(decides, "the condition"), x, y)

    if any(isinstance(each, Vector) for each in (condition, a, b)):
        return broadcast(frame, one, condition, a, b)
    return one(*(frame.scalar(each) for each in (condition, a, b)))
