# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Floating point results in the four rounding modes, flushing and saturation.

Directed rounding of f32 does not change the machine's rounding mode, so that it can be vectorised. The operation is
done in double and returns the sign of its rounding error too (`Exact`). The nearest f32 then moves by one step if the
exact value lies on the other side. For f64, the machine's mode is set around the operation (`prelude.directed`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from cuda_graphs.hostdriver.ptx.syntax.datatypes import FLOATS, LLVM_BITS, Type

from .function import FunctionLowering

MODES = ("rn", "rz", "rm", "rp")
SMALLEST_NORMAL = {"float": "0x3810000000000000", "double": "0x0010000000000000"}
# The exact result of other operations never lies between the greatest subnormal and the least normal number.
ROUNDS_UP_TO_NORMAL = ("mul", "div", "fma")
OPERATION = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv", "sqrt": "sqrt", "fma": "fma"}


def arithmetic(
    f: FunctionLowering, name: str, mode: str, kind: str, *values: str, flushes: bool = False
) -> str:
    """Returns the result of an operation of OPERATION on float or double; only float can flush its result."""
    if flushes:
        result = arithmetic(f, name, mode, kind, *values)
        if name not in ROUNDS_UP_TO_NORMAL:
            return flush(f, result, kind)
        return _flush_exact(
            f, result, _exact(f, name, "rn", [f.let(f"fpext float {v} to double") for v in values])
        )
    if mode == "rn":
        return nearest(f, name, kind, *values)
    if kind == "double":
        helper = f.module.prelude.directed(OPERATION[name], mode)
        return f.let(f"call double @{helper}({', '.join('double ' + value for value in values)})")
    wide = [f.let(f"fpext float {value} to double") for value in values]
    return to_float(f, _exact(f, name, mode, wide), mode)


def nearest(f: FunctionLowering, name: str, kind: str, *values: str) -> str:
    if name in ("sqrt", "fma"):
        return f.call(f"llvm.{name}.{_suffix(kind)}", kind, [(kind, value) for value in values])
    return f.let(f"{OPERATION[name]} {kind} {', '.join(values)}")


def _suffix(kind: str) -> str:
    return f"f{LLVM_BITS[kind]}"


@dataclass(frozen=True)
class Exact:
    """A real number: the double `value` plus an error below its last digit, of which only the sign (`rest`) matters."""

    value: str
    rest: str = "0.0"


def _exact(f: FunctionLowering, name: str, mode: str, values: list[str]) -> Exact:
    if name == "sub":
        return _exact(f, "add", mode, [values[0], f.let(f"fneg double {values[1]}")])
    if name == "add":
        return _two_sum(f, mode, *values)
    if name == "mul":
        return Exact(f.let(f"fmul double {values[0]}, {values[1]}"))  # 48 bits fit
    if name == "fma":
        return _two_sum(f, mode, f.let(f"fmul double {values[0]}, {values[1]}"), values[2])
    result = nearest(f, name, "double", *values)
    minus = f.let(f"fneg double {result}")
    if name == "sqrt":
        return Exact(result, nearest(f, "fma", "double", minus, result, values[0]))
    rest = nearest(f, "fma", "double", minus, values[1], values[0])
    sign = f.call("llvm.copysign.f64", "double", [("double", "1.0"), ("double", values[1])])
    return Exact(result, f.let(f"fmul double {rest}, {sign}"))


def _two_sum(f: FunctionLowering, mode: str, a: str, b: str) -> Exact:
    """Returns Knuth's error-free sum. An exact sum of zero is -0 when rounding down, unless both are +0."""
    total = f.let(f"fadd double {a}, {b}")
    b_part = f.let(f"fsub double {total}, {a}")
    a_part = f.let(f"fsub double {total}, {b_part}")
    rest = f.let(f"fadd double {f.let(f'fsub double {a}, {a_part}')}, {f.let(f'fsub double {b}, {b_part}')}")
    if mode == "rm":
        mirrored = f.let(f"fsub double {f.let(f'fneg double {a}')}, {b}")
        is_zero = f.let(f"fcmp oeq double {total}, 0.0")
        total = f.let(f"select i1 {is_zero}, double {f.let(f'fneg double {mirrored}')}, double {total}")
    return Exact(total, rest)


