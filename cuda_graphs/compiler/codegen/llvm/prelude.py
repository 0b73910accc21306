# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Operations of more than one instruction. Each function emits its operation inline. LLVM folds constants."""

from __future__ import annotations

from collections.abc import Callable

from cuda_graphs.compiler.ir.scalars import is_small
from cuda_graphs.compiler.ir.types import ScalarType, bf16, f32, f64

from .notation import FastMathText, number
from .notation import llvm_type as _t
from .notation import suffix as _s


def emit(e: FastMathText, name: str, operand: ScalarType, result: ScalarType, args: list[str]) -> str:
    """Emit operation `name` on operands of one type; return the register of the result."""
    return EMITTERS[name](e, operand, result, args)


def trunc_div(e: FastMathText, operand: ScalarType, result: ScalarType, args: list[str]) -> str:
    """Emit a division that rounds towards zero; x / 0 is 0. The naive instruction traps for x / 0 and least / -1."""
    return divided(e, operand, args)[0]


def divided(e: FastMathText, type: ScalarType, args: list[str]) -> tuple[str, str]:
    """Emit a division as in C; return (quotient, remainder). Division by 0 gives 0 and the dividend."""
    t, (a, b) = _t(type), args
    zero = e.let(f"icmp eq {t} {b}, 0")
    safe = e.let(f"select i1 {zero}, {t} 1, {t} {b}")
    if type.kind == "uint":
        quotient = e.let(f"udiv {t} {a}, {safe}")
    else:
        minus = e.let(f"icmp eq {t} {b}, -1")
        safe = e.let(f"select i1 {minus}, {t} 1, {t} {safe}")
        plain = e.let(f"sdiv {t} {a}, {safe}")
        negated = e.let(f"sub {t} 0, {a}")
        quotient = e.let(f"select i1 {minus}, {t} {negated}, {t} {plain}")
    quotient = e.let(f"select i1 {zero}, {t} 0, {t} {quotient}")
    product = e.let(f"mul {t} {quotient}, {b}")
    return quotient, e.let(f"sub {t} {a}, {product}")


def trunc_mod(e: FastMathText, operand: ScalarType, result: ScalarType, args: list[str]) -> str:
    """Emit the remainder with the sign of the dividend."""
    return divided(e, operand, args)[1]


def floor_div(e: FastMathText, operand: ScalarType, result: ScalarType, args: list[str]) -> str:
    t = _t(operand)
    if operand.kind == "float":
        quotient = e.let(f"fdiv {e.fast}{t} {args[0]}, {args[1]}")
        return e.call(f"llvm.floor.{_s(operand)}", t, [(t, quotient)])
    quotient, remainder = divided(e, operand, args)
    if operand.kind == "uint":
        return quotient
    return e.let(f"sub {t} {quotient}, {_differs(e, t, remainder, args[1])}")


def _differs(e: FastMathText, t: str, remainder: str, divisor: str) -> str:
    """Return 1 where truncation and floor differ: the remainder is not 0 and its sign differs from the divisor's."""
    some = e.let(f"icmp ne {t} {remainder}, 0")
    mixed = e.let(f"xor {t} {remainder}, {divisor}")
    negative = e.let(f"icmp slt {t} {mixed}, 0")
    nonzero = e.let(f"icmp ne {t} {divisor}, 0")
    both = e.let(f"and i1 {some}, {negative}")
    both = e.let(f"and i1 {both}, {nonzero}")
    return e.let(f"zext i1 {both} to {t}")


def mod(e: FastMathText, operand: ScalarType, result: ScalarType, args: list[str]) -> str:
    t = _t(operand)
    if operand.kind == "float":
        product = e.let(f"fmul {e.fast}{t} {args[1]}, {floor_div(e, operand, result, args)}")
        return e.let(f"fsub {e.fast}{t} {args[0]}, {product}")
    _, remainder = divided(e, operand, args)
    if operand.kind == "uint":
        return remainder
    differs = _differs(e, t, remainder, args[1])
    addend = e.let(f"mul {t} {differs}, {args[1]}")
    return e.let(f"add {t} {remainder}, {addend}")


def shift(instruction: Callable[[ScalarType], str]) -> Callable[..., str]:
    """Return an emitter of shifts, which takes the count modulo the width."""

    def emitter(e: FastMathText, operand: ScalarType, result: ScalarType, args: list[str]) -> str:
        t = _t(operand)
        count = e.let(f"and {t} {args[1]}, {operand.bits - 1}")
        return e.let(f"{instruction(operand)} {t} {args[0]}, {count}")

    return emitter


