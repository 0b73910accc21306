# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The approximate functions of the special function unit: sin cos ex2 lg2 tanh rcp rsqrt.

Computed in double by polynomials, without calls and branches so that they vectorise, to about the last place of f32:
better than the hardware, which PTX allows.
"""

import math

from ..datatypes import Type
from ..function import FunctionLowering
from ..rounding import flush, narrow, upper_word, widen
from ..table import Op, row
from .packed import apply


@row("sin:f cos:f lg2:f", types="f32", mods="approx ftz", operands="2")
def transcendental(f: FunctionLowering, op: Op, operands: tuple) -> None:
    apply(f, op, operands, _approximate)


@row("ex2:f tanh:f", types="f32 f16 f16x2 bf16 bf16x2", mods="approx ftz", operands="2")
def exponential(f: FunctionLowering, op: Op, operands: tuple) -> None:
    apply(f, op, operands, _approximate)


@row("rsqrt:f", types="f32 f64", mods="approx ftz", operands="2")
def reciprocal_root(f: FunctionLowering, op: Op, operands: tuple) -> None:
    apply(f, op, operands, _reciprocal_root)


def _approximate(f: FunctionLowering, op: Op, kind: Type, value: str) -> str:
    value, _ = widen(f, value, kind)
    if "ftz" in op and kind.bits == 32:
        value = flush(f, value, "float")
    wide = f.v(f"fpext float {value} to double")
    result = f.v(f"fptrunc double {FUNCTIONS[op.name](f, wide)} to float")
    if kind.bits == 16:
        return narrow(f, result, kind)
    return flush(f, result, "float") if "ftz" in op else result


def _reciprocal_root(f: FunctionLowering, op: Op, kind: Type, value: str) -> str:
    t, suffix = kind.value, f"f{kind.bits}"
    if "ftz" in op:
        value = flush(f, value, t)
    if kind.bits == 64 and "ftz" in op:
        return upper_word(f, f.v(f"fdiv {t} 1.0, {f.call(t, f'llvm.sqrt.{suffix}', (t, value))}"))
    root = f.call(t, f"llvm.sqrt.{suffix}", (t, value))
    near = f.v(f"fdiv {t} 1.0, {root}")
    return near if kind.bits == 64 else _one_newton_step(f, value, near)


def _one_newton_step(f: FunctionLowering, x: str, near: str) -> str:
    """y + y/2 (1 - x y^2), with x y in two floats: half a unit instead of 1.26. Zeros and infinities have no step."""
    product = f.v(f"fmul float {x}, {near}")
    minus = f.v(f"fneg float {product}")
    low = f.call("float", "llvm.fma.f32", ("float", x), ("float", near), ("float", minus))
    rest = f.call("float", "llvm.fma.f32", ("float", minus), ("float", near), ("float", "1.0"))
    minus_low = f.v(f"fneg float {low}")
    rest = f.call("float", "llvm.fma.f32", ("float", minus_low), ("float", near), ("float", rest))
    half = f.v(f"fmul float {near}, 0.5")
    better = f.call("float", "llvm.fma.f32", ("float", half), ("float", rest), ("float", near))
    is_none = f.v(f"fcmp uno float {rest}, {rest}")
    return f.v(f"select i1 {is_none}, float {near}, float {better}")


def _constant(value: float) -> str:
    import struct

    return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"


def _fma(f: FunctionLowering, a: str, b: str, c: str) -> str:
    return f.call("double", "llvm.fma.f64", ("double", a), ("double", b), ("double", c))


def _polynomial(f: FunctionLowering, x: str, coefficients: list[float]) -> str:
    """By Horner's rule; coefficients from the constant upwards."""
    result = _constant(coefficients[-1])
    for coefficient in reversed(coefficients[:-1]):
        result = _fma(f, result, x, _constant(coefficient))
    return result


def _clamp(f: FunctionLowering, x: str, limit: float) -> str:
    """To [-limit, limit]; NaN stays."""
    for order, bound in (("ogt", limit), ("olt", -limit)):
        outside = f.v(f"fcmp {order} double {x}, {_constant(bound)}")
        x = f.v(f"select i1 {outside}, double {_constant(bound)}, double {x}")
    return x


def _exp2(f: FunctionLowering, x: str) -> str:
    """2^x = 2^n * e^(r ln 2) with |r| <= 1/2."""
    x = _clamp(f, x, 300.0)
    whole = f.call("double", "llvm.rint.f64", ("double", x))
    rest = f.v(f"fsub double {x}, {whole}")
    power = _polynomial(f, rest, [math.log(2) ** k / math.factorial(k) for k in range(11)])
    # whole + 1.5 * 2^52 holds the integer in its low bits, for NaN as well as for numbers.
    shifted = f.v(f"bitcast double {f.v(f'fadd double {whole}, {_constant(1.5 * 2**52)}')} to i64")
    exponent = f.v(f"shl i64 {f.v(f'add i64 {shifted}, 1023')}, 52")
    return f.v(f"fmul double {power}, {f.v(f'bitcast i64 {exponent} to double')}")


