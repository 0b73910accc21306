# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""IR of functions that compute the results of a GPU's special function unit, to the last bit: rcp rsqrt sqrt ex2 lg2
sin cos tanh of f32, and the upper words of rcp and rsqrt of f64.

The unit is a table and a multiplier (S. F. Oberman, M. Y. Siu: A High-Performance Area-Efficient Multifunction
Interpolator, ARITH-17, 2005). The upper bits of an argument's fraction select a parabola. The other 17 bits, `rest`,
are the position on it: c0 + c1 * rest + c2 * square(rest), truncated. Only the square is inexact: its sum of partial
products omits the columns of low weight. interpolator_table.py has the coefficients; c0 includes all other rounding.
With them every result equals that of an H200. tests/conformance/interpolator_fit.py found them by elimination: for each
coefficient, 2^16 or 2^17 arguments would show an error.

Arguments that need more than the interpolation take a branch that is marked as unlikely. That branch loads nothing, so
loops can still be vectorised.

    interpolator.NAME(x)          the unit's result; subnormal arguments and results are 0
    interpolator.NAME.gradual(x)  the result with subnormals: the argument is scaled, as NVIDIA's assembler does for
    sm_90
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from functools import cache
from typing import cast

from . import interpolator_table

INFINITY = 0x7F800000
INFINITY_64 = 0x7FF00000  # the upper word of a double
NAN = 0x7FFFFFFF  # the NaN that the unit returns; for a double, its upper word
SIGN = -(1 << 31)
HIDDEN = 1 << 23
FRACTION = HIDDEN - 1
POWER = INFINITY
REST = (1 << 17) - 1
TRUNCATE = -(1 << 29)  # mask of a double's bits that a float has too
UNLIKELY = "!prof !8"
# Floats as words, like the constants above.
OF_1, OF_126, OF_192, OF_2_TO_126 = 0x3F800000, 0x42FC0000, 0x43400000, 0x7E800000
ONE_TURN = 0.15915493667125702  # the float nearest to 1 / 2 pi


@dataclass(frozen=True)
class Unary:
    """A function of a float, as pieces of IR. Each piece defines the named values from %x and earlier pieces."""

    table: str
    usual: str  # defines %usual from %word.x: whether %bits is the result
    body: str  # defines %bits from %word
    rare: str  # defines %rare, the result when %usual is false
    scaled: str = ""  # defines %scaled, the argument to use for an unusual %x when subnormals count
    undone: str = ""  # defines %undone from %float, the function of %scaled

    def text(self, name: str, *, gradual: bool) -> str:
        return f"""define internal float @interpolator.{name}(float %x) alwaysinline nounwind {{
entry:
  %word.x = bitcast float %x to i32
{self.usual}{self._scale() if gradual else _AS_IT_IS}{self.body}  %float.usual = bitcast i32 %bits to float
  br i1 %usual, label %done, label %otherwise, {UNLIKELY}
otherwise:
{self.rare}  %float = bitcast i32 %rare to float
{self.undone if gradual else ""}  br label %done
done:
  %out = phi float [ %float.usual, %main ], [ {"%undone" if gradual else "%float"}, %otherwise ]
  ret float %out
}}"""

    def _scale(self) -> str:
        return f"""  br i1 %usual, label %main, label %scale, {UNLIKELY}
scale:
{self.scaled}  br label %main
main:
  %y = phi float [ %x, %entry ], [ %scaled, %scale ]
  %word = bitcast float %y to i32
"""


_AS_IT_IS = """  br label %main
main:
  %word = bitcast float %x to i32
"""


Row = tuple[int, int, int]  # c0 c1 c2
ROW = struct.Struct("<qii")


@cache
def rows(table: str) -> list[Row]:
    found = [
        tuple(int(number) for number in row.split()) for row in interpolator_table.TABLES[table].split(",")
    ]
    return cast("list[Row]", found)


