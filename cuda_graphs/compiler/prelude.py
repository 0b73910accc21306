# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Operations that are more than one instruction. Each emitter writes it in line; LLVM folds what is constant."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from . import ir
from .types import ScalarType

if TYPE_CHECKING:
    from .llvm import Emitter


def emit(e: Emitter, name: str, operand: ScalarType, result: ScalarType, args: list[str]) -> str:
    """The register of the result of operation `name` on operands of one type."""
    return EMITTERS[name](e, operand, result, args)


def _t(type: ScalarType) -> str:
    from .llvm import llvm_type

    return llvm_type(type)


def _s(type: ScalarType) -> str:
    from .llvm import suffix

    return suffix(type)


def trunc_div(e: Emitter, operand: ScalarType, result: ScalarType, args: list[str]) -> str:
    """Towards zero; x / 0 is 0. Division by 0 and of the least number by -1 would trap on a CPU."""
    return divided(e, operand, args)[0]


def divided(e: Emitter, type: ScalarType, args: list[str]) -> tuple[str, str]:
    """(quotient, remainder), as C has them; of a division by 0: 0 and the dividend."""
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


def trunc_mod(e: Emitter, operand: ScalarType, result: ScalarType, args: list[str]) -> str:
    """The sign is that of the dividend."""
    return divided(e, operand, args)[1]


def floor_div(e: Emitter, operand: ScalarType, result: ScalarType, args: list[str]) -> str:
    t = _t(operand)
    if operand.kind == "float":
        quotient = e.let(f"fdiv {e.fast}{t} {args[0]}, {args[1]}")
        return e.call(f"llvm.floor.{_s(operand)}", t, [(t, quotient)])
    quotient, remainder = divided(e, operand, args)
    if operand.kind == "uint":
        return quotient
    return e.let(f"sub {t} {quotient}, {_differs(e, t, remainder, args[1])}")


def _differs(e: Emitter, t: str, remainder: str, divisor: str) -> str:
    """1 where truncation and floor differ: there is a remainder, whose sign is not that of the divisor."""
    some = e.let(f"icmp ne {t} {remainder}, 0")
    mixed = e.let(f"xor {t} {remainder}, {divisor}")
    negative = e.let(f"icmp slt {t} {mixed}, 0")
    nonzero = e.let(f"icmp ne {t} {divisor}, 0")
    both = e.let(f"and i1 {some}, {negative}")
    both = e.let(f"and i1 {both}, {nonzero}")
    return e.let(f"zext i1 {both} to {t}")


def mod(e: Emitter, operand: ScalarType, result: ScalarType, args: list[str]) -> str:
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
    """The count is taken modulo the width."""

    def emitter(e: Emitter, operand: ScalarType, result: ScalarType, args: list[str]) -> str:
        t = _t(operand)
        count = e.let(f"and {t} {args[1]}, {operand.bits - 1}")
        return e.let(f"{instruction(operand)} {t} {args[0]}, {count}")

    return emitter


def int_pow(e: Emitter, operand: ScalarType, result: ScalarType, args: list[str]) -> str:
    """Repeated squaring; of negative exponents: what truncation makes of the fraction."""
    t = _t(operand)
    base, exponent, total = e.slot(t), e.slot(t), e.slot(t)
    for slot, value in ((base, args[0]), (exponent, args[1]), (total, "1")):
        e.line(f"store {t} {value}, ptr {slot}")
    head, body, after = (e.label(stem) for stem in ("power", "square", "powered"))
    e.line(f"br label %{head}")
    e.start(head)
    left = e.let(f"load {t}, ptr {exponent}")
    more = e.let(f"icmp {'sgt' if operand.kind == 'int' else 'ne'} {t} {left}, 0")
    e.line(f"br i1 {more}, label %{body}, label %{after}")
    e.start(body)
    factor, sofar = e.let(f"load {t}, ptr {base}"), e.let(f"load {t}, ptr {total}")
    odd = e.let(f"trunc {t} {left} to i1")
    product = e.let(f"mul {t} {sofar}, {factor}")
    chosen = e.let(f"select i1 {odd}, {t} {product}, {t} {sofar}")
    squared, halved = e.let(f"mul {t} {factor}, {factor}"), e.let(f"lshr {t} {left}, 1")
    for slot, value in ((total, chosen), (base, squared), (exponent, halved)):
        e.line(f"store {t} {value}, ptr {slot}")
    e.line(f"br label %{head}")
    e.start(after)
    power = e.let(f"load {t}, ptr {total}")
    if operand.kind == "uint":
        return power
    one, minus = e.let(f"icmp eq {t} {args[0]}, 1"), e.let(f"icmp eq {t} {args[0]}, -1")
    odd = e.let(f"trunc {t} {args[1]} to i1")
    sign = e.let(f"select i1 {odd}, {t} -1, {t} 1")
    fraction = e.let(f"select i1 {minus}, {t} {sign}, {t} 0")
    fraction = e.let(f"select i1 {one}, {t} 1, {t} {fraction}")
    negative = e.let(f"icmp slt {t} {args[1]}, 0")
    return e.let(f"select i1 {negative}, {t} {fraction}, {t} {power}")


def first_set(e: Emitter, operand: ScalarType, result: ScalarType, args: list[str]) -> str:
    """1 + the number of the lowest bit that is set; 0 of 0."""
    t = _t(operand)
    zeros = e.call(f"llvm.cttz.{_s(operand)}", t, [(t, args[0]), ("i1", "false")])
    found = e.let(f"add {t} {zeros}, 1")
    none = e.let(f"icmp eq {t} {args[0]}, 0")
    return e.let(f"select i1 {none}, {t} 0, {t} {found}")


