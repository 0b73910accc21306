# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Implicit conversions: of a value to the type of the name, element, parameter or result that it is assigned to.

A conversion that can lose bits or range is reported. `cg.f32(x)` and cg.cast convert without a report.
"""

from __future__ import annotations

from typing import Any

from cuda_graphs.compiler import errors
from cuda_graphs.compiler.errors import CompileTypeError, compile_error
from cuda_graphs.compiler.frontend.frame.frame import Frame
from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.ir.builder import remedy_for, spelled
from cuda_graphs.compiler.ir.ops import evaluate
from cuda_graphs.compiler.ir.scalars import scalar
from cuda_graphs.compiler.ir.types import ScalarType, i32, promote

__all__ = ["DIGITS", "convert_implicitly", "holds", "keeps", "report", "report_lost_bits"]

# Binary digits of the floats' significands (IEEE 754; bfloat16 has the exponent of an f32).
DIGITS = {"f16": 11, "bf16": 8, "f32": 24, "f64": 53}


def holds(type: ScalarType, other: ScalarType) -> bool:
    """Return whether a type has every value of another type, besides NaN."""
    if type == other or other.kind == "bool":
        return True
    if type.kind == "bool" or other.kind == "float" != type.kind:
        return False
    if type.kind == "float":
        if other.kind == "float":
            return promote(type, other) == type
        return other.bits - (other.kind == "int") <= DIGITS[type.name]
    return type.minimum <= other.minimum and other.maximum <= type.maximum


def suits(type: ScalarType, other: ScalarType) -> bool:
    """Return whether elements of a type, and operands of `+=`, take values of another type without a report.

    A float takes integers, and of two integers of one size the unsigned one takes the other: these are the promotions
    of arithmetic. A small integer takes those of up to 4 bytes, because a literal makes arithmetic on it an i32.
    """
    both_whole = {type.kind, other.kind} <= {"int", "uint"}
    return promote(type, other) == type or (both_whole and type.size < i32.size and other.size <= i32.size)


def keeps(value: ir.Const, type: ScalarType) -> bool:
    """Return whether a number that is known at compile time survives a conversion. Floats are rounded silently."""
    if value.type.kind == type.kind == "float":
        return (
            holds(type, value.type)
            or abs(value.value) <= _largest(type)
            or not abs(value.value) < float("inf")
        )
    return converted(value, type) == value.value


def survives(value: ir.Value, type: ScalarType) -> bool:
    """Return whether a value is a number, or a choice between numbers, that are known and survive a conversion."""
    if isinstance(value, ir.Op) and value.name == "select":
        return all(survives(each, type) for each in value.args[1:])
    return isinstance(value, ir.Const) and keeps(value, type)


def converted(value: ir.Const, type: ScalarType) -> Any:
    """Return the result of a cast of a constant, as the op table defines it."""
    return evaluate("cast", (value.type,), (scalar(value.value, value.type),), type).item()


def _largest(type: ScalarType) -> float:
    return {"f16": 65504.0, "bf16": 3.3895313892515355e38, "f32": 3.4028234663852886e38}.get(
        type.name, float("inf")
    )


def convert_implicitly(
    frame: Frame, value: ir.Value, type: ScalarType, place: str, as_operand: bool = False
) -> ir.Value:
    """Return a value in the type of its place, and report a conversion that can lose bits or range.

    Args:
        place: The name of the place for messages: "'acc'", "an element of 'x'".
        as_operand: True for elements and for operands of `+=`, which follow the rule of `suits`.
    """
    if value.type != type:
        is_safe = survives(value, type) or holds(type, value.type)
        if not is_safe and as_operand and not isinstance(value, ir.Const):
            is_safe = suits(type, value.type)
        if not is_safe:
            report(frame, value.type, type, place)
    return frame.builder.checked_cast(value, type)


def report(frame: Frame, given: ScalarType, type: ScalarType, place: str) -> None:
    """Warn of a conversion, or raise in a kernel that is strict."""
    can_lose = f"the conversion can lose {lost(given, type)}"
    complain(
        frame,
        f"{place} is {article(type)}, and the value is {article(given)}: {can_lose}",
        f"write cg.{type}(...) if that is intended, or declare the place as cg.{given}",
    )


def report_lost_bits(frame: Frame, exact: int) -> None:
    """Warn of arithmetic on numbers of the source whose result has too many bits, or raise in a strict kernel."""
    type = frame.rules.int
    complain(
        frame,
        f"this is {spelled(exact)}, and numbers of the source are {type}: the result loses bits",
        remedy_for(exact, type),
    )


def complain(frame: Frame, cause: str, remedy: str) -> None:
    """Warn, or make an error in a kernel that is strict. The error counts if no type of a name grows any more."""
    if frame.rules.strict:
        frame.weak_types.errors.append(compile_error(CompileTypeError, frame.builder.loc, cause, remedy))
        return
    errors.warn(
        frame.builder.loc, cause, remedy if remedy.startswith("cg.") else remedy[0].upper() + remedy[1:]
    )


def article(type: ScalarType) -> str:
    return f"{'a' if type.name[0] in 'bu' else 'an'} {type}"


def lost(given: ScalarType, type: ScalarType) -> str:
    """Return what a conversion can lose: "digits", "the fraction and range", "range"."""
    if type.kind == "float":
        return "digits"
    if type.kind == "bool":
        return "the number"
    return "the fraction and range" if given.kind == "float" else "range"