def _high(place: int) -> int:
    """Returns the share of bits 6-16 of a position in its square.

    It has all products of bits 9-16, except that of bit 9 with itself. From the products of bits 6-8 with bit 9 + a it
    has the columns from 2^(7 - a) on.
    """
    high, low = place >> 3, (place & 7) << 4
    return (high * high >> 1) + sum(low >> 7 - a for a in range(1, 8) if high >> a & 1)


def _low(high: int, low: int) -> int:
    """Returns the share of the products of bits 2-5 with bits 13-16."""
    return sum(low >> 3 - a for a in range(4) if high >> a & 1)


@cache
def _places() -> dict[str, int]:
    """Returns the offsets of each function's rows in the constant, and of the two parts of squares."""
    places, end = {"high": 0, "low": 1 << 12}, (1 << 12) + (1 << 8)
    for name in interpolator_table.TABLES:
        places[name] = end
        end += ROW.size * len(rows(name))
    return places


@cache
def _constant() -> str:
    """Returns the IR of one constant with all tables, so that one register holds the address of all of them.

    %base is this address, but LLVM cannot know that. Otherwise, in the large code model, it would load a separate
    64-bit address for each access.
    """
    high = struct.pack("<2048H", *(_high(place) for place in range(1 << 11)))
    low = bytes(_low(place >> 4, place & 15) for place in range(1 << 8))
    packed = [ROW.pack(*row) for name in interpolator_table.TABLES for row in rows(name)]
    data = b"".join([high, low, *packed])
    text = "".join(f"\\{byte:02X}" for byte in data)
    return f"""
@interpolator = internal constant [{len(data)} x i8] c"{text}", align 16
@interpolator.zero = global i64 0
define internal ptr @interpolator.base() alwaysinline nounwind {{
  %zero = load i64, ptr @interpolator.zero, !invariant.load !0
  %base = getelementptr i8, ptr @interpolator, i64 %zero
  ret ptr %base
}}"""


@cache
def _at(name: str) -> str:
    """Returns a function that evaluates a row at a position, in the unit of the table.

    The square is the sum of the products bit i * bit j of weight 2^19 and more, in units of 2^19. Bits 0 and 1 add
    nothing.
    """
    first = _places()[name]
    return f"""
define internal i64 @interpolator.{name}.at(i32 %part, i32 %rest) alwaysinline nounwind {{
  %base = call ptr @interpolator.base()
  %row.32 = shl i32 %part, 4
  %row = zext i32 %row.32 to i64
  %row.at = getelementptr i8, ptr %base, i64 %row
  %start.at = getelementptr i8, ptr %row.at, i64 {first}
  %first.at = getelementptr i8, ptr %row.at, i64 {first + 8}
  %second.at = getelementptr i8, ptr %row.at, i64 {first + 12}
  %start = load i64, ptr %start.at, !invariant.load !0
  %first.32 = load i32, ptr %first.at, !invariant.load !0
  %second.32 = load i32, ptr %second.at, !invariant.load !0
  %high.32 = lshr i32 %rest, 6
  %high = zext i32 %high.32 to i64
  %high.at = getelementptr i16, ptr %base, i64 %high
  %most = load i16, ptr %high.at, !invariant.load !0
  %upper.9 = lshr i32 %rest, 9
  %upper = and i32 %upper.9, 240
  %lower.2 = lshr i32 %rest, 2
  %lower = and i32 %lower.2, 15
  %low.32 = or i32 %upper, %lower
  %low = zext i32 %low.32 to i64
  %low.base = getelementptr i8, ptr %base, i64 %low
  %low.at = getelementptr i8, ptr %low.base, i64 {_places()["low"]}
  %less = load i8, ptr %low.at, !invariant.load !0
  %most.64 = zext i16 %most to i64
  %less.64 = zext i8 %less to i64
  %square = add i64 %most.64, %less.64
  %first = sext i32 %first.32 to i64
  %second = sext i32 %second.32 to i64
  %place = zext i32 %rest to i64
  %linear = mul i64 %first, %place
  %curved = mul i64 %second, %square
  %sum = add i64 %start, %linear
  %value = add i64 %sum, %curved
  ret i64 %value
}}"""