def int_pow(e: FastMathText, operand: ScalarType, result: ScalarType, args: list[str]) -> str:
    """Emit a power by repeated squaring. A negative exponent gives the truncated fraction."""
    t = _t(operand)
    power = squares(e, t, "mul", args[0], t, args[1], "1")
    if operand.kind == "uint":
        return power
    one, minus = e.let(f"icmp eq {t} {args[0]}, 1"), e.let(f"icmp eq {t} {args[0]}, -1")
    odd = e.let(f"trunc {t} {args[1]} to i1")
    sign = e.let(f"select i1 {odd}, {t} -1, {t} 1")
    fraction = e.let(f"select i1 {minus}, {t} {sign}, {t} 0")
    fraction = e.let(f"select i1 {one}, {t} 1, {t} {fraction}")
    negative = e.let(f"icmp slt {t} {args[1]}, 0")
    return e.let(f"select i1 {negative}, {t} {fraction}, {t} {power}")


def first_set(e: FastMathText, operand: ScalarType, result: ScalarType, args: list[str]) -> str:
    """Emit 1 + the number of the lowest bit that is set, or 0 for 0."""
    t = _t(operand)
    zeros = e.call(f"llvm.cttz.{_s(operand)}", t, [(t, args[0]), ("i1", "false")])
    found = e.let(f"add {t} {zeros}, 1")
    none = e.let(f"icmp eq {t} {args[0]}, 0")
    return e.let(f"select i1 {none}, {t} 0, {t} {found}")


def float_pow(e: FastMathText, operand: ScalarType, result: ScalarType, args: list[str]) -> str:
    """Emit a power by repeated squaring. A negative exponent gives the reciprocal."""
    t, one = _t(operand), number(1.0, operand)
    negative = e.let(f"icmp slt i64 {args[1]}, 0")
    count = e.let(f"select i1 {negative}, i64 {e.let(f'sub i64 0, {args[1]}')}, i64 {args[1]}")
    power = squares(e, t, "fmul " + e.fast, args[0], "i64", count, one)
    return e.let(f"select i1 {negative}, {t} {e.let(f'fdiv {e.fast}{t} {one}, {power}')}, {t} {power}")


def squares(e: FastMathText, t: str, multiply: str, base: str, kind: str, exponent: str, one: str) -> str:
    """Emit base ** exponent, where the exponent is an unsigned number of type `kind`; return the result."""
    factors, left, product = e.slot(t), e.slot(kind), e.slot(t)
    for slot, type, value in ((factors, t, base), (left, kind, exponent), (product, t, one)):
        e.line(f"store {type} {value}, ptr {slot}")
    head, body, after = (e.label(stem) for stem in ("power", "square", "powered"))
    e.jump(head)
    e.start(head)
    count = e.let(f"load {kind}, ptr {left}")
    e.jump_if(e.let(f"icmp ne {kind} {count}, 0"), body, after)
    e.start(body)
    factor, sofar = e.let(f"load {t}, ptr {factors}"), e.let(f"load {t}, ptr {product}")
    odd = e.let(f"trunc {kind} {count} to i1") if kind != "i1" else count
    more = e.let(f"{multiply} {t} {sofar}, {factor}")
    chosen = e.let(f"select i1 {odd}, {t} {more}, {t} {sofar}")
    squared, halved = e.let(f"{multiply} {t} {factor}, {factor}"), e.let(f"lshr {kind} {count}, 1")
    for slot, type, value in ((product, t, chosen), (factors, t, squared), (left, kind, halved)):
        e.line(f"store {type} {value}, ptr {slot}")
    e.jump(head)
    e.start(after)
    return e.let(f"load {t}, ptr {product}")


def rsqrt(e: FastMathText, operand: ScalarType, result: ScalarType, args: list[str]) -> str:
    t = _t(operand)
    root = e.call(f"llvm.sqrt.{_s(operand)}", t, [(t, args[0])], e.fast)
    return e.let(f"fdiv {e.fast}{t} {number(1.0, operand)}, {root}")


def is_inf(e: FastMathText, operand: ScalarType, result: ScalarType, args: list[str]) -> str:
    t = _t(operand)
    size = e.call(f"llvm.fabs.{_s(operand)}", t, [(t, args[0])])
    return e.let(f"fcmp oeq {t} {size}, {number(float('inf'), operand)}")


def sign(e: FastMathText, operand: ScalarType, result: ScalarType, args: list[str]) -> str:
    """Emit -1 or 1, or the number itself for zeros and NaN."""
    t = _t(operand)
    if operand.kind != "float":
        positive = e.let(f"icmp {'sgt' if operand.kind == 'int' else 'ne'} {t} {args[0]}, 0")
        negative = e.let(f"icmp slt {t} {args[0]}, 0") if operand.kind == "int" else "false"
        rest = e.let(f"select i1 {negative}, {t} -1, {t} 0")
        return e.let(f"select i1 {positive}, {t} 1, {t} {rest}")
    unit = e.call(f"llvm.copysign.{_s(operand)}", t, [(t, number(1.0, operand)), (t, args[0])])
    nonzero = e.let(f"fcmp one {t} {args[0]}, {number(0.0, operand)}")
    return e.let(f"select i1 {nonzero}, {t} {unit}, {t} {args[0]}")


# f16 and bf16. A bf16 is an i16 in registers, with the same instructions on every machine.


