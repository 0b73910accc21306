# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The op table: what each pure operation takes, gives, means, and how LLVM says it.

One row an operation. The frontend asks for the type of the result, the checker for the same, the interpreter runs
`meaning`, the emitters fill `llvm` in, the language reference and the differential tests are made from the rows.

Operands of a row have one type, unless its rule says otherwise: promotion and casts are the frontend's, and visible in
the IR. Meanings are on NumPy scalars of exactly the types of the operands; overflow wraps, nothing warns.

`llvm` is a template, by the kind of the operands' type ("int" is signed, "uint", "float", "bool"; "any" for the rest):
`{t}` their LLVM type, `{0}` `{1}` the operands, `{f}` the flags of floating-point operations. A template that begins
with "@" is a function of the prelude of that name with a suffix for the type (prelude.py); one that begins with "!" is a
function that the target has (target_*.py), as sines differ.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .types import ScalarType, bool_

__all__ = ["OPS", "Row", "result_type"]

FLOAT, NUMBER, INTEGER, ANY = ("float",), ("int", "uint", "float"), ("int", "uint"), ("int", "uint", "float", "bool")


@dataclass(frozen=True)
class Row:
    """One operation.

    kinds    of types that the operands may have
    rule     "same": operands of one type, result of it; "compare": result bool; "select": a bool, then two of one type;
             "cast" and "bits": result of any type, given with the op
    meaning  on NumPy scalars
    llvm     template by kind
    spelling how the language says it, for the reference
    """

    name: str
    arity: int
    kinds: tuple[str, ...]
    rule: str
    meaning: Callable[..., Any]
    llvm: Mapping[str, str]
    spelling: str


def _wrapping(function: Callable[..., Any]) -> Callable[..., Any]:
    def meaning(*args: Any) -> Any:
        with np.errstate(all="ignore"):
            return args[-1].dtype.type(function(*args))

    return meaning


def _floor_div(a: Any, b: Any) -> Any:
    if a.dtype.kind == "f":
        return np.floor(a / b)
    return a // b if b else 0


def _mod(a: Any, b: Any) -> Any:
    if a.dtype.kind == "f":
        return a - b * np.floor(a / b)
    return a - _wrapping(_floor_div)(a, b) * b


def _trunc_div(a: Any, b: Any) -> Any:
    if not b:
        return 0
    quotient = abs(int(a)) // abs(int(b))
    return _wrap(quotient if (a < 0) == (b < 0) else -quotient, a.dtype)


def _trunc_mod(a: Any, b: Any) -> Any:
    return _wrap(int(a) - int(_trunc_div(a, b)) * int(b), a.dtype)


def _wrap(value: int, dtype: Any) -> Any:
    return np.array(value & ((1 << 8 * dtype.itemsize) - 1), f"u{dtype.itemsize}").view(dtype)[()]


def _power(base: Any, exponent: Any) -> Any:
    if exponent < 0:  # what truncation makes of the fraction; 0 has no reciprocal and gives 0
        return base if base in (1, -1) and exponent % 2 else int(base in (1, -1))
    return _wrap(pow(int(base), int(exponent), 1 << 8 * base.dtype.itemsize), base.dtype)


def _shift(a: Any, b: Any, left: bool) -> Any:
    count = int(b) % (8 * a.dtype.itemsize)
    return _wrap(int(a) << count if left else int(a) >> count, a.dtype)


def _count(function: Callable[[int, int], int]) -> Callable[[Any], Any]:
    def meaning(a: Any) -> Any:
        bits = 8 * a.dtype.itemsize
        return a.dtype.type(function(int(a) & ((1 << bits) - 1), bits))

    return meaning


def _round_away(a: Any) -> Any:
    return np.copysign(np.floor(np.abs(a) + a.dtype.type(0.5)) if abs(a) < 2**52 else np.abs(a), a)


def _sign(a: Any) -> Any:
    return a if a == 0 or a != a else np.copysign(a.dtype.type(1), a)