# ---- functions whose result is the interpolation with another exponent ----


def _if_small(then: float, otherwise: float, name: str) -> str:
    """Returns IR that sets %name to `then` if %x is subnormal or 0, else to `otherwise`."""
    return f"""  %size.{name} = and i32 %word.x, {NAN}
  %small.{name} = icmp ult i32 %size.{name}, {HIDDEN}
  %{name} = select i1 %small.{name}, float {then}, float {otherwise}
"""


_SCALE_UP = _if_small(2.0**24, 1.0, "there") + "  %scaled = fmul float %x, %there\n"


def _scale_of_rcp(name: str) -> str:
    return f"""{_if_small(2.0**24, 1.0, "up." + name)}  %large.{name} = icmp ugt i32 %size.up.{name}, {OF_2_TO_126}
  %{name} = select i1 %large.{name}, float 0.25, float %up.{name}
"""


_RCP = Unary(
    "rcp",
    usual=f"""  %size.x = and i32 %word.x, {NAN}
  %above = sub i32 %size.x, {HIDDEN}
  %usual = icmp ult i32 %above, {252 << 23}
""",
    body=f"""  %size = and i32 %word, {NAN}
  %sign = and i32 %word, {SIGN}
  %upper = lshr i32 %size, 16
  %part = and i32 %upper, 127
  %lower = and i32 %size, 65535
  %rest = shl i32 %lower, 1
  %value = call i64 @interpolator.rcp.at(i32 %part, i32 %rest)
  %digits.64 = lshr i64 %value, 16
  %digits = trunc i64 %digits.64 to i32
  %power = and i32 %size, {POWER}
  %down = sub i32 {252 << 23}, %power
  %quotient = add i32 %digits, %down
  %bits = or i32 %quotient, %sign
""",
    rare=f"""  %is.tiny = icmp slt i32 %quotient, {HIDDEN}
  %or.zero = select i1 %is.tiny, i32 0, i32 %quotient
  %is.of.zero = icmp eq i32 %power, 0
  %or.infinity = select i1 %is.of.zero, i32 {INFINITY}, i32 %or.zero
  %signed = or i32 %or.infinity, %sign
  %is.nan = icmp ugt i32 %size, {INFINITY}
  %rare = select i1 %is.nan, i32 {NAN}, i32 %signed
""",
    scaled=_scale_of_rcp("there") + "  %scaled = fmul float %x, %there\n",
    undone=_scale_of_rcp("back") + "  %undone = fmul float %float, %back\n",
)


_IS_POSITIVE = f"""  %above = sub i32 %word.x, {HIDDEN}
  %usual = icmp ult i32 %above, {254 << 23}
"""


def _root(name: str, bits: str, of_zero: int, of_infinity: int, back: float) -> Unary:
    """Returns a root. The table has 64 parts of [2, 4), where the exponent's field is even, and then 64 of [1, 2)."""
    return Unary(
        name,
        usual=_IS_POSITIVE,
        body=f"""  %upper = lshr i32 %word, 17
  %part = and i32 %upper, 127
  %rest = and i32 %word, {REST}
  %next = add i32 %word, {HIDDEN}
  %next.half = lshr i32 %next, 1
  %half = and i32 %next.half, {POWER}
  %value = call i64 @interpolator.{name}.at(i32 %part, i32 %rest)
{bits}""",
        rare=f"""  %size = and i32 %word, {NAN}
  %sign = and i32 %word, {SIGN}
  %is.infinity = icmp eq i32 %size, {INFINITY}
  %or.infinity = select i1 %is.infinity, i32 {of_infinity}, i32 %bits
  %is.negative = icmp slt i32 %word, 0
  %or.negative = select i1 %is.negative, i32 {NAN}, i32 %or.infinity
  %is.nan = icmp ugt i32 %size, {INFINITY}
  %or.nan = select i1 %is.nan, i32 {NAN}, i32 %or.negative
  %of.zero = or i32 %sign, {of_zero}
  %is.zero = icmp ult i32 %size, {HIDDEN}
  %rare = select i1 %is.zero, i32 %of.zero, i32 %or.nan
""",
        scaled=_SCALE_UP,
        undone=_if_small(back, 1.0, "back") + "  %undone = fmul float %float, %back\n",
    )


