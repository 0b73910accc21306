# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The op table: the operands, result, meaning and LLVM template of each pure operation.

Each operation is a row. The frontend and the checker take result types from the rows, the interpreter runs `meaning`,
and the emitters fill in `llvm`. The language reference and the differential tests are generated from the rows.

The operands of a row have one type, unless its rule says otherwise. The frontend promotes and casts operands, so casts
are visible in the IR. Meanings are functions of NumPy scalars of exactly the operand types. Overflow wraps without a
warning.

`llvm` maps the kind of the operands' type ("int" is signed, "uint", "float", "bool"; "any" for the rest) to a template:
`{t}` is their LLVM type, `{0}` `{1}` are the operands, `{f}` the flags of floating-point operations. A template that
begins with "@" names a function in prelude.py. A template that begins with "!" names a function of the target
(x86_target.py, ptx_target.py): the name is that of libm and, after `__nv_`, of libdevice. Arithmetic on f16 and bf16 is
computed in f32 and rounded once.

DERIVATIVES gives the contributions of the result's adjoint `g` to the adjoints of the operands `x`, `y` and `z`, also
in terms of rows of the table. autodiff/derivatives.py turns them into IR.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from cuda_graphs.compiler.records import record

from .scalars import bit_cast, cast, is_small, scalar
from .types import ScalarType, bool_, f32, i64

__all__ = ["OPS", "Row", "computing_type", "evaluate", "result_type"]

FLOAT, NUMBER, INTEGER, ANY = (
    ("float",),
    ("int", "uint", "float"),
    ("int", "uint"),
    ("int", "uint", "float", "bool"),
)


@record
class Row:
    """One operation.

    kinds    the kinds of types that the operands may have
    rule     "same": operands of one type, result of it; "compare": result bool; "select": a bool, then two of one type;
             "power": an exponent that is an i64, result of the type of the base; "cast" and "bits": result of any
             type, given with the op
    meaning  a function of NumPy scalars; casts are in scalars.py
    llvm     the template for each kind
    spelling the syntax of the language, for the reference
    derivative the contribution to each operand's adjoint in reverse mode; None: it cannot be differentiated
    """

    name: str
    arity: int
    kinds: tuple[str, ...]
    rule: str
    meaning: Callable[..., Any]
    llvm: Mapping[str, str]
    spelling: str
    derivative: tuple[str, ...] | None = None


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
    if exponent < 0:  # the truncated fraction; 0 has no reciprocal and gives 0
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


def _leading_zeros(a: int, bits: int) -> int:
    return bits - a.bit_length()


def _first_set(a: int, bits: int) -> int:
    return (a & -a).bit_length()


def _select(condition: Any, a: Any, b: Any) -> Any:
    return a if condition else b


def _rsqrt(a: Any) -> Any:
    return a.dtype.type(1) / np.sqrt(a)


def _shift_left(a: Any, b: Any) -> Any:
    return _shift(a, b, True)


def _shift_right(a: Any, b: Any) -> Any:
    return _shift(a, b, False)


def _shift_logical(a: Any, b: Any) -> Any:
    bits = 8 * a.dtype.itemsize
    return _wrap((int(a) & (1 << bits) - 1) >> int(b) % bits, a.dtype)


def _round_away(a: Any) -> Any:
    whole = np.trunc(a)  # adding a half would round up the number just below it
    return whole + np.copysign(a.dtype.type(np.abs(a - whole) >= 0.5), a) if np.isfinite(a) else a


def _sign(a: Any) -> Any:
    return a if a == 0 or a != a else np.sign(a)


def _pow(a: Any, b: Any) -> Any:
    if np.isneginf(a) and np.isfinite(b) and b != np.trunc(b):
        return np.power(-a, b)  # as in C and IEEE 754; NumPy returns NaN
    return np.power(a, b)


