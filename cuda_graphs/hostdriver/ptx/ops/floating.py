# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Floating point arithmetic. f16 and bf16 are computed in f32 and rounded again. That is exact, because their
significands are less than half as long. fma is rounded to odd first."""

from collections.abc import Callable

from cuda_graphs.hostdriver.ptx.lowering.function import FunctionLowering
from cuda_graphs.hostdriver.ptx.lowering.rounding import (
    MODES,
    arithmetic,
    flush,
    flush_wide,
    fused_to_odd,
    narrow,
    saturate,
    widen,
)
from cuda_graphs.hostdriver.ptx.lowering.table import Op, row
from cuda_graphs.hostdriver.ptx.syntax.datatypes import Type

from .approximate import approximate, quotient
from .packed import apply

# (LLVM type, operands widened to it) -> result.
Compute = Callable[[str, list[str]], str]

ROUNDING = "rn rz rm rp"
NARROW = "f16 bf16 f16x2 bf16x2"
ALL = f"f32 f64 {NARROW}"


@row("add:f sub:f mul:f", types=ALL, mods=f"{ROUNDING} ftz sat", operands="3")
def arithmetic_2(f: FunctionLowering, op: Op, operands: tuple) -> None:
    apply(f, op, operands, _rounded)


@row("div:f", types="f32 f64", mods=f"{ROUNDING} ftz approx full", operands="3")
def divide(f: FunctionLowering, op: Op, operands: tuple) -> None:
    apply(f, op, operands, quotient if "approx" in op or "full" in op else _rounded)


@row("fma:f mad:f", types=ALL, mods=f"{ROUNDING} ftz sat relu", operands="4")
def fused(f: FunctionLowering, op: Op, operands: tuple) -> None:
    apply(f, op, operands, _fused)


@row("sqrt:f", types="f32 f64", mods=f"{ROUNDING} ftz approx", operands="2")
def square_root(f: FunctionLowering, op: Op, operands: tuple) -> None:
    apply(f, op, operands, approximate if "approx" in op else _rounded)


@row("rcp:f", types="f32 f64", mods=f"{ROUNDING} ftz approx", operands="2")
def reciprocal(f: FunctionLowering, op: Op, operands: tuple) -> None:
    apply(f, op, operands, approximate if "approx" in op else _reciprocal)


def _reciprocal(f: FunctionLowering, op: Op, kind: Type, value: str) -> str:
    return _rounded(f, op, kind, "1.0", value, name="div")


def _rounded(f: FunctionLowering, op: Op, kind: Type, *values: str, name: str = "") -> str:
    mode = op.one_of(*MODES, default="rn")
    flushes = "ftz" in op and kind.bits == 32
    return _around(
        f, op, kind, values, lambda t, wide: arithmetic(f, name or op.name, mode, t, *wide, flushes=flushes)
    )


def _around(f: FunctionLowering, op: Op, kind: Type, values: tuple, compute: Compute) -> str:
    """Computes: flush -> widen -> compute -> flush -> saturate -> narrow; each step only if the opcode asks for it.

    `compute` flushes f32 itself. Its f16 result is below the least normal number exactly when the exact result is.
    """
    wide = [widen(f, value, kind)[0] for value in values]
    t = kind.value if kind.bits > 16 else "float"
    if "ftz" in op:
        wide = [flush_wide(f, value, kind) for value in wide]
    result = compute(t, wide)
    if "ftz" in op and kind.name == "f16":
        result = flush_wide(f, result, kind)
    if "sat" in op:
        result = saturate(f, result, t)
    return narrow(f, result, kind) if kind.bits == 16 else result


def _fused(f: FunctionLowering, op: Op, kind: Type, a: str, b: str, c: str) -> str:
    mode = op.one_of(*MODES, default="rn")

    def compute(t: str, values: list[str]) -> str:
        if kind.bits > 16:
            return arithmetic(f, "fma", mode, t, *values, flushes="ftz" in op)
        return fused_to_odd(f, *values)

    if "relu" not in op:
        return _around(f, op, kind, (a, b, c), compute)
    return _around(f, op, kind, (a, b, c), lambda t, values: _relu(f, compute(t, values), t))


def _relu(f: FunctionLowering, value: str, t: str) -> str:
    """Returns +0 for negative values; NaN stays NaN."""
    negative = f.let(f"fcmp ole {t} {value}, 0.0")
    return f.let(f"select i1 {negative}, {t} 0.0, {t} {value}")


@row("abs:f neg:f", types=ALL, mods="ftz", operands="2")
def sign_bit(f: FunctionLowering, op: Op, operands: tuple) -> None:
    apply(f, op, operands, _sign_bit)


def _sign_bit(f: FunctionLowering, op: Op, kind: Type, value: str) -> str:
    """Changes the sign bit of the integer, which treats NaNs and 16-bit formats like other values."""
    if "ftz" in op:
        value = flush(f, value, kind.value)
    word = f"i{kind.bits}"
    bits = f.convert(value, kind.value, word)
    top = 1 << kind.bits - 1
    if op.name == "neg":
        bits = f.let(f"xor {word} {bits}, {-top}")
    else:
        bits = f.let(f"and {word} {bits}, {top - 1}")
    return f.convert(bits, word, kind.value)


@row("copysign:f", types="f32 f64", operands="3")
def copy_sign(f: FunctionLowering, op: Op, operands: tuple) -> None:
    """Lowers `copysign d, a, b`: d has the sign of a and the magnitude of b."""
    t = op.type.value
    sign, size = (f.read(operand, t) for operand in operands[1:])
    f.put(operands[0], f.call(f"llvm.copysign.f{op.type.bits}", t, [(t, size), (t, sign)]), op.type)


@row("min:f max:f", types=ALL, mods="ftz NaN xorsign abs relu", operands="3-4")
def min_max(f: FunctionLowering, op: Op, operands: tuple) -> None:
    if len(operands) == 4 and "xorsign" in op:
        raise f.fail(".xorsign takes two values")
    apply(f, op, operands, _min_max)


def _min_max(f: FunctionLowering, op: Op, kind: Type, *values: str) -> str:
    """Returns the minimum or maximum, with -0 < +0. Without .NaN a number wins over NaN.

    llvm.minimumnum does this, and llvm.minimum implements .NaN. LLVM's code for llvm.minimumnum is wrong on some CPUs:
    extremes.py replaces it after optimisation.
    """
    t = kind.value if kind.bits > 16 else "float"
    suffix = f"f{32 if kind.bits == 16 else kind.bits}"
    intrinsic = f"llvm.{op.name}imum{'' if 'NaN' in op else 'num'}.{suffix}"
    wide = [widen(f, value, kind)[0] for value in values]
    if "ftz" in op:
        wide = [flush_wide(f, value, kind) for value in wide]
    sizes = wide
    if "abs" in op or "xorsign" in op:
        sizes = [f.call(f"llvm.fabs.{suffix}", t, [(t, value)]) for value in wide]
    result = sizes[0]
    for size in sizes[1:]:
        result = f.call(intrinsic, t, [(t, result), (t, size)])
    if "xorsign" in op:
        word = f"i{32 if kind.bits == 16 else kind.bits}"
        signs = f.let(f"xor {word} {f.convert(wide[0], t, word)}, {f.convert(wide[1], t, word)}")
        result = f.call(f"llvm.copysign.{suffix}", t, [(t, result), (t, f.convert(signs, word, t))])
    if "relu" in op:
        result = _relu(f, result, t)
    return narrow(f, result, kind) if kind.bits == 16 else result


# Property -> mask of the classes of llvm.is.fpclass for which it is true.
CLASSES = {
    "finite": 0x1F8,
    "infinite": 0x204,
    "number": 0x3FC,
    "notanumber": 0x003,
    "normal": 0x168,  # zeros too: "positive and negative zero are considered normal numbers" (PTX ISA)
    "subnormal": 0x090,
}


@row("testp:f", types="f32 f64", mods=" ".join(CLASSES), operands="2")
def test_property(f: FunctionLowering, op: Op, operands: tuple) -> None:
    t = op.type.value
    value = f.read(operands[1], t)
    result = f.call(f"llvm.is.fpclass.f{op.type.bits}", "i1", [(t, value), ("i32", str(CLASSES[op.mods[0]]))])
    f.write(operands[0], result, "i1")
