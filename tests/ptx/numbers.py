# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Exact reference arithmetic on floating point formats: values are Fractions, rounding is by definition and not by any
machine. Slow, and independent of everything that is tested with it."""

from fractions import Fraction
from math import isqrt

import numpy as np

# name -> (bits, exponent bits, fraction bits, array type of the bits)
FORMATS = {
    "f16": (16, 5, 10, np.uint16),
    "bf16": (16, 8, 7, np.uint16),
    "f32": (32, 8, 23, np.uint32),
    "f64": (64, 11, 52, np.uint64),
}


def decode(word: int, name: str) -> Fraction | None:
    """The value of a bit pattern, or None for NaN and infinities."""
    bits, exponent_bits, fraction_bits, _ = FORMATS[name]
    fraction = word & ((1 << fraction_bits) - 1)
    exponent = word >> fraction_bits & ((1 << exponent_bits) - 1)
    if exponent == (1 << exponent_bits) - 1:
        return None
    bias = (1 << exponent_bits - 1) - 1
    if exponent:
        value = Fraction((1 << fraction_bits) + fraction) * Fraction(2) ** (exponent - bias - fraction_bits)
    else:
        value = Fraction(fraction) * Fraction(2) ** (1 - bias - fraction_bits)
    return -value if word >> (bits - 1) else value


def encode(value: Fraction, name: str, mode: str, *, negative_zero: bool = False) -> int:
    """The bit pattern of a value rounded by rn, rz, rm or rp; an exact zero takes the given sign."""
    bits, exponent_bits, fraction_bits, _ = FORMATS[name]
    sign = 1 if value < 0 or (value == 0 and negative_zero) else 0
    bias = (1 << exponent_bits - 1) - 1
    size = abs(value)
    lowest = 1 - bias - fraction_bits
    exponent = lowest
    if size:
        guess = size.numerator.bit_length() - size.denominator.bit_length()
        while size >= Fraction(2) ** (guess + 1):
            guess += 1
        while size < Fraction(2) ** guess:
            guess -= 1
        exponent = max(guess - fraction_bits, lowest)
    scaled = size / Fraction(2) ** exponent
    whole, rest = divmod(scaled.numerator, scaled.denominator)
    rest = Fraction(rest, scaled.denominator)
    half = Fraction(1, 2)
    up = {
        "rn": rest > half or (rest == half and whole & 1),
        "rz": False,
        "rm": bool(sign) and rest > 0,
        "rp": not sign and rest > 0,
    }[mode]
    word = whole + bool(up)
    if word >= 1 << fraction_bits:  # a normal number; the carry into the exponent comes by itself
        word += (exponent - lowest) << fraction_bits
    infinity = ((1 << exponent_bits) - 1) << fraction_bits
    if word >= infinity:
        to_infinity = mode == "rn" or (mode == "rm" and sign) or (mode == "rp" and not sign)
        word = infinity if to_infinity else infinity - 1
    return sign << (bits - 1) | word


def square_root(value: Fraction, extra: int = 200) -> Fraction:
    """Near enough for any rounding here: exact when the root is rational, else never a tie."""
    top, bottom = value.numerator, value.denominator
    if isqrt(top) ** 2 == top and isqrt(bottom) ** 2 == bottom:
        return Fraction(isqrt(top), isqrt(bottom))
    scale = 1 << (2 * (extra + bottom.bit_length()))
    return Fraction(2 * isqrt(top * bottom * scale) + 1, 2 * bottom) / isqrt(scale)


def words(array: np.ndarray, name: str) -> np.ndarray:
    return np.ascontiguousarray(array).view(FORMATS[name][3])


def bfloat_to_float(bits: np.ndarray) -> np.ndarray:
    return (bits.astype(np.uint32) << 16).view(np.float32)


def widen(array: np.ndarray, name: str) -> np.ndarray:
    """As float64, exactly."""
    return (bfloat_to_float(array) if name == "bf16" else array).astype(np.float64)


def rounded(
    name: str, mode: str, specials: np.ndarray, compute, *arrays: tuple[np.ndarray, str]
) -> np.ndarray:
    """Element by element: compute(fractions) -> (Fraction, sign of an exact zero), or None where `specials`, a result
    in float64 that is NaN, an infinity or a zero, says it all. Returns an array of the format's type."""
    bits = np.empty(len(specials), FORMATS[name][3])
    columns = [words(array, kind) for array, kind in arrays]
    for i, row in enumerate(zip(*columns, strict=True)):
        values = [decode(int(word), kind) for word, (_, kind) in zip(row, arrays, strict=True)]
        found = None if None in values else compute(*values, *(int(word) for word in row))
        bits[i] = (
            _special(float(specials[i]), name)
            if found is None
            else encode(found[0], name, mode, negative_zero=found[1])
        )
    return bits if name == "bf16" else bits.view(array_type(name))


def array_type(name: str) -> type:
    return {"f16": np.float16, "f32": np.float32, "f64": np.float64, "bf16": np.uint16}[name]


def _special(value: float, name: str) -> int:
    bits, exponent_bits, fraction_bits, _ = FORMATS[name]
    infinity = ((1 << exponent_bits) - 1) << fraction_bits
    if np.isnan(value):
        return infinity | 1 << fraction_bits - 1
    assert value == 0 or np.isinf(value), value
    return int(np.signbit(value)) << bits - 1 | (infinity if value else 0)