def _float_power(base: Any, exponent: Any) -> Any:
    """Return the power by repeated squaring. A negative exponent gives the reciprocal."""
    with np.errstate(all="ignore"):
        one = base.dtype.type(1)
        result, left = one, abs(int(exponent))
        while left:
            result = result * base if left & 1 else result
            base, left = base * base, left >> 1
        return one / result if exponent < 0 else result


def _fma(a: Any, b: Any, c: Any) -> Any:
    """Return a * b + c, rounded once. NumPy has no fma, so the code uses exact fractions."""
    if np.isfinite([a, b, c]).all():
        exact = Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))
        if exact:
            return _nearest(exact, a.dtype)
    elif np.isfinite([a, b]).all():
        return c  # NumPy's product might overflow
    with np.errstate(all="ignore"):
        return a * b + c  # an infinite factor, or the sign of a zero


def _nearest(exact: Fraction, dtype: Any) -> Any:
    """Return the float nearest to a fraction, ties to even."""
    info, size = np.finfo(dtype), abs(exact)
    exponent = max(exact.numerator.bit_length() - exact.denominator.bit_length() - 1, int(info.minexp))
    while size >= Fraction(2) ** (exponent + 1):
        exponent += 1
    unit = Fraction(2) ** (exponent - int(info.nmant))
    rounded = round(size / unit) * unit
    found = np.inf if rounded >= 1 << int(info.maxexp) else float(rounded)
    return dtype.type(np.copysign(found, 1.0 if exact > 0 else -1.0))


def _infix(any: str = "", **kinds: str) -> dict[str, str]:
    """Return templates of instructions on two operands, by kind."""
    return {kind: f"{name} {{t}} {{0}}, {{1}}" for kind, name in {"any": any, **kinds}.items() if name}


def _call(any: str = "", more: str = "", **kinds: str) -> dict[str, str]:
    """Return templates of intrinsics on one operand, by kind. `more` holds constant operands that follow it."""
    return {
        kind: f"call {{t}} @llvm.{name}.{{s}}({{t}} {{0}}{more})"
        for kind, name in {"any": any, **kinds}.items()
        if name
    }


def _call2(**kinds: str) -> dict[str, str]:
    """Return templates of intrinsics on two operands, by kind."""
    return {kind: f"call {{t}} @llvm.{name}.{{s}}({{t}} {{0}}, {{t}} {{1}})" for kind, name in kinds.items()}


def _comparison(condition: str) -> dict[str, str]:
    """Return templates of a comparison. It is ordered, so false for NaN."""
    return _infix(float=f"fcmp {{f}}o{condition}", int=f"icmp s{condition}", uint=f"icmp u{condition}")


BITS = (*INTEGER, "bool")
_ABS = {**_call(float="fabs"), **_call(int="abs", more=", i1 false"), "uint": "add {t} {0}, 0"}
_FMA = {"float": "call {t} @llvm.fma.{s}({t} {0}, {t} {1}, {t} {2})"}