def widened(e: FastMathText, value: str, type: ScalarType) -> str:
    """Return an f16 or bf16 converted to f32, or a value of another type unchanged."""
    if not is_small(type):
        return value
    if type != bf16:
        return e.let(f"fpext half {value} to float")
    high = e.let(f"shl i32 {e.let(f'zext i16 {value} to i32')}, 16")
    return e.let(f"bitcast i32 {high} to float")


def rounded(e: FastMathText, value: str, type: ScalarType) -> str:
    """Return an f32 as the nearest f16 or bf16, ties to even."""
    if type != bf16:
        return e.let(f"fptrunc float {value} to half")
    bits = e.let(f"bitcast float {value} to i32")
    odd = e.let(f"and i32 {e.let(f'lshr i32 {bits}, 16')}, 1")
    up = e.let(f"add i32 {e.let(f'add i32 {bits}, 32767')}, {odd}")
    quiet = e.let(f"or i32 {bits}, 4194304")
    chosen = e.let(f"select i1 {e.let(f'fcmp uno float {value}, {value}')}, i32 {quiet}, i32 {up}")
    return e.let(f"trunc i32 {e.let(f'lshr i32 {chosen}, 16')} to i16")


def rounded_to_odd(e: FastMathText, value: str) -> str:
    """Return an f64 as an f32 such that a second rounding equals a direct rounding of the f64.

    The result is the neighbouring float towards 0, with the last bit set if the conversion is inexact.
    """
    near = e.let(f"fptrunc double {value} to float")
    back = e.let(f"fpext float {near} to double")
    sizes = [e.call("llvm.fabs.f64", "double", [("double", each)]) for each in (value, back)]
    above = e.let(f"zext i1 {e.let(f'fcmp ogt double {sizes[1]}, {sizes[0]}')} to i32")
    inexact = e.let(f"zext i1 {e.let(f'fcmp one double {value}, {back}')} to i32")
    bits = e.let(f"sub i32 {e.let(f'bitcast float {near} to i32')}, {above}")
    return e.let(f"bitcast i32 {e.let(f'or i32 {bits}, {inexact}')} to float")


def sticky(e: FastMathText, value: str, type: ScalarType) -> str:
    """Return an integer that f64 can hold. Beyond 53 bits the last 11 become 0; the next is set if any was 1."""
    if type.bits < 64:
        return value
    high = e.let(f"and i64 {value}, -2048")
    some = e.let(f"zext i1 {e.let(f'icmp ne i64 {high}, {value}')} to i64")
    short = e.let(f"or i64 {high}, {e.let(f'shl i64 {some}, 11')}")
    size = value if type.kind == "uint" else e.call("llvm.abs.i64", "i64", [("i64", value), ("i1", "false")])
    fits = e.let(f"icmp ult i64 {size}, {1 << 53}")
    return e.let(f"select i1 {fits}, i64 {value}, i64 {short}")


def cast(e: FastMathText, operand: ScalarType, result: ScalarType, args: list[str]) -> str:
    value = args[0]
    if is_small(operand):
        operand, value = f32, widened(e, value, operand)
    if is_small(result):
        if operand != f32:
            value = rounded_to_odd(
                e, cast(e, operand, f64, [sticky(e, value, operand)]) if operand != f64 else value
            )
        return rounded(e, value, result)
    s, d = _t(operand), _t(result)
    if operand == result:
        return value
    if result.kind == "bool":
        return e.let(f"fcmp une {s} {value}, 0.0" if operand.kind == "float" else f"icmp ne {s} {value}, 0")
    if operand.kind == "float" and result.kind == "float":
        return e.let(f"{'fpext' if result.size > operand.size else 'fptrunc'} {s} {value} to {d}")
    if operand.kind == "float":
        name = f"llvm.fpto{'s' if result.kind == 'int' else 'u'}i.sat.{d}.{_s(operand)}"
        return e.call(name, d, [(s, value)])
    if result.kind == "float":
        return e.let(f"{'sitofp' if operand.kind == 'int' else 'uitofp'} {s} {value} to {d}")
    if result.bits == operand.bits:
        return e.let(f"add {d} {value}, 0")
    if result.bits < operand.bits:
        return e.let(f"trunc {s} {value} to {d}")
    return e.let(f"{'sext' if operand.kind == 'int' else 'zext'} {s} {value} to {d}")


EMITTERS: dict[str, Callable[..., str]] = {
    "trunc_div": trunc_div,
    "trunc_mod": trunc_mod,
    "floor_div": floor_div,
    "mod": mod,
    "shift_left": shift(lambda type: "shl"),
    "shift_right": shift(lambda type: "ashr" if type.kind == "int" else "lshr"),
    "shift_right_logical": shift(lambda type: "lshr"),
    "int_pow": int_pow,
    "float_pow": float_pow,
    "is_inf": is_inf,
    "first_set": first_set,
    "rsqrt": rsqrt,
    "sign": sign,
    "cast": cast,
}