ROWS = (
    Row("add", 2, NUMBER, "same", _wrapping(np.add), {"float": "fadd {f}{t} {0}, {1}", "any": "add {t} {0}, {1}"}, "a + b"),
    Row("sub", 2, NUMBER, "same", _wrapping(np.subtract), {"float": "fsub {f}{t} {0}, {1}", "any": "sub {t} {0}, {1}"}, "a - b"),
    Row("mul", 2, NUMBER, "same", _wrapping(np.multiply), {"float": "fmul {f}{t} {0}, {1}", "any": "mul {t} {0}, {1}"}, "a * b"),
    Row("div", 2, FLOAT, "same", _wrapping(np.divide), {"float": "fdiv {f}{t} {0}, {1}"}, "a / b"),
    Row("floor_div", 2, NUMBER, "same", _wrapping(_floor_div), {"any": "@floor_div"}, "a // b"),
    Row("mod", 2, NUMBER, "same", _wrapping(_mod), {"any": "@mod"}, "a % b"),
    Row("trunc_div", 2, INTEGER, "same", _trunc_div, {"any": "@trunc_div"}, "cg.raw_div(a, b)"),
    Row("trunc_mod", 2, INTEGER, "same", _trunc_mod, {"any": "@trunc_mod"}, "cg.raw_mod(a, b)"),
    Row("int_pow", 2, INTEGER, "same", _wrapping(_power), {"any": "@int_pow"}, "a ** b"),
    Row("neg", 1, NUMBER, "same", _wrapping(np.negative), {"float": "fneg {f}{t} {0}", "any": "sub {t} 0, {0}"}, "-a"),
    Row("abs", 1, NUMBER, "same", _wrapping(np.abs), {"float": "call {t} @llvm.fabs.{s}({t} {0})", "int": "call {t} @llvm.abs.{s}({t} {0}, i1 false)", "uint": "add {t} {0}, 0"}, "abs(a)"),
    Row("min", 2, NUMBER, "same", _wrapping(np.fmin), {"float": "call {t} @llvm.minnum.{s}({t} {0}, {t} {1})", "int": "call {t} @llvm.smin.{s}({t} {0}, {t} {1})", "uint": "call {t} @llvm.umin.{s}({t} {0}, {t} {1})"}, "min(a, b)"),
    Row("max", 2, NUMBER, "same", _wrapping(np.fmax), {"float": "call {t} @llvm.maxnum.{s}({t} {0}, {t} {1})", "int": "call {t} @llvm.smax.{s}({t} {0}, {t} {1})", "uint": "call {t} @llvm.umax.{s}({t} {0}, {t} {1})"}, "max(a, b)"),
    Row("bit_and", 2, (*INTEGER, "bool"), "same", np.bitwise_and, {"any": "and {t} {0}, {1}"}, "a & b"),
    Row("bit_or", 2, (*INTEGER, "bool"), "same", np.bitwise_or, {"any": "or {t} {0}, {1}"}, "a | b"),
    Row("bit_xor", 2, (*INTEGER, "bool"), "same", np.bitwise_xor, {"any": "xor {t} {0}, {1}"}, "a ^ b"),
    Row("bit_not", 1, INTEGER, "same", np.invert, {"any": "xor {t} {0}, -1"}, "~a"),
    Row("not", 1, ("bool",), "same", np.logical_not, {"any": "xor i1 {0}, true"}, "not a"),
    Row("shift_left", 2, INTEGER, "same", lambda a, b: _shift(a, b, True), {"any": "@shift_left"}, "a << b"),
    Row("shift_right", 2, INTEGER, "same", lambda a, b: _shift(a, b, False), {"any": "@shift_right"}, "a >> b"),
    Row("popcount", 1, INTEGER, "same", _count(lambda a, bits: a.bit_count()), {"any": "call {t} @llvm.ctpop.{s}({t} {0})"}, "cg.popcnt(a)"),
    Row("leading_zeros", 1, INTEGER, "same", _count(lambda a, bits: bits - a.bit_length()), {"any": "call {t} @llvm.ctlz.{s}({t} {0}, i1 false)"}, "cg.clz(a)"),
    Row("first_set", 1, INTEGER, "same", _count(lambda a, bits: (a & -a).bit_length()), {"any": "@first_set"}, "cg.ffs(a)"),
    Row("less", 2, NUMBER, "compare", np.less, {"float": "fcmp {f}olt {t} {0}, {1}", "int": "icmp slt {t} {0}, {1}", "uint": "icmp ult {t} {0}, {1}"}, "a < b"),
    Row("less_equal", 2, NUMBER, "compare", np.less_equal, {"float": "fcmp {f}ole {t} {0}, {1}", "int": "icmp sle {t} {0}, {1}", "uint": "icmp ule {t} {0}, {1}"}, "a <= b"),
    Row("greater", 2, NUMBER, "compare", np.greater, {"float": "fcmp {f}ogt {t} {0}, {1}", "int": "icmp sgt {t} {0}, {1}", "uint": "icmp ugt {t} {0}, {1}"}, "a > b"),
    Row("greater_equal", 2, NUMBER, "compare", np.greater_equal, {"float": "fcmp {f}oge {t} {0}, {1}", "int": "icmp sge {t} {0}, {1}", "uint": "icmp uge {t} {0}, {1}"}, "a >= b"),
    Row("equal", 2, ANY, "compare", np.equal, {"float": "fcmp {f}oeq {t} {0}, {1}", "any": "icmp eq {t} {0}, {1}"}, "a == b"),
    Row("not_equal", 2, ANY, "compare", np.not_equal, {"float": "fcmp {f}une {t} {0}, {1}", "any": "icmp ne {t} {0}, {1}"}, "a != b"),
    Row("select", 3, ANY, "select", lambda c, a, b: a if c else b, {"any": "select i1 {0}, {t} {1}, {t} {2}"}, "cg.select(c, a, b)"),
    Row("cast", 1, ANY, "cast", lambda a: a, {"any": "@cast"}, "cg.cast(a, dtype), dtype(a)"),
    Row("bit_cast", 1, NUMBER, "bits", lambda a: a, {"any": "bitcast {t} {0} to {r}"}, "cg.bit_cast(a, dtype)"),
    Row("sqrt", 1, FLOAT, "same", _wrapping(np.sqrt), {"float": "call {f}{t} @llvm.sqrt.{s}({t} {0})"}, "cg.sqrt(a)"),
    Row("rsqrt", 1, FLOAT, "same", _wrapping(lambda a: 1 / np.sqrt(a)), {"float": "@rsqrt"}, "cg.rsqrt(a)"),
    Row("floor", 1, FLOAT, "same", np.floor, {"float": "call {t} @llvm.floor.{s}({t} {0})"}, "cg.floor(a)"),
    Row("ceil", 1, FLOAT, "same", np.ceil, {"float": "call {t} @llvm.ceil.{s}({t} {0})"}, "cg.ceil(a)"),
    Row("trunc", 1, FLOAT, "same", np.trunc, {"float": "call {t} @llvm.trunc.{s}({t} {0})"}, "cg.trunc(a)"),
    Row("round", 1, FLOAT, "same", _wrapping(_round_away), {"float": "call {t} @llvm.round.{s}({t} {0})"}, "cg.round(a)"),
    Row("sign", 1, FLOAT, "same", _wrapping(_sign), {"float": "@sign"}, "cg.sign(a)"),
    Row("fma", 3, FLOAT, "same", None, {"float": "call {t} @llvm.fma.{s}({t} {0}, {t} {1}, {t} {2})"}, "cg.fma(a, b, c)"),  # type: ignore[arg-type]
    *(
        Row(name, arity, FLOAT, "same", _wrapping(meaning), {"float": f"!{name}"}, f"cg.{name}({', '.join('ab'[:arity])})")
        for name, arity, meaning in (
            ("sin", 1, np.sin), ("cos", 1, np.cos), ("tan", 1, np.tan), ("asin", 1, np.arcsin), ("acos", 1, np.arccos),
            ("atan", 1, np.arctan), ("atan2", 2, np.arctan2), ("sinh", 1, np.sinh), ("cosh", 1, np.cosh),
            ("tanh", 1, np.tanh), ("exp", 1, np.exp), ("exp2", 1, np.exp2), ("log", 1, np.log), ("log2", 1, np.log2),
            ("log10", 1, np.log10), ("pow", 2, np.power),
        )
    ),
)  # fmt: skip

OPS = {row.name: row for row in ROWS}


def result_type(name: str, operands: tuple[ScalarType, ...], given: ScalarType | None = None) -> ScalarType:
    """The type of the result; TypeError, with the law that is broken, for operands that the row does not take."""
    row = OPS[name]
    if len(operands) != row.arity:
        raise TypeError(f"{name} takes {row.arity} operands, got {len(operands)}")
    first = operands[-1]
    rest = operands[1:] if row.rule == "select" else operands
    if row.rule == "select" and operands[0] != bool_:
        raise TypeError(f"select decides by a bool, got {operands[0]}")
    if any(operand != first for operand in rest):
        raise TypeError(f"{name} takes operands of one type, got {', '.join(map(repr, operands))}")
    if first.kind not in row.kinds:
        raise TypeError(f"{name} does not take {first}")
    if row.rule in ("cast", "bits"):
        if given is None or (row.rule == "bits" and given.size != first.size):
            raise TypeError(f"{name} from {first} needs a type of the same size to go to, got {given}")
        return given
    return bool_ if row.rule == "compare" else first