ROWS = (
    Row("add", 2, NUMBER, "same", _wrapping(np.add), _infix("add", float="fadd {f}"), "a + b"),
    Row("sub", 2, NUMBER, "same", _wrapping(np.subtract), _infix("sub", float="fsub {f}"), "a - b"),
    Row("mul", 2, NUMBER, "same", _wrapping(np.multiply), _infix("mul", float="fmul {f}"), "a * b"),
    Row("div", 2, FLOAT, "same", _wrapping(np.divide), _infix(float="fdiv {f}"), "a / b"),
    Row("floor_div", 2, NUMBER, "same", _wrapping(_floor_div), {"any": "@floor_div"}, "a // b"),
    Row("mod", 2, NUMBER, "same", _wrapping(_mod), {"any": "@mod"}, "a % b"),
    Row("trunc_div", 2, INTEGER, "same", _trunc_div, {"any": "@trunc_div"}, "cg.raw_div(a, b)"),
    Row("trunc_mod", 2, INTEGER, "same", _trunc_mod, {"any": "@trunc_mod"}, "cg.raw_mod(a, b)"),
    Row("int_pow", 2, INTEGER, "same", _wrapping(_power), {"any": "@int_pow"}, "a ** b"),
    Row("float_pow", 2, FLOAT, "power", _float_power, {"any": "@float_pow"}, "a ** n"),
    Row("neg", 1, NUMBER, "same", _wrapping(np.negative), {"float": "fneg {f}{t} {0}", "any": "sub {t} 0, {0}"}, "-a"),
    Row("abs", 1, NUMBER, "same", _wrapping(np.abs), _ABS, "abs(a)"),
    Row("min", 2, NUMBER, "same", _wrapping(np.fmin), _call2(float="minnum", int="smin", uint="umin"), "min(a, b)"),
    Row("max", 2, NUMBER, "same", _wrapping(np.fmax), _call2(float="maxnum", int="smax", uint="umax"), "max(a, b)"),
    Row("bit_and", 2, BITS, "same", np.bitwise_and, _infix("and"), "a & b"),
    Row("bit_or", 2, BITS, "same", np.bitwise_or, _infix("or"), "a | b"),
    Row("bit_xor", 2, BITS, "same", np.bitwise_xor, _infix("xor"), "a ^ b"),
    Row("bit_not", 1, INTEGER, "same", np.invert, {"any": "xor {t} {0}, -1"}, "~a"),
    Row("not", 1, ("bool",), "same", np.logical_not, {"any": "xor i1 {0}, true"}, "not a"),
    Row("shift_left", 2, INTEGER, "same", _shift_left, {"any": "@shift_left"}, "a << b"),
    Row("shift_right", 2, INTEGER, "same", _shift_right, {"any": "@shift_right"}, "a >> b"),
    Row("shift_right_logical", 2, INTEGER, "same", _shift_logical, {"any": "@shift_right_logical"}, "cg.bit_shr(a, b)"),
    Row("popcount", 1, INTEGER, "same", _count(lambda a, bits: a.bit_count()), _call("ctpop"), "cg.popcnt(a)"),
    Row("leading_zeros", 1, INTEGER, "same", _count(_leading_zeros), _call("ctlz", ", i1 false"), "cg.clz(a)"),
    Row("first_set", 1, INTEGER, "same", _count(_first_set), {"any": "@first_set"}, "cg.ffs(a)"),
    Row("less", 2, NUMBER, "compare", np.less, _comparison("lt"), "a < b"),
    Row("less_equal", 2, NUMBER, "compare", np.less_equal, _comparison("le"), "a <= b"),
    Row("greater", 2, NUMBER, "compare", np.greater, _comparison("gt"), "a > b"),
    Row("greater_equal", 2, NUMBER, "compare", np.greater_equal, _comparison("ge"), "a >= b"),
    Row("equal", 2, ANY, "compare", np.equal, _infix("icmp eq", float="fcmp {f}oeq"), "a == b"),
    Row("not_equal", 2, ANY, "compare", np.not_equal, _infix("icmp ne", float="fcmp {f}une"), "a != b"),
    Row("is_nan", 1, FLOAT, "compare", np.isnan, {"float": "fcmp uno {t} {0}, {0}"}, "cg.isnan(a)"),
    Row("is_inf", 1, FLOAT, "compare", np.isinf, {"float": "@is_inf"}, "cg.isinf(a)"),
    Row("select", 3, ANY, "select", _select, {"any": "select i1 {0}, {t} {1}, {t} {2}"}, "cg.select(c, a, b)"),
    Row("cast", 1, ANY, "cast", lambda a: a, {"any": "@cast"}, "cg.cast(a, dtype), dtype(a)"),
    Row("stop_grad", 1, FLOAT, "same", lambda a: a, {"any": "bitcast {t} {0} to {t}"}, "cg.stop_grad(a)"),
    Row("replace_grad", 2, FLOAT, "same", lambda a, b: a, {"any": "bitcast {t} {0} to {t}"}, "cg.replace_grad(a, b)"),
    Row("bit_cast", 1, NUMBER, "bits", lambda a: a, {"any": "bitcast {t} {0} to {r}"}, "cg.bit_cast(a, dtype)"),
    Row("sqrt", 1, FLOAT, "same", _wrapping(np.sqrt), {"float": "call {f}{t} @llvm.sqrt.{s}({t} {0})"}, "cg.sqrt(a)"),
    Row("rsqrt", 1, FLOAT, "same", _wrapping(_rsqrt), {"float": "@rsqrt"}, "cg.rsqrt(a)"),
    Row("floor", 1, FLOAT, "same", np.floor, _call(float="floor"), "cg.floor(a)"),
    Row("ceil", 1, FLOAT, "same", np.ceil, _call(float="ceil"), "cg.ceil(a)"),
    Row("trunc", 1, FLOAT, "same", np.trunc, _call(float="trunc"), "cg.trunc(a)"),
    Row("round", 1, FLOAT, "same", _wrapping(_round_away), _call(float="round"), "cg.round(a)"),
    Row("sign", 1, NUMBER, "same", _wrapping(_sign), {"any": "@sign"}, "cg.sign(a)"),
    Row("fma", 3, FLOAT, "same", _fma, _FMA, "cg.fma(a, b, c)"),
    *(
        Row(name, n, FLOAT, "same", _wrapping(meaning), {"float": f"!{name}"}, f"cg.{name}({('a', 'a, b')[n - 1]})")
        for name, n, meaning in (
            ("sin", 1, np.sin), ("cos", 1, np.cos), ("tan", 1, np.tan), ("asin", 1, np.arcsin), ("acos", 1, np.arccos),
            ("atan", 1, np.arctan), ("atan2", 2, np.arctan2), ("sinh", 1, np.sinh), ("cosh", 1, np.cosh),
            ("tanh", 1, np.tanh), ("exp", 1, np.exp), ("exp2", 1, np.exp2), ("log", 1, np.log), ("log2", 1, np.log2),
            ("log10", 1, np.log10),
        )
    ),
    Row("pow", 2, FLOAT, "same", _wrapping(_pow), {"float": "!pow"}, "a ** b"),
)  # fmt: skip

