# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Exact arithmetic on numbers of the source and on names that are known at compile time.

An ordinary operation takes such a number as an i32 or f32, and the op table defines the result: `1 << 31` wraps, and a
result that loses bits is reported. A conversion, and an assignment to a name, element or member of another type, use
Python's exact result. Therefore `cg.i64(2**40)` is exact, and `cg.i32(2**40)` is refused like a literal. The op table
decides where Python has no result (a division by 0, a root of -1).
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from cuda_graphs.compiler.errors import CompileLiteralError, compile_error
from cuda_graphs.compiler.frontend.frame.frame import Frame
from cuda_graphs.compiler.frontend.frame.values import Computed, Static
from cuda_graphs.compiler.frontend.precision import convert_implicitly, keeps, report
from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.ir.builder import SYMBOLS
from cuda_graphs.compiler.ir.ops import OPS, evaluate
from cuda_graphs.compiler.ir.scalars import scalar
from cuda_graphs.compiler.ir.types import ScalarType, bool_, f64

Number = int | float

MAX_BITS = 1024  # the most bits of an integer that is a power or a shift

INTEGERS: dict[str, Callable[[int, int], Number]] = {
    "Add": operator.add, "Sub": operator.sub, "Mult": operator.mul, "Div": operator.truediv,
    "FloorDiv": operator.floordiv, "Mod": operator.mod, "Pow": operator.pow, "LShift": operator.lshift,
    "RShift": operator.rshift, "BitAnd": operator.and_, "BitOr": operator.or_, "BitXor": operator.xor,
}  # fmt: skip
FLOATS: dict[str, Callable[[float, float], Any]] = {
    "Add": operator.add, "Sub": operator.sub, "Mult": operator.mul, "Div": operator.truediv, "Pow": operator.pow,
}  # fmt: skip
UNARY: dict[type[ast.unaryop], Callable[[Any], Number]] = {
    ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Invert: operator.invert,
}  # fmt: skip


def number_of(found: Any) -> Number | None:
    """Return a number that has no type of the language yet, or None for other values. A bool is not a number here."""
    if isinstance(found, Computed):
        return found.exact
    found = found.value if isinstance(found, Static) else found
    if isinstance(found, (bool, np.bool_)):
        return None
    if isinstance(found, (int, np.integer)):
        return int(found)
    return float(found) if isinstance(found, (float, np.floating)) else None


def calculate(frame: Frame, name: str, a: Any, b: Any) -> Number | None:
    """Return the exact result of an operator, given by its class name in `ast`.

    Returns None if an operand is not a number of the source, or if Python has no result.
    """
    left, right = number_of(a), number_of(b)
    if left is None or right is None:
        return None
    function: Callable[[Any, Any], Any] | None = FLOATS.get(name)
    if isinstance(left, int) and isinstance(right, int):
        is_quotient = name == "Pow" and right < 0
        function = None if is_quotient and not frame.rules.lenient else INTEGERS.get(name)
        if name in ("Pow", "LShift"):
            check_size(frame, name, left, right)
    if function is None:
        return None
    with suppress(ArithmeticError, ValueError):
        found = function(left, right)
        return None if isinstance(found, complex) else found
    return None


def calculate_function(name: str, args: Sequence[Any]) -> float | None:
    """Return the exact result of a function of floats, a row of the op table. None as for `calculate`, and for inf."""
    numbers = [number_of(each) for each in args]
    if None in numbers or "float" not in OPS[name].kinds:
        return None
    with suppress(ArithmeticError, ValueError), np.errstate(all="ignore"):
        found = evaluate(
            name, (f64,) * len(numbers), tuple(scalar(each, f64) for each in numbers), f64
        ).item()
        return found if np.isfinite(found) else None
    return None


def check_size(frame: Frame, name: str, a: int, b: int) -> None:
    """Raise for a power or a shift that takes long to compute and that no type holds."""
    bits = a.bit_length() * b if name == "Pow" else a.bit_length() + b
    grows = abs(a) > 1 if name == "Pow" else a != 0
    if grows and bits > MAX_BITS:
        raise compile_error(
            CompileLiteralError, frame.builder.loc, f"{a} {SYMBOLS[name]} {b} is not a value of any type",
            "compute it with floats: 2.0 ** n",
        )  # fmt: skip


def negate(operator: ast.unaryop, found: Any) -> Number | None:
    """Return the exact result of a unary operator, or None as `calculate` does."""
    value, function = number_of(found), UNARY.get(type(operator))
    if value is None or function is None or (isinstance(value, float) and isinstance(operator, ast.Invert)):
        return None
    return function(value)


def is_source_number(value: Any) -> bool:
    """Return whether a value is a number that only the source gives, so that its type is weak."""
    return isinstance(value, Computed) or type(value) in (bool, int, float)


def source_type(frame: Frame, value: Any) -> ScalarType:
    """Return the type that a number of the source has where nothing else decides it."""
    exact = exact_number(value)
    if isinstance(exact, bool):
        return bool_
    return frame.rules.int if isinstance(exact, int) else frame.rules.float


def loses_bits(frame: Frame, exact: Number) -> bool:
    """Return whether the type of integers of the source has fewer bits than a number. The sign bit may be one of them,
    as in `1 << 31`."""
    type = frame.rules.int
    return isinstance(exact, int) and not type.minimum <= exact <= 2 * type.maximum + 1


def in_type(frame: Frame, place: str, value: Any, type: ScalarType) -> ir.Value:
    """Return a number of the source in the type of its place, exactly where that type holds it."""
    exact, usual = exact_constant(value, type), source_type(frame, value)
    if exact is None or type == usual:
        return convert_implicitly(frame, frame.scalar(value), type, place)
    number = exact_number(value)
    if type.kind == "float" and isinstance(number, int) and int(scalar(number, type)) != number:
        report(frame, usual, type, place)
    return exact


def exact_number(value: Any) -> Number:
    """Return a number of the source as Python computes it."""
    found: Number = value.exact if isinstance(value, Computed) else value
    return found


def exact_constant(value: Any, type: ScalarType) -> ir.Const | None:
    """Return a number of the source as a constant, rounded once. None if it is out of range or loses its fraction."""
    exact = exact_number(value)
    if isinstance(exact, bool) or (isinstance(exact, int) and exact.bit_length() >= MAX_BITS):
        return None
    if type.kind == "float":
        return ir.Const(float(exact), type) if keeps(ir.Const(float(exact), f64), type) else None
    is_held = (
        type.kind in ("int", "uint") and isinstance(exact, int) and type.minimum <= exact <= type.maximum
    )
    return ir.Const(exact, type) if is_held else None
