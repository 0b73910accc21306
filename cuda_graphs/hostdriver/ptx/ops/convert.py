# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""cvt between all integer and floating point types."""

from cuda_graphs.hostdriver.ptx.lowering.function import FunctionLowering
from cuda_graphs.hostdriver.ptx.lowering.rounding import (
    MODES,
    Exact,
    flush,
    flush_wide,
    narrow,
    saturate,
    to_float,
    to_odd_float,
    widen,
)
from cuda_graphs.hostdriver.ptx.lowering.table import Op, row
from cuda_graphs.hostdriver.ptx.syntax.datatypes import Type

from .packed import join

INTEGRAL = {"rni": "roundeven", "rzi": "trunc", "rmi": "floor", "rpi": "ceil"}
ALL = "u8 u16 u32 u64 s8 s16 s32 s64 f16 bf16 f32 f64"


@row(
    "cvt cvt:f",
    types=f"{ALL} f16x2 bf16x2",
    mods="rn rz rm rp rni rzi rmi rpi ftz sat relu",
    count="2",
    operands="2-3",
)
def convert(f: FunctionLowering, op: Op, operands: tuple) -> None:
    target, source = op.types
    if target.lanes == 2:
        _pair(f, op, operands, target, source)
        return
    if len(operands) != 2:
        raise f.fail("the number of operands is wrong")
    if "relu" in op and target.bits != 16:
        raise f.fail(".relu is for f16 and bf16")
    value = f.read(operands[1], source.value)
    if source.is_float and target.is_float:
        result = _float_to_float(f, op, value, source, target)
    elif source.is_float:
        result = _float_to_int(f, op, value, source, target)
    elif target.is_float:
        result = _int_to_float(f, op, value, source, target)
    else:
        result = _int_to_int(f, op, value, source, target)
    f.put(operands[0], result, target)


def _pair(f: FunctionLowering, op: Op, operands: tuple, target: Type, source: Type) -> None:
    """Lowers `cvt.rn.f16x2.f32 d, high, low`."""
    if len(operands) != 3 or source.name != "f32":
        raise f.fail("two .f32 values are needed")
    high, low = (
        _float_to_float(f, op, f.read(operand, "float"), source, target.element) for operand in operands[1:]
    )
    f.write(operands[0], join(f, [low, high], target.element), "i32")


def _int_to_int(f: FunctionLowering, op: Op, value: str, source: Type, target: Type) -> str:
    if "sat" in op:
        value = _clamp(f, value, source, target)
    return f.convert(value, source.value, target.value, source.signed)


def _limits(kind: Type) -> tuple[int, int]:
    if kind.signed:
        return -(1 << kind.bits - 1), (1 << kind.bits - 1) - 1
    return 0, (1 << kind.bits) - 1


def _clamp(f: FunctionLowering, value: str, source: Type, target: Type) -> str:
    (low, high), (source_low, source_high) = _limits(target), _limits(source)
    t, sign = source.value, "s" if source.signed else "u"
    if low > source_low:
        value = f.call(f"llvm.{sign}max.{t}", t, [(t, value), (t, str(low))])
    if high < source_high:
        value = f.call(f"llvm.{sign}min.{t}", t, [(t, value), (t, str(high))])
    return value


def _float_to_int(f: FunctionLowering, op: Op, value: str, source: Type, target: Type) -> str:
    """Clamps to the target's range. NaN becomes 0, or only the top bit if either type has 64 bits."""
    value, t = widen(f, value, source)
    if "ftz" in op:
        value = flush_wide(f, value, source)
    mode = op.one_of(*INTEGRAL)
    if not mode:
        raise f.fail("a rounding modifier (.rni, .rzi, .rmi or .rpi) is needed")
    suffix = "f64" if t == "double" else "f32"
    rounded = f.call(f"llvm.{INTEGRAL[mode]}.{suffix}", t, [(t, value)])
    name = f"llvm.fpto{'s' if target.signed else 'u'}i.sat.{target.value}.{suffix}"
    result = f.call(name, target.value, [(t, rounded)])
    if t == "double" or target.bits == 64:
        is_nan = f.let(f"fcmp uno {t} {value}, {value}")
        top = -(1 << target.bits - 1)
        result = f.let(f"select i1 {is_nan}, {target.value} {top}, {target.value} {result}")
    return result