def to_float(f: FunctionLowering, exact: Exact, mode: str) -> str:
    near = f.let(f"fptrunc double {exact.value} to float")
    back = f.let(f"fpext float {near} to double")
    same = f.let(f"fcmp oeq double {exact.value}, {back}")

    def beyond(order: str) -> str:
        by_value = f.let(f"fcmp {order} double {exact.value}, {back}")
        by_rest = f.let(f"and i1 {same}, {f.let(f'fcmp {order} double {exact.rest}, 0.0')}")
        return f.let(f"or i1 {by_value}, {by_rest}")

    return step(f, near, "float", mode, beyond)


def step(f: FunctionLowering, near: str, kind: str, mode: str, beyond: Callable[[str], str]) -> str:
    """Returns the neighbour of `near` if the exact value is `beyond("ogt")` or `beyond("olt")` it, else `near`.

    The integers of neighbouring floats differ by 1: -1 towards zero, +1 away from it.
    """
    bits = f"i{LLVM_BITS[kind]}"
    word = f.let(f"bitcast {kind} {near} to {bits}")
    negative = f.let(f"icmp slt {bits} {word}, 0")
    if mode == "rp":
        moves, toward_zero = beyond("ogt"), negative
    elif mode == "rm":
        moves, toward_zero = beyond("olt"), f.let(f"xor i1 {negative}, true")
    else:
        moves = f.let(f"select i1 {negative}, i1 {beyond('ogt')}, i1 {beyond('olt')}")
        toward_zero = "true"
    change = f.let(f"select i1 {toward_zero}, {bits} -1, {bits} 1")
    moved = f.let(f"add {bits} {word}, {change}")
    return f.let(f"bitcast {bits} {f.let(f'select i1 {moves}, {bits} {moved}, {bits} {word}')} to {kind}")


def flush(f: FunctionLowering, value: str, kind: str) -> str:
    """Returns a zero of the same sign for a subnormal, and any other value unchanged."""
    if kind == "half":
        return f.let(f"fptrunc float {_flush_half(f, f.let(f'fpext half {value} to float'))} to half")
    size = f.call(f"llvm.fabs.{_suffix(kind)}", kind, [(kind, value)])
    tiny = f.let(f"fcmp olt {kind} {size}, {SMALLEST_NORMAL[kind]}")
    zero = f.call(f"llvm.copysign.{_suffix(kind)}", kind, [(kind, "0.0"), (kind, value)])
    return f.let(f"select i1 {tiny}, {kind} {zero}, {kind} {value}")


def _flush_exact(f: FunctionLowering, result: str, exact: Exact) -> str:
    """Flushes a float whose exact value, before rounding, is below the least normal number.

    An H200 returns 0 for 2^-126 * (1 - 2^-24), which rounds to 2^-126 (tests/ptx/exact.py, Flushing).
    """
    size = f.call("llvm.fabs.f64", "double", [("double", exact.value)])
    below = f.let(f"fcmp olt double {size}, {SMALLEST_NORMAL['float']}")
    at = f.let(f"fcmp oeq double {size}, {SMALLEST_NORMAL['float']}")
    inwards = f.let(f"fcmp olt double {f.let(f'fmul double {exact.value}, {exact.rest}')}, 0.0")
    tiny = f.let(f"or i1 {below}, {f.let(f'and i1 {at}, {inwards}')}")
    zero = f.call("llvm.copysign.f32", "float", [("float", "0.0"), ("float", result)])
    return f.let(f"select i1 {tiny}, float {zero}, float {result}")


def flush_wide(f: FunctionLowering, value: str, kind: Type) -> str:
    """Flushes a value, which `widen` may have widened, by the limits of `kind`."""
    return _flush_half(f, value) if kind.name == "f16" else flush(f, value, FLOATS[max(kind.bits, 32)])


def _flush_half(f: FunctionLowering, value: str) -> str:
    size = f.call("llvm.fabs.f32", "float", [("float", value)])
    tiny = f.let(f"fcmp olt float {size}, 0x3F10000000000000")  # 2^-14
    zero = f.call("llvm.copysign.f32", "float", [("float", "0.0"), ("float", value)])
    return f.let(f"select i1 {tiny}, float {zero}, float {value}")


