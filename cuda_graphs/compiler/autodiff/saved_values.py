# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The values that the reverse sweep needs from the forward sweep (to be recorded).

The reverse sweep undoes each change of a needed local. At the mirror image of a point, each needed local therefore has
the value that it had at the point. There are then three kinds of values:

1. A unit computes the value once: the reverse sweep uses the value of the forward sweep.
2. The value depends on locals that do not change between its computation and the point of use: the reverse sweep
   computes it again.
3. All other values are spilled: the forward sweep copies each to a new local, and this local is needed.

The reverse sweep repeats loads, as the memory that a gradient reads does not change while it runs (hazards.py).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from cuda_graphs.compiler.autodiff.analysis.program_points import Point, ProgramPoints
from cuda_graphs.compiler.ir import ir

__all__ = ["SavedValues", "choose_saved_values"]


@dataclass
class SavedValues:
    """The saved values of a kernel.

    needed  locals whose changes the reverse sweep undoes
    spills  local of each spilled value
    """

    needed: set[ir.Local] = field(default_factory=set)
    spills: dict[ir.Value, ir.Local] = field(default_factory=dict)


def choose_saved_values(
    points: ProgramPoints,
    demands: Iterable[tuple[ir.Value, Point]],
    counts: Iterable[ir.Get],
    always: set[ir.Local],
) -> SavedValues:
    """Return the saved values for the demands of a reverse sweep. The locals `always` are needed in any case."""
    saved = SavedValues(set(always))
    for count in counts:
        spill(saved, count)
    for value, point in demands:
        leaves: set[ir.Local] = set()
        if is_recomputable(points, saved, value, point, leaves, set()):
            saved.needed |= leaves
        else:
            spill(saved, value)
    return saved


def spill(saved: SavedValues, value: ir.Value) -> None:
    if value not in saved.spills:
        saved.spills[value] = ir.Local("saved", value.type)
        saved.needed.add(saved.spills[value])


def is_recomputable(
    points: ProgramPoints,
    saved: SavedValues,
    value: ir.Value,
    point: Point,
    leaves: set[ir.Local],
    seen: set[ir.Value],
) -> bool:
    """Return True if the reverse sweep can compute a value at a point without a spill.

    The function adds the locals of this computation to `leaves`. `seen` holds the values that were visited before.
    """
    if value in saved.spills or value in seen:
        return True  # a seen value is available: an unavailable value has ended the search
    seen.add(value)
    if isinstance(value, (ir.Const, ir.Param, ir.LoopIndex)) or points.is_once(value):
        return True
    if isinstance(value, ir.Get):
        leaves.add(value.local)
        return value.local not in points.changed(value, point)
    return all(is_recomputable(points, saved, each, point, leaves, seen) for each in ir.operands_of(value))
