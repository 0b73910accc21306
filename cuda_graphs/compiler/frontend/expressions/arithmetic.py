# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Unary and binary operators, on numbers and vectors."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from cuda_graphs.compiler.errors import (
    CompileError,
    CompileTypeError,
    CompileValueError,
    compile_error,
)
from cuda_graphs.compiler.frontend.frame.frame import Frame
from cuda_graphs.compiler.frontend.frame.remedies import remedy_of_operand
from cuda_graphs.compiler.frontend.frame.values import Computed, Struct, Vector, describe
from cuda_graphs.compiler.frontend.precision import report_lost_bits
from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.ir.builder import SYMBOLS
from cuda_graphs.compiler.ir.types import bool_, i32

from .linear import matmul
from .lvalues import broadcast
from .numbers import Number, calculate, loses_bits, negate
from .operators import on_structs, unary_on_struct
from .static_loops import MAX_UNROLLED


def arithmetic(frame: Frame, operator: str, a: Any, b: Any) -> Any:
    """Return a binary operator on scalars, by component on vectors, or `@` on matrices.

    The result on numbers of the source is Computed.
    """
    loc, exact = frame.builder.loc, calculate(frame, operator, a, b)
    if exact is None:
        return typed_binary(frame, loc, operator, a, b)
    loses = loses_bits(frame, exact) and not any(isinstance(each, Computed) and each.loses for each in (a, b))
    return computed(frame, exact, lambda: typed_binary(frame, loc, operator, a, b), loses)


def computed(frame: Frame, exact: Number, typed: Callable[[], Any], loses: bool = False) -> Computed:
    """Return the result of arithmetic on numbers of the source. `typed` is the same as the op table defines it.

    A float keeps its digits beside an f64, as a literal does.
    """
    loc = frame.builder.loc

    def constant() -> Any:
        frame.builder.loc = loc
        if isinstance(exact, float):
            return ir.Const(exact, frame.rules.float, loc)
        if loses:
            report_lost_bits(frame, exact)
        return typed()

    return Computed(exact, constant, loses)


def typed_binary(frame: Frame, loc: ir.Loc | None, operator: str, a: Any, b: Any) -> Any:
    """Return a binary operator on operands with types. Numbers of the source get their types."""
    frame.builder.loc = loc
    a, b = frame.read(a), frame.read(b)
    if isinstance(a, Struct) or isinstance(b, Struct):
        found = on_structs(frame, operator, a, b)
        if found is not None:
            return found
    if operator == "MatMult":
        return matmul(frame, a, b)
    if isinstance(a, tuple) and operator == "Add" and isinstance(b, tuple):
        return a + b
    if isinstance(a, tuple) and operator == "Mult" and is_count(b):
        return repeated(frame, a, int(b.value))
    if isinstance(a, Vector) or isinstance(b, Vector):
        return broadcast(frame, lambda x, y: frame.builder.binary(operator, x, y), a, b)
    return frame.builder.binary(operator, *operands(frame, operator, a, b))


def is_count(found: Any) -> bool:
    """Return whether a value is an integer that is known when compiling."""
    return isinstance(found, ir.Const) and found.type.kind in ("int", "uint")


def repeated(frame: Frame, parts: tuple[Any, ...], count: int) -> tuple[Any, ...]:
    """Return the tuple of `[a, b] * count`."""
    if len(parts) * count > MAX_UNROLLED:
        raise compile_error(
            CompileValueError, frame.builder.loc, f"a list of {len(parts) * count} items", "use an array"
        )
    return parts * count


def operands(frame: Frame, operator: str, a: Any, b: Any) -> tuple[ir.Value, ir.Value]:
    for found in (a, b):
        if not isinstance(found, ir.Value):
            raise unsupported(frame, operator, found)
    return a, b


def unsupported(frame: Frame, operator: str, found: Any) -> CompileError:
    """Return the error of an operator on a value that is no number."""
    symbol = SYMBOLS[operator]
    remedy = "take an element: x[i]" if isinstance(found, ir.Array) else remedy_of_operand(symbol, found)
    if isinstance(found, Struct):
        remedy = f"give {found.cls.__name__} the special method of the operator, such as __add__"
    return compile_error(
        CompileTypeError, frame.builder.loc, f"unsupported operand for {symbol}: {describe(found)}", remedy
    )


def binary(frame: Frame, node: ast.BinOp) -> Any:
    left, right = frame.in_order([node.left, node.right], frame.visit_number)
    return arithmetic(frame, type(node.op).__name__, left, right)


def unary(frame: Frame, node: ast.UnaryOp) -> Any:
    found = frame.visit_number(node.operand)
    if isinstance(node.op, ast.USub) and isinstance(found, (int, float)) and not isinstance(found, bool):
        return -found  # makes -2147483648 an i32
    exact = negate(node.op, found)
    if exact is not None:
        return computed(frame, exact, lambda: typed_unary(frame, node, found))
    return typed_unary(frame, node, found)


def typed_unary(frame: Frame, node: ast.UnaryOp, found: Any) -> Any:
    """Return a unary operator on an operand with a type."""
    frame.at(node)
    value = frame.read(found)
    own = unary_on_struct(frame, type(node.op).__name__, value)
    if own is not None:
        return own
    return (
        value.map(lambda part: unary_scalar(frame, node, part))
        if isinstance(value, Vector)
        else unary_scalar(frame, node, value)
    )


def unary_scalar(frame: Frame, node: ast.UnaryOp, found: Any) -> ir.Value:
    builder, value = frame.builder, frame.scalar(found)
    if isinstance(node.op, ast.Not):
        return builder.op("not", builder.truth(value, "the operand of not"))
    if value.type == bool_:
        if isinstance(node.op, ast.Invert):  # as in NumPy
            return builder.op("not", value)
        value = builder.cast(value, i32)
    if isinstance(node.op, ast.UAdd):
        return value
    if isinstance(node.op, ast.Invert):
        builder.require_integers("Invert", value)
        return builder.op("bit_not", value)
    if value.type.kind == "float":
        return builder.op("neg", value)
    return builder.negated(value)