def _log2(f: FunctionLowering, x: str) -> str:
    """x = 2^e * m with m in [sqrt(1/2), sqrt(2)); log2 m by the series of artanh((m - 1) / (m + 1))."""
    word = f.v(f"bitcast double {x} to i64")
    # Taking off the bits of sqrt(1/2) makes the exponent field round to the nearest power.
    offset = f.v(f"sub i64 {word}, {0x3FE6A09E667F3BCD}")
    exponent = f.v(f"ashr i64 {offset}, 52")
    scale = f.v(f"shl i64 {exponent}, 52")
    m = f.v(f"bitcast i64 {f.v(f'sub i64 {word}, {scale}')} to double")
    s = f.v(f"fdiv double {f.v(f'fsub double {m}, 1.0')}, {f.v(f'fadd double {m}, 1.0')}")
    square = f.v(f"fmul double {s}, {s}")
    series = _polynomial(f, square, [2 / math.log(2) / (2 * k + 1) for k in range(8)])
    power = f.v(f"sitofp i32 {f.v(f'trunc i64 {exponent} to i32')} to double")
    result = _fma(f, series, s, power)
    for condition, special in (
        (f"fcmp oeq double {x}, 0.0", "0xFFF0000000000000"),
        (f"fcmp oeq double {x}, 0x7FF0000000000000", "0x7FF0000000000000"),
        (f"fcmp ult double {x}, 0.0", "0x7FF8000000000000"),
    ):
        result = f.v(f"select i1 {f.v(condition)}, double {special}, double {result}")
    return result


_HALF_PI_HIGH = 1.5707963267948966
_HALF_PI_LOW = 6.123233995736766e-17


def _sin_cos(f: FunctionLowering, x: str, shift: int) -> str:
    """x = k * pi/2 + r; the quadrant k says which of sin r, cos r it is, and its sign."""
    k = f.call("double", "llvm.rint.f64", ("double", f.v(f"fmul double {x}, {_constant(2 / math.pi)}")))
    rest = _fma(f, k, _constant(-_HALF_PI_HIGH), x)
    rest = _clamp(f, _fma(f, k, _constant(-_HALF_PI_LOW), rest), 1.0)
    square = f.v(f"fmul double {rest}, {rest}")
    sine = _polynomial(f, square, [(-1) ** n / math.factorial(2 * n + 1) for n in range(8)])
    sine = f.v(f"fmul double {sine}, {rest}")
    cosine = _polynomial(f, square, [(-1) ** n / math.factorial(2 * n) for n in range(8)])
    turned = f.v(f"fadd double {k}, {float(shift)}")
    turns = f.call("double", "llvm.floor.f64", ("double", f.v(f"fmul double {turned}, 0.25")))
    quadrant = _fma(f, turns, "-4.0", turned)
    is_two_up = f.v(f"fcmp oge double {quadrant}, 2.0")
    half = f.v(f"fsub double {quadrant}, {f.v(f'select i1 {is_two_up}, double 2.0, double 0.0')}")
    is_odd = f.v(f"fcmp oeq double {half}, 1.0")
    value = f.v(f"select i1 {is_odd}, double {cosine}, double {sine}")
    return f.v(f"select i1 {is_two_up}, double {f.v(f'fneg double {value}')}, double {value}")


def _tanh(f: FunctionLowering, x: str) -> str:
    """1 - 2 / (e^2x + 1); for small x the odd series, which keeps the relative error."""
    power = _exp2(f, f.v(f"fmul double {x}, {_constant(2 / math.log(2))}"))
    quotient = f.v(f"fdiv double 2.0, {f.v(f'fadd double {power}, 1.0')}")
    large = f.v(f"fsub double 1.0, {quotient}")
    square = f.v(f"fmul double {x}, {x}")
    small = f.v(f"fmul double {x}, {_polynomial(f, square, [1.0, -1 / 3, 2 / 15, -17 / 315])}")
    is_small = f.v(f"fcmp olt double {square}, {_constant(2.0**-12)}")
    return f.v(f"select i1 {is_small}, double {small}, double {large}")


def _sin(f: FunctionLowering, x: str) -> str:
    """The reduction loses the sign of -0."""
    is_zero = f.v(f"fcmp oeq double {x}, 0.0")
    return f.v(f"select i1 {is_zero}, double {x}, double {_sin_cos(f, x, 0)}")


FUNCTIONS = {
    "sin": _sin,
    "cos": lambda f, x: _sin_cos(f, x, 1),
    "ex2": _exp2,
    "lg2": _log2,
    "tanh": _tanh,
}