def rsqrt(e: Emitter, operand: ScalarType, result: ScalarType, args: list[str]) -> str:
    from .llvm import number

    t = _t(operand)
    root = e.call(f"llvm.sqrt.{_s(operand)}", t, [(t, args[0])], e.fast)
    return e.let(f"fdiv {e.fast}{t} {number(1.0, operand)}, {root}")


def sign(e: Emitter, operand: ScalarType, result: ScalarType, args: list[str]) -> str:
    """-1, 1, or, of zeros and NaN, the number itself."""
    from .llvm import number

    t = _t(operand)
    unit = e.call(f"llvm.copysign.{_s(operand)}", t, [(t, number(1.0, operand)), (t, args[0])])
    nonzero = e.let(f"fcmp one {t} {args[0]}, {number(0.0, operand)}")
    return e.let(f"select i1 {nonzero}, {t} {unit}, {t} {args[0]}")


def cast(e: Emitter, operand: ScalarType, result: ScalarType, args: list[str]) -> str:
    a, (value,) = operand, args
    s, d = _t(a), _t(result)
    if result.kind == "bool":
        zero = "0" if a.kind != "float" else "0.0" if a.name not in ("f16", "bf16") else "0xH0000" if a.name == "f16" else "0xR0000"
        return e.let(f"fcmp une {s} {value}, {zero}" if a.kind == "float" else f"icmp ne {s} {value}, 0")
    if a.kind == "float" and result.kind == "float":
        if a.size == result.size:  # f16 and bf16 meet in f32
            value = e.let(f"fpext {s} {value} to float")
            return e.let(f"fptrunc float {value} to {d}")
        return e.let(f"{'fpext' if result.size > a.size else 'fptrunc'} {s} {value} to {d}")
    if a.kind == "float":
        name = f"llvm.fpto{'s' if result.kind == 'int' else 'u'}i.sat.{d}.{_s(a)}"
        return e.call(name, d, [(s, value)])
    if result.kind == "float":
        return e.let(f"{'sitofp' if a.kind == 'int' else 'uitofp'} {s} {value} to {d}")
    if result.bits == a.bits:
        return e.let(f"add {d} {value}, 0")
    if result.bits < a.bits:
        return e.let(f"trunc {s} {value} to {d}")
    return e.let(f"{'sext' if a.kind == 'int' else 'zext'} {s} {value} to {d}")


EMITTERS: dict[str, Callable[..., str]] = {
    "trunc_div": trunc_div,
    "trunc_mod": trunc_mod,
    "floor_div": floor_div,
    "mod": mod,
    "shift_left": shift(lambda type: "shl"),
    "shift_right": shift(lambda type: "ashr" if type.kind == "int" else "lshr"),
    "int_pow": int_pow,
    "first_set": first_set,
    "rsqrt": rsqrt,
    "sign": sign,
    "cast": cast,
}

# kind of atomic -> instruction by the kind of the type; None: a loop around cmpxchg
ATOMIC = {
    "add": {"float": "fadd", "int": "add", "uint": "add"},
    "min": {"float": "fmin", "int": "min", "uint": "umin"},
    "max": {"float": "fmax", "int": "max", "uint": "umax"},
    "and": {"int": "and", "uint": "and"},
    "or": {"int": "or", "uint": "or"},
    "xor": {"int": "xor", "uint": "xor"},
    "exchange": {"float": "xchg", "int": "xchg", "uint": "xchg"},
    "mul": {},
}


def atomic(e: Emitter, what: ir.Atomic, kind: str, pointer: str, at: str) -> str:
    """The register of what was there before."""
    scope, value = e.target.atomic_scope(), e.value(what.value)
    if what.kind == "cas":
        assert what.compare is not None
        pair = e.let(f"cmpxchg {pointer} {at}, {kind} {e.value(what.compare)}, {kind} {value}{scope} monotonic monotonic")
        return e.let(f"extractvalue {{ {kind}, i1 }} {pair}, 0")
    instruction = ATOMIC[what.kind].get(what.type.kind)
    if instruction is not None:
        return e.let(f"atomicrmw {instruction} {pointer} {at}, {kind} {value}{scope} monotonic")
    return multiplied(e, what, kind, pointer, at, value)


def multiplied(e: Emitter, what: ir.Atomic, kind: str, pointer: str, at: str, value: str) -> str:
    """No machine multiplies atomically: try until nobody came in between."""
    bits = f"i{8 * what.type.size}"
    is_float = what.type.kind == "float"
    scope, last = e.target.atomic_scope(), e.slot(bits)
    e.line(f"store {bits} {e.let(f'load atomic {bits}, {pointer} {at}{scope} monotonic, align {what.type.size}')}, ptr {last}")
    again, done = e.label("again"), e.label("done")
    e.line(f"br label %{again}")
    e.start(again)
    seen = e.let(f"load {bits}, ptr {last}")
    old = e.let(f"bitcast {bits} {seen} to {kind}") if is_float else seen
    product = e.let(f"{'fmul' if is_float else 'mul'} {kind} {old}, {value}")
    new = e.let(f"bitcast {kind} {product} to {bits}") if is_float else product
    pair = e.let(f"cmpxchg {pointer} {at}, {bits} {seen}, {bits} {new}{scope} monotonic monotonic")
    e.line(f"store {bits} {e.let(f'extractvalue {{ {bits}, i1 }} {pair}, 0')}, ptr {last}")
    fits = e.let(f"extractvalue {{ {bits}, i1 }} {pair}, 1")
    e.line(f"br i1 {fits}, label %{done}, label %{again}")
    e.start(done)
    return old