# The root of a power of 4 is exact.
_RSQRT = _root(
    "rsqrt",
    f"""  %digits.64 = lshr i64 %value, 16
  %digits.32 = trunc i64 %digits.64 to i32
  %last = and i32 %word, {2 * HIDDEN - 1}
  %is.exact = icmp eq i32 %last, {HIDDEN}
  %digits = select i1 %is.exact, i32 {2 * HIDDEN}, i32 %digits.32
  %all = add i32 %digits, {189 << 23}
  %bits = sub i32 %all, %half
""",
    INFINITY,
    0,
    2.0**12,
)

_SQRT = _root(
    "sqrt",
    f"""  %digits.64 = lshr i64 %value, 17
  %digits = trunc i64 %digits.64 to i32
  %all = add i32 %digits, {62 << 23}
  %bits = add i32 %all, %half
""",
    0,
    INFINITY,
    2.0**-12,
)

# 23 digits of the argument's fraction count. The digits of a negative argument are complemented, unless they are 0. A
# subnormal result is computed as the square of the result for half the argument.
_EX2 = Unary(
    "ex2",
    usual=f"""  %size.x = and i32 %word.x, {NAN}
  %usual = icmp ult i32 %size.x, {OF_126}
""",
    body=f"""  %size = and i32 %word, {NAN}
  %near.bits = call i32 @llvm.umin.i32(i32 %size, i32 {OF_192})
  %near = bitcast i32 %near.bits to float
  %shifted = fmul float %near, {float(HIDDEN)}
  %fixed = fptosi float %shifted to i32
  %fraction = and i32 %fixed, {FRACTION}
  %is.whole = icmp eq i32 %fraction, 0
  %negated = sub i32 0, %fixed
  %complement = xor i32 %fixed, -1
  %below = select i1 %is.whole, i32 %negated, i32 %complement
  %is.negative = icmp slt i32 %word, 0
  %sum = select i1 %is.negative, i32 %below, i32 %fixed
  %upper = lshr i32 %sum, 17
  %part = and i32 %upper, 63
  %rest = and i32 %sum, {REST}
  %value = call i64 @interpolator.ex2.at(i32 %part, i32 %rest)
  %digits.64 = lshr i64 %value, 15
  %digits = trunc i64 %digits.64 to i32
  %power = and i32 %sum, {-HIDDEN}
  %all = add i32 %digits, {126 << 23}
  %bits = add i32 %all, %power
""",
    rare=f"""  %is.tiny = icmp slt i32 %power, {-126 << 23}
  %or.zero = select i1 %is.tiny, i32 0, i32 %bits
  %is.large = icmp sgt i32 %power, {127 << 23}
  %or.infinity = select i1 %is.large, i32 {INFINITY}, i32 %or.zero
  %is.nan = icmp ugt i32 %size, {INFINITY}
  %rare = select i1 %is.nan, i32 {NAN}, i32 %or.infinity
""",
    scaled="""  %far.there = fcmp olt float %x, -126.0
  %there = select i1 %far.there, float 0.5, float 1.0
  %scaled = fmul float %x, %there
""",
    undone="""  %far.back = fcmp olt float %x, -126.0
  %back = select i1 %far.back, float %float, float 1.0
  %undone = fmul float %float, %back
""",
)


