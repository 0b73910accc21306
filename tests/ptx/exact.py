# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Floating point arithmetic from its definition: compute exactly on integers, round once.

A finite number is (sign, m, e) with value (-1)**sign * m * 2**e, m >= 0. An operation gives such a number and `sticky`,
which says that the true value lies strictly between m and m + 1 units of 2**e. `Format.round` turns that into bits by
any of the four directions. Nothing here uses the floating point unit, so it can be the judge of every one.
"""

from dataclasses import dataclass
from math import isqrt

import numpy as np

MODES = ("rn", "rz", "rm", "rp")


@dataclass(frozen=True)
class Number:
    sign: int
    m: int
    e: int


@dataclass(frozen=True)
class Format:
    """`p` is the length of the significand with its hidden bit."""

    name: str
    bits: int
    p: int

    @property
    def bias(self) -> int:
        return (1 << (self.bits - self.p - 1)) - 1

    @property
    def fraction_bits(self) -> int:
        return self.p - 1

    @property
    def least_exponent(self) -> int:
        """The exponent of the unit in the last place of subnormals."""
        return 1 - self.bias - self.fraction_bits

    @property
    def sign_bit(self) -> int:
        return 1 << (self.bits - 1)

    @property
    def infinity(self) -> int:
        return ((1 << (self.bits - self.p)) - 1) << self.fraction_bits

    @property
    def nan(self) -> int:
        return self.infinity | 1 << (self.fraction_bits - 1)

    @property
    def greatest(self) -> int:
        return self.infinity - 1

    def is_nan(self, bits: int) -> bool:
        return bits & ~self.sign_bit > self.infinity

    def is_infinite(self, bits: int) -> bool:
        return bits & ~self.sign_bit == self.infinity

    def is_zero(self, bits: int) -> bool:
        return bits & ~self.sign_bit == 0

    def sign(self, bits: int) -> int:
        return bits >> (self.bits - 1)

    def flush(self, bits: int) -> int:
        """Subnormals become zeros of their sign."""
        return bits & self.sign_bit if bits & self.infinity == 0 else bits

    def number(self, bits: int) -> Number:
        exponent = (bits & self.infinity) >> self.fraction_bits
        fraction = bits & ((1 << self.fraction_bits) - 1)
        if exponent == 0:
            return Number(self.sign(bits), fraction, self.least_exponent)
        return Number(self.sign(bits), fraction | 1 << self.fraction_bits, self.least_exponent + exponent - 1)

    def round(self, value: Number, sticky: bool = False, mode: str = "rn") -> int:
        sign = value.sign << (self.bits - 1)
        # Two more bits than any significand has, so that what is cut is known as: nothing, less, half, more.
        m, e = value.m << 2 | sticky, value.e - 2
        if m == 0:
            return sign
        drop = max(m.bit_length() - self.p, self.least_exponent - e)
        if drop <= 0:
            assert not sticky, "a sticky value must come with enough bits"
            kept, half, rest = m << -drop, False, False
        else:
            kept = m >> drop
            half = bool(m >> (drop - 1) & 1)
            rest = bool(m & ((1 << (drop - 1)) - 1))
        if (
            (mode == "rn" and half and (rest or kept & 1))
            or (mode == "rp" and not value.sign and (half or rest))
            or (mode == "rm" and value.sign and (half or rest))
        ):
            kept += 1
        # The encoding grows by one where the significand carries into the exponent.
        exponent = e + drop - self.least_exponent
        found = kept + (exponent << self.fraction_bits) if kept >> self.fraction_bits else kept
        if found >= self.infinity:
            to_infinity = mode == "rn" or (mode == "rp" and not value.sign) or (mode == "rm" and value.sign)
            found = self.infinity if to_infinity else self.greatest
        return sign | found


@dataclass(frozen=True)
class Flushing(Format):
    """Results of .ftz: a result below the least normal number becomes a zero of its sign *before* it is rounded.

    The result 2**-126 * (1 - 2**-24), which would round up to the normal 2**-126, is 0. An H200 does so for mul and fma
    of f32, in every direction, and of f16. (No input of the table asks it about exact results between that and 2**-126,
    where flushing after rounding to 24 bits of any exponent would give 2**-126; nor about such quotients.)
    """

    def round(self, value: Number, sticky: bool = False, mode: str = "rn") -> int:
        if super().round(value, sticky, "rz") & self.infinity == 0:
            return value.sign << (self.bits - 1)
        return super().round(value, sticky, mode)

    @classmethod
    def of(cls, f: Format) -> "Flushing":
        return cls(f.name, f.bits, f.p)


F16 = Format("f16", 16, 11)
BF16 = Format("bf16", 16, 8)
F32 = Format("f32", 32, 24)
F64 = Format("f64", 64, 53)
FORMATS = {f.name: f for f in (F16, BF16, F32, F64)}


def sum_of(x: Number, y: Number, mode: str) -> Number:
    e = min(x.e, y.e)
    total = (-1) ** x.sign * (x.m << (x.e - e)) + (-1) ** y.sign * (y.m << (y.e - e))
    if total == 0:
        # A sum that cancels is +0, except towards minus infinity; equal signs keep theirs.
        return Number(x.sign if x.sign == y.sign else int(mode == "rm"), 0, e)
    return Number(int(total < 0), abs(total), e)


def product_of(x: Number, y: Number) -> Number:
    return Number(x.sign ^ y.sign, x.m * y.m, x.e + y.e)


def add(f: Format, mode: str, a: int, b: int) -> int:
    if f.is_nan(a) or f.is_nan(b) or (f.is_infinite(a) and f.is_infinite(b) and a != b):
        return f.nan
    if f.is_infinite(a) or f.is_infinite(b):
        return a if f.is_infinite(a) else b
    return f.round(sum_of(f.number(a), f.number(b), mode), mode=mode)


def sub(f: Format, mode: str, a: int, b: int) -> int:
    return add(f, mode, a, b ^ f.sign_bit)


def mul(f: Format, mode: str, a: int, b: int) -> int:
    if f.is_nan(a) or f.is_nan(b):
        return f.nan
    if f.is_infinite(a) or f.is_infinite(b):
        return f.nan if f.is_zero(a) or f.is_zero(b) else (a ^ b) & f.sign_bit | f.infinity
    return f.round(product_of(f.number(a), f.number(b)), mode=mode)


def fma(f: Format, mode: str, a: int, b: int, c: int) -> int:
    if any(map(f.is_nan, (a, b, c))):
        return f.nan
    if f.is_infinite(a) or f.is_infinite(b):
        if f.is_zero(a) or f.is_zero(b):
            return f.nan
        return add(f, mode, (a ^ b) & f.sign_bit | f.infinity, c)
    if f.is_infinite(c):
        return c
    return f.round(sum_of(product_of(f.number(a), f.number(b)), f.number(c), mode), mode=mode)


def div(f: Format, mode: str, a: int, b: int) -> int:
    sign = (a ^ b) & f.sign_bit
    if f.is_nan(a) or f.is_nan(b):
        return f.nan
    if f.is_infinite(a) or f.is_zero(b):
        both = (f.is_infinite(a) and f.is_infinite(b)) or (f.is_zero(a) and f.is_zero(b))
        return f.nan if both else sign | f.infinity
    if f.is_infinite(b) or f.is_zero(a):
        return sign
    x, y = f.number(a), f.number(b)
    shift = f.p + 2 + max(0, y.m.bit_length() - x.m.bit_length())
    quotient, rest = divmod(x.m << shift, y.m)
    return f.round(Number(x.sign ^ y.sign, quotient, x.e - y.e - shift), rest != 0, mode)


def sqrt(f: Format, mode: str, a: int) -> int:
    if f.is_nan(a) or (f.sign(a) and not f.is_zero(a)):
        return f.nan
    if f.is_infinite(a) or f.is_zero(a):
        return a
    x = f.number(a)
    shift = 2 * f.p + 4 + (x.e & 1)
    m, e = x.m << shift, x.e - shift
    root = isqrt(m)
    return f.round(Number(0, root, e // 2), root * root != m, mode)


def convert(source: Format, target: Format, mode: str, a: int) -> int:
    if source.is_nan(a):
        return target.nan
    sign = source.sign(a) << (target.bits - 1)
    if source.is_infinite(a):
        return sign | target.infinity
    return target.round(source.number(a), mode=mode)


def from_integer(target: Format, mode: str, a: int) -> int:
    return target.round(Number(int(a < 0), abs(a), 0), mode=mode)


def integral(f: Format, mode: str, a: int) -> tuple[int, int]:
    """(sign, magnitude) of a finite number rounded to an integer."""
    x = f.number(a)
    if x.e >= 0:
        return x.sign, x.m << x.e
    kept, rest = x.m >> -x.e, x.m & ((1 << -x.e) - 1)
    half = 1 << (-x.e - 1)
    if (
        (mode == "rn" and (rest > half or (rest == half and kept & 1)))
        or (mode == "rp" and not x.sign and rest)
        or (mode == "rm" and x.sign and rest)
    ):
        kept += 1
    return x.sign, kept


def round_to_integral(f: Format, mode: str, a: int) -> int:
    """cvt.rni and the like to the same float type: -0.25 becomes -0."""
    if f.is_nan(a):
        return f.nan
    if f.is_infinite(a):
        return a
    sign, m = integral(f, mode, a)
    return f.round(Number(sign, m, 0))


def to_integer(f: Format, mode: str, a: int, low: int, high: int) -> int:
    """Clamped to the range; NaN is 0. (What PTX says of NaN depends on the width; table.py knows.)"""
    if f.is_nan(a):
        return 0
    if f.is_infinite(a):
        return low if f.sign(a) else high
    sign, m = integral(f, mode, a)
    return min(max(-m if sign else m, low), high)


def saturate(f: Format, a: int) -> int:
    """Clamped to [+0, 1]; NaN is +0."""
    one = f.bias << f.fraction_bits
    return 0 if f.is_nan(a) or f.sign(a) else min(a, one)


def elementwise(operation, out: np.dtype, *arrays: np.ndarray) -> np.ndarray:
    """`operation` on the bits of each element, as Python integers."""
    columns = [a.view(np.dtype(f"u{a.dtype.itemsize}")).tolist() for a in arrays]
    found = [operation(*values) for values in zip(*columns, strict=True)]
    return np.array(found, dtype=np.dtype(f"u{np.dtype(out).itemsize}")).view(out)


def integers(operation, out: np.dtype, *arrays: np.ndarray) -> np.ndarray:
    """`operation` on each element as a Python integer of its sign; the result wraps to the width of `out`."""
    out = np.dtype(out)
    mask = (1 << (8 * out.itemsize)) - 1
    found = [int(operation(*values)) & mask for values in zip(*(a.tolist() for a in arrays), strict=True)]
    return np.array(found, dtype=np.dtype(f"u{out.itemsize}")).view(out)


def minimum(f: Format, a: int, b: int) -> int:
    """The number where one operand is NaN; -0 is less than +0."""
    if f.is_nan(a) or f.is_nan(b):
        return b if f.is_nan(a) else a
    return min(a, b, key=lambda v: -(v & ~f.sign_bit) if f.sign(v) else (v + 1))


def maximum(f: Format, a: int, b: int) -> int:
    return minimum(f, a ^ f.sign_bit, b ^ f.sign_bit) ^ f.sign_bit