def saturate(f: FunctionLowering, value: str, kind: str) -> str:
    """Clamps to [0, 1]; NaN becomes +0."""
    positive = f.let(f"fcmp ogt {kind} {value}, 0.0")
    value = f.let(f"select i1 {positive}, {kind} {value}, {kind} 0.0")
    small = f.let(f"fcmp olt {kind} {value}, 1.0")
    return f.let(f"select i1 {small}, {kind} {value}, {kind} 1.0")


# ---- the 16-bit formats ----


def widen(f: FunctionLowering, value: str, kind: Type) -> tuple[str, str]:
    """Converts a 16-bit value to float exactly; wider types stay. Returns (value, LLVM type)."""
    if kind.bits > 16:
        return value, FLOATS[kind.bits]
    if kind.kind == "f":
        return f.let(f"fpext half {value} to float"), "float"
    word = f.let(f"shl i32 {f.let(f'zext i16 {value} to i32')}, 16")
    return f.let(f"bitcast i32 {word} to float"), "float"


def narrow(f: FunctionLowering, value: str, kind: Type, mode: str = "rn") -> str:
    """Converts a float to a 16-bit type."""
    if kind.kind == "bf":
        return _to_bfloat(f, value, mode)
    near = f.let(f"fptrunc float {value} to half")
    if mode == "rn":
        return near
    back = f.let(f"fpext half {near} to float")
    return step(f, near, "half", mode, lambda order: f.let(f"fcmp {order} float {value}, {back}"))


def _to_bfloat(f: FunctionLowering, value: str, mode: str) -> str:
    """Rounds the word as an integer and returns its upper half. A carry into the exponent gives the right result."""
    word = f.let(f"bitcast float {value} to i32")
    if mode == "rn":
        odd = f.let(f"and i32 {f.let(f'lshr i32 {word}, 16')}, 1")
        addend = f.let(f"add i32 {odd}, 32767")
    elif mode == "rz":
        addend = "0"
    else:
        negative = f.let(f"icmp slt i32 {word}, 0")
        away = negative if mode == "rm" else f.let(f"xor i1 {negative}, true")
        addend = f.let(f"select i1 {away}, i32 65535, i32 0")
    infinite = f.let(f"icmp eq i32 {f.let(f'and i32 {word}, 2147483647')}, 2139095040")
    addend = f.let(f"select i1 {infinite}, i32 0, i32 {addend}")
    rounded = f.let(f"add i32 {word}, {addend}")
    upper = f.let(f"trunc i32 {f.let(f'lshr i32 {rounded}, 16')} to i16")
    is_nan = f.let(f"fcmp uno float {value}, {value}")
    return f.let(f"select i1 {is_nan}, i16 32767, i16 {upper}")


def to_odd_float(f: FunctionLowering, value: str, rest: str = "0.0") -> str:
    """Returns value + rest as float, truncated, with the last bit set if the result is inexact ("rounded to odd").

    A later rounding to a format with at least two bits less then equals one rounding of the exact number.
    """
    low = to_float(f, Exact(value, rest), "rz")
    cut = f.let(f"fcmp one double {f.let(f'fpext float {low} to double')}, {value}")
    lost = f.let(f"or i1 {cut}, {f.let(f'fcmp one double {rest}, 0.0')}")
    word = f.let(f"or i32 {f.let(f'bitcast float {low} to i32')}, {f.let(f'zext i1 {lost} to i32')}")
    odd = f.let(f"bitcast i32 {word} to float")
    is_nan = f.let(f"fcmp uno double {value}, {value}")
    return f.let(f"select i1 {is_nan}, float {low}, float {odd}")


def fused_to_odd(f: FunctionLowering, a: str, b: str, c: str) -> str:
    """Returns a * b + c rounded to odd, for floats that hold 16-bit values."""
    wide = [f.let(f"fpext float {value} to double") for value in (a, b, c)]
    exact = _exact(f, "fma", "rn", wide)
    infinite = f.let(
        f"fcmp oeq double {f.call('llvm.fabs.f64', 'double', [('double', exact.value)])}, 0x7FF0000000000000"
    )
    rest = f.let(f"select i1 {infinite}, double 0.0, double {exact.rest}")
    return to_odd_float(f, exact.value, rest)