# Row -> for each operand, an expression of `g`, the operands, numbers of their type, and rows as functions. "0": no
# derivative flows to the operand, as for piecewise constant rows. min and max of equal operands follow the second one.
NOTHING: dict[int, tuple[str, ...]] = {n: ("0",) * n for n in (1, 2, 3)}
LOG_2, LOG_10 = "0.6931471805599453", "2.302585092994046"

DERIVATIVES: dict[str, tuple[str, ...] | None] = {
    "add": ("g", "g"),
    "sub": ("g", "-g"),
    "mul": ("g * y", "g * x"),
    "div": ("g / y", "-(g / y * (x / y))"),
    "mod": ("g", "-(g * floor(x / y))"),
    "float_pow": ("select(equal(y, 0), 0, g * cast(y) * float_pow(x, y - 1))", "0"),
    "neg": ("-g",),
    "abs": ("g * sign(x)",),
    "min": ("select(bit_or(less(x, y), is_nan(y)), g, 0)", "select(bit_or(less(x, y), is_nan(y)), 0, g)"),
    "max": ("select(bit_or(less(y, x), is_nan(y)), g, 0)", "select(bit_or(less(y, x), is_nan(y)), 0, g)"),
    "select": ("0", "select(x, g, 0)", "select(x, 0, g)"),
    "cast": ("cast(g)",),
    "stop_grad": ("0",),
    "replace_grad": ("0", "g"),
    "bit_cast": None,
    "sqrt": ("g * 0.5 / sqrt(x)",),
    "rsqrt": ("g * -0.5 * (rsqrt(x) * rsqrt(x) * rsqrt(x))",),
    "fma": ("g * y", "g * x", "g"),
    "sin": ("g * cos(x)",),
    "cos": ("-(g * sin(x))",),
    "tan": ("g * (1 + tan(x) * tan(x))",),
    "asin": ("g / sqrt(1 - x * x)",),
    "acos": ("-g / sqrt(1 - x * x)",),
    "atan": ("g / (1 + x * x)",),
    "atan2": ("g * y / (x * x + y * y)", "-(g * x) / (x * x + y * y)"),
    "sinh": ("g * cosh(x)",),
    "cosh": ("g * sinh(x)",),
    "tanh": ("g * (1 - tanh(x) * tanh(x))",),
    "exp": ("g * exp(x)",),
    "exp2": (f"g * {LOG_2} * exp2(x)",),
    "log": ("g / x",),
    "log2": (f"g / (x * {LOG_2})",),
    "log10": (f"g / (x * {LOG_10})",),
    "pow": ("select(equal(y, 0), 0, g * y * pow(x, y - 1))", "select(equal(x, 0), 0, g * pow(x, y) * log(x))"),
    **dict.fromkeys(("floor", "ceil", "trunc", "round", "sign", "bit_not", "not"), NOTHING[1]),
    **dict.fromkeys(("popcount", "leading_zeros", "first_set", "is_nan", "is_inf"), NOTHING[1]),
    **dict.fromkeys(("floor_div", "trunc_div", "trunc_mod", "int_pow", "bit_and", "bit_or", "bit_xor"), NOTHING[2]),
    **dict.fromkeys(("shift_left", "shift_right", "shift_right_logical"), NOTHING[2]),
    **dict.fromkeys(("less", "less_equal", "greater", "greater_equal", "equal", "not_equal"), NOTHING[2]),
}  # fmt: skip

