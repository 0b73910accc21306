# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Conditions under which an integer operation has the result of arithmetic without a limit, for kernels with debug.

The operations of the op table wrap. Each condition uses such operations only, so all targets agree on it.
"""

from __future__ import annotations

from collections.abc import Callable

from . import ir
from .types import ScalarType

__all__ = ["FITS", "cast_fits"]

Op = Callable[..., ir.Value]  # Builder.op


def const(value: float, type: ScalarType) -> ir.Const:
    return ir.Const(value, type)


def add_fits(op: Op, a: ir.Value, b: ir.Value, result: ir.Value) -> ir.Value:
    """Return whether a + b fits: of signed operands with one sign, the result has that sign."""
    if a.type.kind == "uint":
        return op("less_equal", a, result)
    changed = op("bit_and", op("bit_xor", a, result), op("bit_xor", b, result))
    return op("less_equal", const(0, a.type), changed)


def sub_fits(op: Op, a: ir.Value, b: ir.Value, result: ir.Value) -> ir.Value:
    """Return whether a - b fits: of signed operands with different signs, the result has the sign of a."""
    if a.type.kind == "uint":
        return op("less_equal", b, a)
    changed = op("bit_and", op("bit_xor", a, b), op("bit_xor", a, result))
    return op("less_equal", const(0, a.type), changed)


def mul_fits(op: Op, a: ir.Value, b: ir.Value, result: ir.Value) -> ir.Value:
    """Return whether a * b fits: the result divided by a is b. The divisors 0 and -1 are separate cases."""
    one, type = const(1, a.type), a.type
    special = op("equal", a, const(0, type))
    if type.kind == "int":
        lowest = op("equal", b, const(type.minimum, type))
        is_minus_one = op("equal", a, const(-1, type))
        special = op("bit_or", special, op("bit_and", is_minus_one, op("not", lowest)))
        is_divisor = op("bit_and", op("not", is_minus_one), op("not_equal", a, const(0, type)))
    else:
        is_divisor = op("not", special)
    quotient = op("trunc_div", result, op("select", is_divisor, a, one))
    return op("bit_or", special, op("bit_and", is_divisor, op("equal", quotient, b)))


def shift_left_fits(op: Op, a: ir.Value, b: ir.Value, result: ir.Value) -> ir.Value:
    """Return whether a << b fits: the count is from 0 to the number of bits - 1, and a shift back gives a."""
    type = a.type
    in_range = op("less", b, const(type.bits, type))
    if type.kind == "int":
        in_range = op("bit_and", in_range, op("less_equal", const(0, type), b))
    return op("bit_and", in_range, op("equal", op("shift_right", result, b), a))


def shift_right_fits(op: Op, a: ir.Value, b: ir.Value, result: ir.Value) -> ir.Value:
    """Return whether the count of a >> b is from 0 to the number of bits - 1."""
    in_range = op("less", b, const(a.type.bits, a.type))
    return (
        op("bit_and", in_range, op("less_equal", const(0, a.type), b)) if a.type.kind == "int" else in_range
    )


# Operation of the op table -> the condition, from the operands and the result.
FITS: dict[str, Callable[[Op, ir.Value, ir.Value, ir.Value], ir.Value]] = {
    "add": add_fits,
    "sub": sub_fits,
    "mul": mul_fits,
    "shift_left": shift_left_fits,
    "shift_right": shift_right_fits,
}


def cast_fits(op: Op, value: ir.Value, type: ScalarType) -> ir.Value | None:
    """Return whether an integer type holds a value, without its fraction; None if it holds every value."""
    given = value.type
    if type.kind not in ("int", "uint") or given.kind == "bool":
        return None
    if given.kind == "float":
        whole = op("trunc", value)
        below = op("less", whole, const(float(type.maximum + 1), given))
        return op("bit_and", below, op("less_equal", const(float(type.minimum), given), whole))
    low = None if given.minimum >= type.minimum else op("less_equal", const(type.minimum, given), value)
    high = None if given.maximum <= type.maximum else op("less_equal", value, const(type.maximum, given))
    return op("bit_and", low, high) if low is not None and high is not None else low if high is None else high