def _of_double(name: str, body: str, rare: str) -> str:
    """Returns a function of a double that uses only its upper word, with 20 digits of the fraction.

    `body` defines %bits and `rare` defines %rare, the upper word of the result. The lower word is 0.
    """
    return f"""define internal double @interpolator.{name}.double(double %x) alwaysinline nounwind {{
  %whole = bitcast double %x to i64
  %word.64 = lshr i64 %whole, 32
  %word = trunc i64 %word.64 to i32
  %size = and i32 %word, {NAN}
  %sign = and i32 %word, {SIGN}
  %power = lshr i32 %size, 20
{body}{rare}  %is.nan = fcmp uno double %x, %x
  %word.out = select i1 %is.nan, i32 {NAN}, i32 %rare
  %wide = zext i32 %word.out to i64
  %up = shl i64 %wide, 32
  %out = bitcast i64 %up to double
  ret double %out
}}"""


_RCP_OF_DOUBLE = _of_double(
    "rcp",
    body="""  %upper = lshr i32 %size, 13
  %part = and i32 %upper, 127
  %lower = and i32 %size, 8191
  %rest = shl i32 %lower, 4
  %value = call i64 @interpolator.rcp.at(i32 %part, i32 %rest)
  %digits.64 = lshr i64 %value, 19
  %digits = trunc i64 %digits.64 to i32
  %down = sub i32 2044, %power
  %down.bits = shl i32 %down, 20
  %bits = add i32 %digits, %down.bits
""",
    rare=f"""  %is.tiny = icmp slt i32 %bits, {1 << 20}
  %or.zero = select i1 %is.tiny, i32 0, i32 %bits
  %is.of.zero = icmp eq i32 %power, 0
  %or.infinity = select i1 %is.of.zero, i32 {INFINITY_64}, i32 %or.zero
  %rare = or i32 %or.infinity, %sign
""",
)

_RSQRT_OF_DOUBLE = _of_double(
    "rsqrt",
    body=f"""  %upper = lshr i32 %size, 14
  %part = and i32 %upper, 127
  %lower = and i32 %size, 16383
  %rest = shl i32 %lower, 3
  %value = call i64 @interpolator.rsqrt.at(i32 %part, i32 %rest)
  %digits.64 = lshr i64 %value, 19
  %digits.32 = trunc i64 %digits.64 to i32
  %last = and i32 %word, {(1 << 21) - 1}
  %is.exact = icmp eq i32 %last, {1 << 20}
  %digits = select i1 %is.exact, i32 {1 << 21}, i32 %digits.32
  %next = add i32 %power, 1
  %half = lshr i32 %next, 1
  %down = sub i32 1533, %half
  %down.bits = shl i32 %down, 20
  %bits = add i32 %digits, %down.bits
""",
    rare=f"""  %is.infinity = icmp eq i32 %size, {INFINITY_64}
  %or.zero = select i1 %is.infinity, i32 0, i32 %bits
  %is.negative = icmp slt i32 %word, 0
  %or.nan = select i1 %is.negative, i32 {NAN}, i32 %or.zero
  %of.zero = or i32 %sign, {INFINITY_64}
  %is.zero = icmp eq i32 %power, 0
  %rare = select i1 %is.zero, i32 %of.zero, i32 %or.nan
""",
)

# ---- functions whose result is a sum in fixed point, truncated to the digits of a float ----


def _truncated(value: str, unit: int) -> str:
    """Returns IR that sets %result.bits to the i64 `value`, which is not negative, times 2^unit."""
    return f"""  %exact = sitofp i64 {value} to double
  %exact.bits = bitcast double %exact to i64
  %cut.bits = and i64 %exact.bits, {TRUNCATE}
  %cut = bitcast i64 %cut.bits to double
  %units = fptrunc double %cut to float
  %result = fmul float %units, {2.0**unit!r}
  %result.bits = bitcast float %result to i32
"""


