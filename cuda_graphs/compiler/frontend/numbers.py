# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Exact arithmetic on numbers of the source, and of names that are known when compiling.

In an expression of its own such a number is an i32 or f32, and the op table says what becomes of it: `1 << 31` wraps. A
conversion takes what Python computes, so `cg.i64(2**40)` is exact, and `cg.i32(2**40)` refused, as a literal is. The op
table decides where Python has no result (a division by 0, a root of -1).
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np

from ..builder import SYMBOLS
from ..errors import CompileLiteralError, fail
from .functions import Frame
from .values import Computed, Static

Number = int | float

MOST_BITS = 1024  # of an integer of which there is a power or a shift

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
    """A number without a type of the language; None of all else. A bool is not meant as a number."""
    if isinstance(found, Computed):
        return found.exact
    found = found.value if isinstance(found, Static) else found
    if isinstance(found, (bool, np.bool_)):
        return None
    if isinstance(found, (int, np.integer)):
        return int(found)
    return float(found) if isinstance(found, (float, np.floating)) else None


def calculate(frame: Frame, name: str, a: Any, b: Any) -> Number | None:
    """The exact result of the operator of that name in `ast`; None where an operand is no number of the source, or
    Python has no result."""
    left, right = number_of(a), number_of(b)
    if left is None or right is None:
        return None
    function: Callable[[Any, Any], Any] | None = FLOATS.get(name)
    if isinstance(left, int) and isinstance(right, int):
        function = None if name == "Pow" and right < 0 else INTEGERS.get(name)
        if name in ("Pow", "LShift"):
            check_size(frame, name, left, right)
    if function is None:
        return None
    with suppress(ArithmeticError, ValueError):
        found = function(left, right)
        return None if isinstance(found, complex) else found
    return None


def check_size(frame: Frame, name: str, a: int, b: int) -> None:
    """Refuse a power or a shift that would take long to compute, and that no type holds."""
    bits = a.bit_length() * b if name == "Pow" else a.bit_length() + b
    grows = abs(a) > 1 if name == "Pow" else a != 0
    if grows and bits > MOST_BITS:
        raise fail(
            CompileLiteralError, frame.builder.loc, f"{a} {SYMBOLS[name]} {b} is not a value of any type",
            "compute it with floats: 2.0 ** n",
        )  # fmt: skip


def negate(operator: ast.unaryop, found: Any) -> Number | None:
    """The exact result of an operator of one number; None as in `calculate`."""
    value, function = number_of(found), UNARY.get(type(operator))
    if value is None or function is None or (isinstance(value, float) and isinstance(operator, ast.Invert)):
        return None
    return function(value)
