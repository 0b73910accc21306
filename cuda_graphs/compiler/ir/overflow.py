# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Conditions under which an integer operation has the result of arithmetic without a limit, for kernels with debug.

The operations of the op table wrap. Each condition uses such operations only, so all targets agree on it.
"""

from __future__ import annotations

from collections.abc import Callable

from . import ir
from .types import ScalarType

__all__ = ["FITS", "absolute_fits", "cast_fits"]

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


def quotient_fits(op: Op, a: ir.Value, b: ir.Value, result: ir.Value) -> ir.Value:
    """Return whether a quotient fits: only the lowest number divided by -1 does not."""
    type = a.type
    if type.kind == "uint":
        return ir.TRUE
    is_lowest = op("equal", a, const(type.minimum, type))
    return op("not", op("bit_and", is_lowest, op("equal", b, const(-1, type))))


def power_fits(op: Op, a: ir.Value, b: ir.Value, result: ir.Value) -> ir.Value:
    """Return whether a ** b fits: each product of the repeated squaring does, of which the last one is the result."""
    type = a.type
    fits: ir.Value = ir.TRUE
    power: ir.Value = const(1, type)
    square = a
    for bit in range(type.bits.bit_length() - 1):
        is_set = op("not_equal", op("bit_and", b, const(1 << bit, type)), const(0, type))
        longer = op("mul", power, square)
        one_fits = mul_fits(op, power, square, longer)
        fits = op("bit_and", fits, op("bit_or", op("not", is_set), one_fits))
        power = op("select", is_set, longer, power)
        next_square = op("mul", square, square)
        is_last = op("less", b, const(1 << (bit + 1), type)) if 1 << (bit + 1) <= type.maximum else ir.TRUE
        fits = op("bit_and", fits, op("bit_or", is_last, mul_fits(op, square, square, next_square)))
        square = next_square
    is_small = op("less", a, const(2, type))
    if type.kind == "int":
        is_small = op("bit_and", is_small, op("less", const(-2, type), a))
        is_small = op(
            "bit_or", is_small, op("less", b, const(0, type))
        )  # a negative power is no large number
    return op("bit_or", is_small, op("bit_and", fits, op("less", b, const(type.bits, type))))


def absolute_fits(op: Op, value: ir.Value) -> ir.Value | None:
    """Return whether the absolute value fits: that of the lowest number does not. None if all values fit."""
    type = value.type
    return op("not_equal", value, const(type.minimum, type)) if type.kind == "int" else None


# Operation of the op table -> the condition, from the operands and the result.
FITS: dict[str, Callable[[Op, ir.Value, ir.Value, ir.Value], ir.Value]] = {
    "add": add_fits,
    "sub": sub_fits,
    "mul": mul_fits,
    "shift_left": shift_left_fits,
    "shift_right": shift_right_fits,
    "floor_div": quotient_fits,
    "trunc_div": quotient_fits,
    "int_pow": power_fits,
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
