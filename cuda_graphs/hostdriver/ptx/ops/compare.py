# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Comparisons and selections."""

from cuda_graphs.hostdriver.ptx.lowering.function import FunctionLowering
from cuda_graphs.hostdriver.ptx.lowering.rounding import flush, flush_wide, widen
from cuda_graphs.hostdriver.ptx.lowering.table import Op, row
from cuda_graphs.hostdriver.ptx.syntax.datatypes import PREDICATE, Type
from cuda_graphs.hostdriver.ptx.syntax.syntax import SINK, Not, Pair

from .packed import join, lanes

# PTX -> (signed integers, unsigned integers and bits, floats)
COMPARISONS = {
    "eq": ("eq", "eq", "oeq"),
    "ne": ("ne", "ne", "one"),
    "lt": ("slt", "ult", "olt"),
    "le": ("sle", "ule", "ole"),
    "gt": ("sgt", "ugt", "ogt"),
    "ge": ("sge", "uge", "oge"),
    "lo": (None, "ult", None),
    "ls": (None, "ule", None),
    "hi": (None, "ugt", None),
    "hs": (None, "uge", None),
    "equ": (None, None, "ueq"),
    "neu": (None, None, "une"),
    "ltu": (None, None, "ult"),
    "leu": (None, None, "ule"),
    "gtu": (None, None, "ugt"),
    "geu": (None, None, "uge"),
    "num": (None, None, "ord"),
    "nan": (None, None, "uno"),
}
BOOLEAN = ("and", "or", "xor")
TYPES = "b16 b32 b64 u16 u32 u64 s16 s32 s64"
FLOAT_TYPES = "f16 bf16 f32 f64 f16x2 bf16x2"
MODS = f"{' '.join(COMPARISONS)} {' '.join(BOOLEAN)} ftz"


def _compare(f: FunctionLowering, op: Op, kind: Type, a: str, b: str) -> str:
    name = op.one_of(*COMPARISONS)
    if not name:
        raise f.fail("the comparison is missing")
    order = COMPARISONS[name][2 if kind.is_float else 0 if kind.signed else 1]
    if order is None:
        raise f.fail(f"the comparison .{name} does not support .{kind.name}")
    if not kind.is_float:
        return f.let(f"icmp {order} {kind.value} {a}, {b}")
    (a, t), (b, _) = widen(f, a, kind), widen(f, b, kind)
    if "ftz" in op:
        a, b = flush_wide(f, a, kind), flush_wide(f, b, kind)
    return f.let(f"fcmp {order} {t} {a}, {b}")


def _results(f: FunctionLowering, op: Op, operands: tuple) -> list[str]:
    kind = op.type
    a, b = (f.read(operand, kind.value) for operand in operands[1:3])
    if kind.lanes == 1:
        return [_compare(f, op, kind, a, b)]
    pairs = zip(lanes(f, a, kind.element), lanes(f, b, kind.element), strict=True)
    return [_compare(f, op, kind.element, *pair) for pair in pairs]


def _combined(f: FunctionLowering, op: Op, operands: tuple, value: str) -> str:
    """Returns the value combined with the third source by .and, .or or .xor, if there is a third source."""
    boolean = op.one_of(*BOOLEAN)
    if bool(boolean) != (len(operands) == 4):
        raise f.fail("a boolean operator needs a third source, and a third source needs an operator")
    return f.let(f"{boolean} i1 {value}, {_predicate(f, operands[3])}") if boolean else value


def _predicate(f: FunctionLowering, operand: object) -> str:
    if isinstance(operand, Not):
        return f.let(f"xor i1 {f.read(operand.item, 'i1')}, true")
    return f.read(operand, "i1")


@row("setp", types=TYPES, mods=MODS, operands="3-4")
def set_predicate(f: FunctionLowering, op: Op, operands: tuple) -> None:
    results = _results(f, op, operands)
    _store_predicates(f, op, operands, results)


@row("setp:f", types=FLOAT_TYPES, mods=MODS, operands="3-4")
def set_predicate_float(f: FunctionLowering, op: Op, operands: tuple) -> None:
    _store_predicates(f, op, operands, _results(f, op, operands))


