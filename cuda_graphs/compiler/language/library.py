# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Functions of the language that are written in it. Calls are inlined like those of users, and accept vectors."""

from __future__ import annotations

import math
from typing import Any

from cuda_graphs.compiler.ir.types import f64, i32, i64, u64

from . import intrinsics as cg

__all__ = ["clamp", "degrees", "fract", "frexp", "mix", "mod", "radians", "smoothstep", "step"]

# Numbers with full precision, whatever type they meet.
CONSTANTS = ("e", "inf", "nan", "pi")
e, inf, nan, pi = math.e, math.inf, math.nan, math.pi

# Degrees per radian and radians per degree. Captured constants have full precision in any type.
DEGREES, RADIANS = 180.0 / math.pi, math.pi / 180.0
TURN = 2.0 * math.pi
# frexp raises numbers below SMALL, among which are those with fewer bits, by a power of two.
SMALL, RAISED_BY = 2.0**-900, 54
RAISE = 2.0**RAISED_BY
BIAS, EXPONENT_BITS, FRACTION_BITS = 1023, 2047, 52  # of the format f64


@cg.func
def clamp(x: Any, low: Any, high: Any) -> Any:
    """Return x limited to the range from low to high."""
    return min(max(x, low), high)


@cg.func
def mix(a: Any, b: Any, t: Any) -> Any:
    """Return the linear interpolation between a, at t = 0, and b, at t = 1."""
    return a * (1.0 - t) + b * t


@cg.func
def mod(x: Any, y: Any) -> Any:
    """Return x % y: the remainder of x, with the sign of y."""
    return x % y


@cg.func
def fract(x: Any) -> Any:
    """Return x - floor(x)."""
    return x - cg.floor(x)


@cg.func
def frexp(x: Any) -> Any:
    """Return (m, e) with x = m * 2 ** e and 0.5 <= abs(m) < 1, where e is an i32; (x, 0) for 0, infinities and NaN."""
    # frontend/calls/float_parts.py gives x as an f64, which is exact, and m the type of x.
    is_small = abs(x) < SMALL
    raised = cg.select(is_small, x * RAISE, x)
    e = cg.cast((cg.bit_cast(raised, u64) >> FRACTION_BITS) & EXPONENT_BITS, i32) - (BIAS - 1)
    is_finite = e != EXPONENT_BITS - (BIAS - 1)
    # The power of two is that of 2 - e: the numbers 2 ** -e would need two exponents more than f64 has.
    power = cg.bit_cast(cg.cast(BIAS + 2 - e, i64) << FRACTION_BITS, f64)
    m = cg.select(is_finite and x != 0.0, raised * 0.25 * power, x)
    return m, cg.select(is_finite and x != 0.0, e - cg.select(is_small, RAISED_BY, 0), 0)


@cg.func
def step(edge: Any, x: Any) -> Any:
    """Return 0.0 where x is below the edge, else 1.0."""
    return cg.select(x < edge, 0.0, 1.0)


@cg.func
def smoothstep(low: Any, high: Any, x: Any) -> Any:
    """Return a smooth step from 0, at low, to 1, at high, with no slope at either end."""
    t = min(max((x - low) / (high - low), 0.0), 1.0)
    return t * t * (3.0 - 2.0 * t)


@cg.func
def degrees(x: Any) -> Any:
    """Return radians as degrees."""
    return x * DEGREES


@cg.func
def radians(x: Any) -> Any:
    """Return degrees as radians."""
    return x * RADIANS


@cg.func
def normal_number(dtype: Any) -> Any:
    """Return a random number of the normal distribution, by the formula of Box and Muller (1958)."""
    u = 1.0 - cg.random(dtype)  # from 0, which has no logarithm, to 1
    return cg.sqrt(-2.0 * cg.log(u)) * cg.cos(TURN * cg.random(dtype))


@cg.func
def integer_below(count: Any) -> Any:
    """Return a random integer below a count that is at most 2**32: the high bits of its product with 64 random bits."""
    bits = cg.random(u64)
    low, high = (bits << 32) >> 32, bits >> 32
    return (((low * count) >> 32) + high * count) >> 32


@cg.func
def long_integer_below(count: Any) -> Any:
    """Return a random integer below any count."""
    return cg.random(u64) % count


@cg.func
def fill_array(x: Any, value: Any) -> None:
    """Assign a value to all elements of an array: `x.fill(0)`. A number is assigned to all components of vectors."""
    for place in cg.grouped(x):
        x[place] = value