OPS = {row.name: replace(row, derivative=DERIVATIVES[row.name]) for row in ROWS}


def result_type(name: str, operands: tuple[ScalarType, ...], given: ScalarType | None = None) -> ScalarType:
    """Return the type of the result. Raises TypeError, with the broken rule, for unsuitable operands."""
    row = OPS[name]
    if len(operands) != row.arity:
        raise TypeError(f"{name} takes {row.arity} operands, got {len(operands)}")
    first = operands[0] if row.rule == "power" else operands[-1]
    alike = {"select": operands[1:], "power": operands[:1]}.get(row.rule, operands)
    if row.rule == "select" and operands[0] != bool_:
        raise TypeError(f"select decides by a bool, got {operands[0]}")
    if row.rule == "power" and operands[1] != i64:
        raise TypeError(f"{name} takes an i64 as exponent, got {operands[1]}")
    if any(operand != first for operand in alike):
        raise TypeError(f"{row.spelling} takes operands of one type, got {', '.join(map(repr, operands))}")
    if first.kind not in row.kinds:
        raise TypeError(f"{row.spelling} does not take {first}")
    if row.rule in ("cast", "bits"):
        if given is None or (row.rule == "bits" and given.size != first.size):
            raise TypeError(f"{name} from {first} needs a target type of the same size, got {given}")
        return given
    return bool_ if row.rule == "compare" else first


def computing_type(row: Row, operands: tuple[ScalarType, ...]) -> ScalarType:
    """Return the type of the operands in the template. It is f32 for f16 and bf16 that are computed in f32."""
    type = operands[0] if row.rule == "power" else operands[-1]
    return f32 if is_small(type) and row.rule not in ("select", "cast", "bits") else type


def evaluate(name: str, operands: tuple[ScalarType, ...], args: tuple[Any, ...], result: ScalarType) -> Any:
    """Return the result of the operation on scalars (scalars.py) of the operand types."""
    row = OPS[name]
    if row.rule in ("cast", "bits"):
        return (cast if row.rule == "cast" else bit_cast)(args[0], operands[0], result)
    if computing_type(row, operands) == f32:
        args = tuple(
            np.float32(arg) if is_small(type) else arg for arg, type in zip(args, operands, strict=True)
        )
    return scalar(row.meaning(*args), result)