def _store_predicates(f: FunctionLowering, op: Op, operands: tuple, results: list[str]) -> None:
    """Stores p|q: the result and its complement, or the two lanes of a packed type."""
    targets = (
        (operands[0].first, operands[0].second) if isinstance(operands[0], Pair) else (operands[0], SINK)
    )
    if len(results) == 1:
        results = [results[0], f.let(f"xor i1 {results[0]}, true")]
    values = [
        "" if target is SINK else _combined(f, op, operands, value)
        for target, value in zip(targets, results, strict=True)
    ]
    for target, value in zip(targets, values, strict=True):
        if value:
            f.write(target, value, "i1")


@row("set", types=f"{TYPES} {FLOAT_TYPES}", mods=MODS, count="2", operands="3-4")
def set_value(f: FunctionLowering, op: Op, operands: tuple) -> None:
    _set_value(f, op, operands)


@row("set:f", types=f"{TYPES} {FLOAT_TYPES}", mods=MODS, count="2", operands="3-4")
def set_value_float(f: FunctionLowering, op: Op, operands: tuple) -> None:
    _set_value(f, op, operands)


# Destination type -> its representation of "true"; -1 for other types.
TRUE = {"f32": "1.0", "f16": "1.0", "bf16": str(0x3F80)}


def _set_value(f: FunctionLowering, op: Op, operands: tuple) -> None:
    target = op.types[0]
    results = [_combined(f, op, operands, value) for value in _results(f, op, operands)]
    element = target.element if len(results) == 2 and target.lanes == 2 else target
    if len(results) == 2 and target.lanes == 1:  # a packed comparison to an integer: a mask for each half
        words = [f.let(f"sext i1 {value} to i16") for value in results]
        f.write(operands[0], join(f, words, _HALF_WORD), "i32")
        return
    true = TRUE.get(element.name, "-1")
    zero = "0.0" if element.kind == "f" else "0"
    t = element.value
    values = [f.let(f"select i1 {value}, {t} {true}, {t} {zero}") for value in results]
    if len(values) == 2:
        f.write(operands[0], join(f, values, element), "i32")
    else:
        f.put(operands[0], values[0], element)


_HALF_WORD = Type("b16", "b", 16)


@row("selp", types=f"{TYPES} pred", operands="4")
def select(f: FunctionLowering, op: Op, operands: tuple) -> None:
    _select(f, op, operands)


@row("selp:f", types="f16 bf16 f16x2 f32 f64", operands="4")
def select_float(f: FunctionLowering, op: Op, operands: tuple) -> None:
    _select(f, op, operands)


def _select(f: FunctionLowering, op: Op, operands: tuple) -> None:
    target, a, b, condition = operands
    t = "i1" if op.type is PREDICATE else op.type.storage
    if t == "i64" and f.holds_pointer(target):
        t = "ptr"
    values = f.read(a, t), f.read(b, t)
    f.write(
        target,
        f.let(f"select i1 {_predicate(f, condition)}, {t} {values[0]}, {t} {values[1]}"),
        t,
        op.type.signed,
    )


@row("slct slct:f", types=f"{TYPES} f32 f64", mods="ftz", count="2", operands="4")
def select_by_sign(f: FunctionLowering, op: Op, operands: tuple) -> None:
    """Selects a if c >= 0, else b; NaN selects b, -0 selects a."""
    chosen, by = op.types
    t = chosen.value
    a, b, c = f.read(operands[1], t), f.read(operands[2], t), f.read(operands[3], by.value)
    if by.name == "s32":
        condition = f.let(f"icmp sge i32 {c}, 0")
    elif by.name == "f32":
        condition = f.let(f"fcmp oge float {flush(f, c, 'float') if 'ftz' in op else c}, 0.0")
    else:
        raise f.fail("the selecting type must be .s32 or .f32")
    f.put(operands[0], f.let(f"select i1 {condition}, {t} {a}, {t} {b}"), chosen)