# The exponent plus the interpolation, in units of 2^-36. A negative sum is complemented. The logarithm of 1 is exact.
_LG2 = Unary(
    "lg2",
    usual=_IS_POSITIVE,
    body=f"""  %upper = lshr i32 %word, 17
  %part = and i32 %upper, 63
  %rest = and i32 %word, {REST}
  %value = call i64 @interpolator.lg2.at(i32 %part, i32 %rest)
  %power.up = lshr i32 %word, 23
  %power.32 = and i32 %power.up, 255
  %power = zext i32 %power.32 to i64
  %true.power = sub i64 %power, 127
  %whole = shl i64 %true.power, 38
  %sum = add i64 %whole, %value
  %total = ashr i64 %sum, 2
  %mask = ashr i64 %total, 63
  %magnitude = xor i64 %total, %mask
{_truncated("%magnitude", -36)}  %mask.32 = trunc i64 %mask to i32
  %sign.out = and i32 %mask.32, {SIGN}
  %signed = or i32 %result.bits, %sign.out
  %is.1 = icmp eq i32 %word, {OF_1}
  %bits = select i1 %is.1, i32 0, i32 %signed
""",
    rare=f"""  %is.infinity = icmp eq i32 %word, {INFINITY}
  %or.infinity = select i1 %is.infinity, i32 {INFINITY}, i32 %bits
  %is.nan = icmp ugt i32 %word, {INFINITY}
  %or.nan = select i1 %is.nan, i32 {NAN}, i32 %or.infinity
  %size = and i32 %word, {NAN}
  %is.zero = icmp ult i32 %size, {HIDDEN}
  %rare = select i1 %is.zero, i32 {INFINITY - (1 << 31)}, i32 %or.nan
""",
    scaled=_SCALE_UP,
    undone=_if_small(24.0, 0.0, "back") + "  %undone = fsub float %float, %back\n",
)


def _of_turns(ahead: int) -> Unary:
    """Returns sin of x plus `ahead` quarter turns, in units of 2^-37.

    x / 2 pi is truncated to a float. 25 digits of its fraction count: two select the quarter, and the others are
    complemented in odd quarters.
    """
    return Unary(
        "sin",
        usual=f"""  %size.x = and i32 %word.x, {NAN}
  %usual = icmp ult i32 %size.x, {INFINITY}
""",
        body=f"""  %size = and i32 %word, {NAN}
  %sign = and i32 %word, {SIGN}
  %finite.bits = select i1 %usual, i32 %size, i32 0
  %finite = bitcast i32 %finite.bits to float
  %finite.64 = fpext float %finite to double
  %product = fmul double %finite.64, {ONE_TURN}
  %product.bits = bitcast double %product to i64
  %turns.bits = and i64 %product.bits, {TRUNCATE}
  %turns = bitcast i64 %turns.bits to double
  %whole = call double @llvm.floor.f64(double %turns)
  %part.turn = fsub double %turns, %whole
  %shifted = fmul double %part.turn, {2.0**25}
  %fixed = fptosi double %shifted to i32
  %quarter.0 = lshr i32 %fixed, 23
  %quarter = add i32 %quarter.0, {ahead}
  %odd = and i32 %quarter, 1
  %mirror = sub i32 0, %odd
  %place = xor i32 %fixed, %mirror
  %upper = lshr i32 %place, 17
  %part = and i32 %upper, 63
  %rest = and i32 %place, {REST}
  %value = call i64 @interpolator.sin.at(i32 %part, i32 %rest)
  %sum = lshr i64 %value, 1
{_truncated("%sum", -37)}  %below = and i32 %quarter, 2
  %sign.of.sin = shl i32 %below, 30
  %sign.out = xor i32 %sign.of.sin, {"0" if ahead else "%sign"}
  %bits = xor i32 %result.bits, %sign.out
""",
        rare=f"  %rare = add i32 {NAN}, 0\n",
    )