def _int_to_float(f: FunctionLowering, op: Op, value: str, source: Type, target: Type) -> str:
    mode = op.one_of(*MODES, default="rn")
    if mode == "rn" and target.bits >= 32:
        result = f.let(f"{'s' if source.signed else 'u'}itofp {source.value} {value} to {target.value}")
        return saturate(f, result, target.value) if "sat" in op else result
    if target.bits == 16:  # rounding to odd first avoids double rounding
        wide = _directed_int(f, value, source, "float", "odd")
        return narrow(f, saturate(f, wide, "float") if "sat" in op else wide, target, mode)
    result = _directed_int(f, value, source, target.value, mode)
    return saturate(f, result, target.value) if "sat" in op else result


def _directed_int(f: FunctionLowering, value: str, source: Type, t: str, mode: str) -> str:
    """Converts an integer with directed rounding.

    The magnitude is cut to the digits of the float and converts exactly. The next float away from zero is one higher as
    an integer.
    """
    digits, word = (24, "i32") if t == "float" else (53, "i64")
    value = f.convert(value, source.value, "i64", source.signed)
    negative = f.let(f"icmp slt i64 {value}, 0") if source.signed else "false"
    if source.signed:
        value = f.call("llvm.abs.i64", "i64", [("i64", value), ("i1", "false")])
    zeros = f.call("llvm.ctlz.i64", "i64", [("i64", value), ("i1", "false")])
    excess = f.call("llvm.smax.i64", "i64", [("i64", f.let(f"sub i64 {64 - digits}, {zeros}")), ("i64", "0")])
    mask = f.let(f"shl i64 -1, {excess}")
    kept = f.let(f"and i64 {value}, {mask}")
    lost = f.let(f"icmp ne i64 {kept}, {value}")
    bits = f.let(f"bitcast {t} {f.let(f'uitofp i64 {kept} to {t}')} to {word}")
    if mode == "odd":
        bits = f.let(f"or {word} {bits}, {f.let(f'zext i1 {lost} to {word}')}")
    elif mode != "rz":
        side = f.let(f"xor i1 {negative}, {'true' if mode == 'rp' else 'false'}")
        away = f.let(f"and i1 {lost}, {side}")
        bits = f.let(f"add {word} {bits}, {f.let(f'zext i1 {away} to {word}')}")
    result = f.let(f"bitcast {word} {bits} to {t}")
    return f.let(f"select i1 {negative}, {t} {f.let(f'fneg {t} {result}')}, {t} {result}")


def _float_to_float(f: FunctionLowering, op: Op, value: str, source: Type, target: Type) -> str:
    value, t = widen(f, value, source)
    if "ftz" in op:
        value = flush_wide(f, value, source)
    integral = op.one_of(*INTEGRAL)
    if integral:
        value = f.call(f"llvm.{INTEGRAL[integral]}.{'f64' if t == 'double' else 'f32'}", t, [(t, value)])
    mode = op.one_of(*MODES, default="rn")
    if target.bits == 64:
        if t == "float":
            value = f.let(f"fpext float {value} to double")
        return saturate(f, value, "double") if "sat" in op else value
    if t == "double" and target.bits == 16:
        value = to_odd_float(f, value)
    elif t == "double":
        value = f.let(f"fptrunc double {value} to float") if mode == "rn" else to_float(f, Exact(value), mode)
        value = flush(f, value, "float") if "ftz" in op else value
    if "sat" in op:
        value = saturate(f, value, "float")
    if target.bits == 32:
        return value
    if "relu" in op:
        negative = f.let(f"fcmp ole float {value}, 0.0")
        value = f.let(f"select i1 {negative}, float 0.0, float {value}")
    return narrow(f, value, target, mode)
