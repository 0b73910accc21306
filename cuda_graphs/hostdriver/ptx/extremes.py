# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Replaces LLVM's minimum and maximum intrinsics after optimisation, because the x86 back end gets them wrong.

LLVM 22.1 with AVX-512 returns NaN for llvm.minimumnum(x, NaN) if it knows that x is not NaN. A vectorised loop ends in
llvm.vector.reduce.fmin, which ignores the order -0 < +0. The optimiser knows these intrinsics, so it can vectorise
their loops. Only code generation receives comparisons and selections instead, which are about as fast.
"""

from __future__ import annotations

import re

# Suffix of an intrinsic -> (LLVM type of a lane, integer type of the same size).
LANES = {"f16": ("half", "i16"), "bf16": ("bfloat", "i16"), "f32": ("float", "i32"), "f64": ("double", "i64")}
# Intrinsic -> (name in this file, comparison, bit operation for zeros of both signs, whether it reduces a vector).
KINDS = {
    "minimumnum": ("min", "olt", "or", False),
    "maximumnum": ("max", "ogt", "and", False),
    "vector.reduce.fmin": ("min", "olt", "or", True),
    "vector.reduce.fmax": ("max", "ogt", "and", True),
}
_NAMES = "|".join(map(re.escape, KINDS))
INTRINSIC = re.compile(rf"@llvm\.({_NAMES})\.(?:v(\d+))?(b?f\d+)\b")
DECLARATION = re.compile(rf"^declare .*@llvm\.(?:{_NAMES})\..*\n", re.MULTILINE)


def replaced(ir: str) -> str:
    """Returns the module with calls of always-inlined functions in place of the intrinsics, and their definitions.

    A module without these intrinsics is returned unchanged.
    """
    if not INTRINSIC.search(ir):
        return ir
    definitions: dict[str, str] = {}

    def callee(found: re.Match[str]) -> str:
        name, lanes, lane = found[1], int(found[2] or 1), found[3]
        kind, comparison, zeros, reduces = KINDS[name]
        define = _reduction if reduces else _extreme
        return define(definitions, kind, comparison, zeros, lanes, lane)

    body = INTRINSIC.sub(callee, DECLARATION.sub("", ir))
    return "\n".join([body, *definitions.values()])


def _extreme(known: dict[str, str], kind: str, comparison: str, zeros: str, lanes: int, lane: str) -> str:
    """Defines a function of two values and returns its name.

    A number wins over NaN. Equal numbers differ in their bits only if they are zeros.
    """
    name = f"@cgh.{kind}.{lanes}.{lane}"
    t, bits, flags = (_vector(each, lanes) for each in (*LANES[lane], "i1"))
    known[name] = f"""
define internal {t} {name}({t} %a, {t} %b) alwaysinline nounwind {{
  %a.bits = bitcast {t} %a to {bits}
  %b.bits = bitcast {t} %b to {bits}
  %zero.bits = {zeros} {bits} %a.bits, %b.bits
  %zero = bitcast {bits} %zero.bits to {t}
  %equal = fcmp oeq {t} %a, %b
  %right = select {flags} %equal, {t} %zero, {t} %b
  %nan = fcmp uno {t} %b, %b
  %other = select {flags} %nan, {t} %a, {t} %right
  %first = fcmp {comparison} {t} %a, %other
  %result = select {flags} %first, {t} %a, {t} %other
  ret {t} %result
}}
"""
    return name


def _reduction(known: dict[str, str], kind: str, comparison: str, zeros: str, lanes: int, lane: str) -> str:
    """Defines a function that reduces a vector of at least two lanes, and returns its name.

    Each step combines two halves, which may share a lane.
    """
    name = f"@cgh.reduce.{kind}.{lanes}.{lane}"
    element = LANES[lane][0]
    lines, value, count = [], "%0", lanes
    while count > 2:
        half = (count + 1) // 2
        wide, t = f"<{count} x {element}>", f"<{half} x {element}>"
        low, high = (_lanes(range(first, first + half)) for first in (0, count - half))
        function = _extreme(known, kind, comparison, zeros, half, lane)
        lines += [
            f"%low{half} = shufflevector {wide} {value}, {wide} poison, {low}",
            f"%high{half} = shufflevector {wide} {value}, {wide} poison, {high}",
            f"%of{half} = call {t} {function}({t} %low{half}, {t} %high{half})",
        ]
        value, count = f"%of{half}", half
    function = _extreme(known, kind, comparison, zeros, 1, lane)
    lines += [
        f"%first = extractelement <2 x {element}> {value}, i32 0",
        f"%second = extractelement <2 x {element}> {value}, i32 1",
        f"%result = call {element} {function}({element} %first, {element} %second)",
    ]
    text = "\n  ".join(lines)
    known[name] = f"""
define internal {element} {name}({_vector(element, lanes)}) alwaysinline nounwind {{
  {text}
  ret {element} %result
}}
"""
    return name


def _vector(element: str, lanes: int) -> str:
    return element if lanes == 1 else f"<{lanes} x {element}>"


def _lanes(numbers: range) -> str:
    return f"<{len(numbers)} x i32> <{', '.join(f'i32 {number}' for number in numbers)}>"
