# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Finds atomics whose results depend on the order of the iterations: the others may move to another loop.

    total[0] += n[i]; cg.atomic_max(change[0], abs(x[i]))     any order gives the same bits
    total[0] += x[i]                                          each order of floats has its own roundings
    cg.atomic_max(change[0], x[i])                            0.0 and -0.0 are equal: the order decides which one stays

A loop alone may repeat its bits, as on one thread. In another loop LLVM would combine the values in another order.
Only a large sum of floats, which several threads compute, has no fixed order anyway (`Artifact.large_loops`).
"""

from __future__ import annotations

import math

from cuda_graphs.compiler.ir import ir

__all__ = ["is_sum", "is_unsigned", "order_matters"]

BITWISE = ("and", "or", "xor")
# Kind of the elements -> kinds of atomics that give the same in any order.
FREE = {
    "bool": BITWISE,
    "int": ("add", "mul", "min", "max", *BITWISE),
    "uint": ("add", "mul", "min", "max", *BITWISE),
    "float": ("min", "max"),
}
# Rows of floats whose sign bit is 0, and rows for which it is if it is 0 in all operands.
UNSIGNED = ("abs", "exp", "exp2", "cosh")
KEPT = ("add", "mul", "div", "min", "max", "sqrt")


def order_matters(atomic: ir.Atomic, used: set[ir.Value], large: bool) -> str:
    """Returns why the result of an atomic depends on the order of the iterations, or "".

    `used`: the values that statements of the task use. `large`: the order of sums of floats is not fixed anyway.
    """
    line = ir.line_of(atomic.loc)
    if atomic in used:
        return f"line {line} uses the old value of an atomic, which depends on the order of the iterations"
    kind = atomic.type.kind
    if atomic.kind not in FREE[kind]:
        if is_sum(atomic):
            if large:
                return ""
            return (
                f"line {line} combines floats, and their order decides how the result is rounded: only sums of many "
                "iterations may share a loop"
            )
        return f"line {line} is atomic, and the result depends on the order of the iterations"
    if kind == "float" and may_be_negative_zero(atomic.value):
        return (
            f"line {line} compares floats that may be 0.0 and -0.0, and their order decides which zero stays"
        )
    return ""


def is_sum(atomic: ir.Atomic) -> bool:
    """Returns whether an atomic combines floats, so that the order decides how the result is rounded."""
    return atomic.type.kind == "float" and atomic.kind in ("add", "mul")


def may_be_negative_zero(value: ir.Value) -> bool:
    """Returns whether a float may be -0.0. No cast of an integer is."""
    match value:
        case ir.Op("cast", (a,)):
            return a.type.kind == "float" and may_be_negative_zero(a)
    return not is_unsigned(value)


def is_unsigned(value: ir.Value) -> bool:
    """Returns whether the sign bit of a float is 0. NaN counts as such."""
    match value:
        case ir.Const():
            return math.copysign(1, float(value.value)) > 0
        case ir.Op("mul", (a, b)) if a is b:
            return True
        case ir.Op("cast", (a,)):
            return a.type.kind in ("uint", "bool") or (a.type.kind == "float" and is_unsigned(a))
        case ir.Op(name, args):
            return name in UNSIGNED or (name in KEPT and all(map(is_unsigned, args)))
    return False