# Octaves have parts of different lengths: (first part of the octave, digits of the fraction that do not count). Below
# the first octave the result is the argument, above the last it is 1. In units of 2^-39.
OCTAVES = ((0, 6), (1, 6), (2, 6), (3, 5), (5, 5), (7, 4), (11, 4), (15, 4), (19, 3), (27, 2), (43, 3))
FIRST_OCTAVE = 119  # the exponent's field for the octave of 2^-8
_PAIRS = ", ".join(f"{{ i32, i32 }} {{ i32 {part}, i32 {drop} }}" for part, drop in OCTAVES)
_OCTAVES_TEXT = f"@interpolator.octaves = internal constant [{len(OCTAVES)} x {{ i32, i32 }}] [{_PAIRS}]"

_TANH = Unary(
    "tanh",
    usual=f"""  %size.x = and i32 %word.x, {NAN}
  %power.x = lshr i32 %size.x, 23
  %octave.up = sub i32 %power.x, {FIRST_OCTAVE}
  %usual = icmp ult i32 %octave.up, {len(OCTAVES)}
""",
    body=f"""  %size = and i32 %word, {NAN}
  %sign = and i32 %word, {SIGN}
  %octave = call i32 @llvm.umin.i32(i32 %octave.up, i32 {len(OCTAVES) - 1})
  %octave.at = getelementptr {{ i32, i32 }}, ptr @interpolator.octaves, i32 %octave
  %drop.at = getelementptr i8, ptr %octave.at, i64 4
  %base = load i32, ptr %octave.at, !invariant.load !0
  %drop = load i32, ptr %drop.at, !invariant.load !0
  %fraction = and i32 %word, {FRACTION}
  %place = lshr i32 %fraction, %drop
  %rest = and i32 %place, {REST}
  %more = lshr i32 %place, 17
  %part = add i32 %base, %more
  %sum = call i64 @interpolator.tanh.at(i32 %part, i32 %rest)
{_truncated("%sum", -39)}  %bits = or i32 %result.bits, %sign
""",
    rare=f"""  %is.low = icmp ult i32 %size, {FIRST_OCTAVE << 23}
  %one = or i32 %sign, {OF_1}
  %or.itself = select i1 %is.low, i32 %word, i32 %one
  %is.nan = icmp ugt i32 %size, {INFINITY}
  %rare = select i1 %is.nan, i32 {NAN}, i32 %or.itself
""",
)

_UNARY = {
    "rcp": _RCP,
    "rsqrt": _RSQRT,
    "sqrt": _SQRT,
    "ex2": _EX2,
    "lg2": _LG2,
    "sin": _of_turns(0),
    "cos": _of_turns(1),
    "tanh": _TANH,
}
_DOUBLES = {"rcp.double": ("rcp", _RCP_OF_DOUBLE), "rsqrt.double": ("rsqrt", _RSQRT_OF_DOUBLE)}
GRADUAL = [name for name, function in _UNARY.items() if function.scaled]
INTRINSICS = {
    "llvm.umin.i32": ("i32", ("i32", "i32")),
    "llvm.floor.f64": ("double", ("double",)),
}


def functions(name: str) -> dict[str, str]:
    """Returns the definitions that a module with calls of @interpolator.NAME needs, by name."""
    if name in _DOUBLES:
        table, text = _DOUBLES[name]
    else:
        function = _UNARY[name.removesuffix(".gradual")]
        table, text = function.table, function.text(name, gradual=name.endswith(".gradual"))
    found = {
        "interpolator": _constant(),
        f"interpolator.{table}.at": _at(table),
        f"interpolator.{name}": text,
    }
    return found | {"interpolator.octaves": _OCTAVES_TEXT} if table == "tanh" else found
