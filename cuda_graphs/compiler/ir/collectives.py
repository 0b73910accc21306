# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The table of collectives: operations in which the threads of a warp or block combine or exchange values.

Each operation is a row, as in ops.py. The frontend takes types from the rows, the interpreter runs `meet`, and the
emitters read `combine` and `source`. The language reference is generated from the rows.

A warp is 32 consecutive threads of a block; the last warp may have fewer. Some threads may be inactive: the iterations
of a loop need not fill the last block, and an `if` may exclude lanes of a warp. Inactive threads contribute nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from cuda_graphs.compiler.records import record

from .ops import evaluate
from .types import ScalarType, bool_, i32, u32

__all__ = ["COLLECTIVES", "EXCHANGE", "WARP", "Row", "evaluate_collective", "result_type", "source_lane"]

WARP = 32  # lanes
# Bytes that a reduction over a block exchanges: a result of each warp, and the result of the block.
EXCHANGE = (WARP + 1) * 8


@record
class Row:
    """One operation.

    scope     the threads that take part: "warp" or "block"
    kinds     the kinds of types that a value may have
    rule      "same": the result has the type of the value; "ballot": a u32 of the lanes that gave True
    combine   the row of the op table that joins two values, or ""
    source    "index", "up", "down" or "xor": how a second operand, an i32, chooses the source lane; "": all lanes
    spelling  the call in the language
    note      the text for the language reference
    """

    name: str
    scope: str
    kinds: tuple[str, ...]
    rule: str
    combine: str
    source: str
    spelling: str
    note: str

    @property
    def arity(self) -> int:
        return 2 if self.source else 1


NUMBER, INTEGER, ANY = ("int", "uint", "float"), ("int", "uint"), ("int", "uint", "float", "bool")

# Names of reductions -> (kinds, row of the op table, note).
REDUCTIONS = {
    "reduce_add": (NUMBER, "add", "the sum"),
    "reduce_min": (NUMBER, "min", "the least; a float that is not NaN, if there is one"),
    "reduce_max": (NUMBER, "max", "the greatest; a float that is not NaN, if there is one"),
    "reduce_and": (INTEGER, "bit_and", "the bitwise and"),
    "reduce_or": (INTEGER, "bit_or", "the bitwise or"),
    "reduce_xor": (INTEGER, "bit_xor", "the bitwise exclusive or"),
    "any": (("bool",), "bit_or", "whether at least one is true"),
    "all": (("bool",), "bit_and", "whether all are true"),
}
SHUFFLES = {
    "shuffle": ("index", "lane", "the value of lane `lane % 32`"),
    "shuffle_up": ("up", "delta", "the value of the lane `delta % 32` below"),
    "shuffle_down": ("down", "delta", "the value of the lane `delta % 32` above"),
    "shuffle_xor": ("xor", "mask", "the value of the lane whose number differs in the bits of `mask % 32`"),
}

ROWS = (
    *(
        Row(f"{scope}.{name}", scope, kinds, "same", combine, "", f"cg.{scope}.{name}(a)", note)
        for scope in ("block", "warp")
        for name, (kinds, combine, note) in REDUCTIONS.items()
    ),
    *(
        Row(f"warp.{name}", "warp", ANY, "same", "", source, f"cg.warp.{name}(a, {operand})", note)
        for name, (source, operand, note) in SHUFFLES.items()
    ),
    Row("warp.ballot", "warp", ("bool",), "ballot", "", "", "cg.warp.ballot(a)", "bit i: whether lane i gave True"),
)  # fmt: skip
COLLECTIVES = {row.name: row for row in ROWS}


def result_type(name: str, operands: tuple[ScalarType, ...]) -> ScalarType:
    """Return the type of the result. Raises TypeError for operands that the row does not take."""
    row = COLLECTIVES[name]
    if len(operands) != row.arity:
        raise TypeError(f"{row.spelling} takes {row.arity} operands, got {len(operands)}")
    if operands[0].kind not in row.kinds:
        raise TypeError(f"{row.spelling} does not take {operands[0]}")
    if row.source and operands[1] != i32:
        raise TypeError(f"{row.spelling} takes an i32 as second operand, got {operands[1]}")
    return u32 if row.rule == "ballot" else operands[0]


def source_lane(source: str, lane: int, operand: int) -> int:
    """Return the lane whose value a lane gets. A number below 0 or above 31 is no lane."""
    count = operand % WARP
    return {"index": count, "up": lane - count, "down": lane + count, "xor": lane ^ count}[source]


Given = Mapping[int, tuple[Any, ...]]  # lane, or thread of the block -> its operands


def evaluate_collective(name: str, given: Given, types: tuple[ScalarType, ...]) -> dict[int, Any]:
    """Return the result of each active thread. Keys are lanes of one warp, or threads of one block."""
    row, kind = COLLECTIVES[name], types[0]
    if row.source:
        sources = {lane: source_lane(row.source, lane, int(args[1])) for lane, args in given.items()}
        return {lane: given[at if at in given else lane][0] for lane, at in sources.items()}
    if row.rule == "ballot":
        bits = sum(1 << lane for lane, (flag,) in given.items() if flag)
        return dict.fromkeys(given, np.uint32(bits))
    warps: list[Any] = [None] * WARP
    for number in {at // WARP for at in given}:
        lanes = [given.get(number * WARP + lane, (None,))[0] for lane in range(WARP)]
        warps[number] = _tree(row.combine, lanes, kind)
    return dict.fromkeys(given, _tree(row.combine, warps, kind))


def _tree(combine: str, values: list[Any], kind: ScalarType) -> Any:
    """Join 32 values, each with the value 16, then 8, 4, 2, 1 further on. None is the value of an inactive thread."""
    distance = WARP // 2
    while distance:
        values = [_joined(combine, values[i], values[i + distance], kind) for i in range(distance)]
        distance //= 2
    return values[0]


def _joined(combine: str, a: Any, b: Any, kind: ScalarType) -> Any:
    if a is None or b is None:
        return b if a is None else a
    return evaluate(combine, (kind, kind), (a, b), kind)


def neutral(combine: str, kind: ScalarType) -> Any:
    """Return the value that leaves the other operand unchanged; inactive threads have it.

    For floats it is -0.0 in sums, so that zeros keep their sign, and NaN in minima and maxima, which ignore it.
    """
    if kind == bool_:
        return combine == "bit_and"
    if kind.kind == "float":
        return -0.0 if combine == "add" else float("nan")
    ones = -1 if kind.kind == "int" else kind.maximum
    return {
        "add": 0, "min": kind.maximum, "max": kind.minimum, "bit_and": ones, "bit_or": 0, "bit_xor": 0,
    }[combine]  # fmt: skip
