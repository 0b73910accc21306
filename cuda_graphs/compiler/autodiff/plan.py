# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The plan of the values that the reverse sweep needs from the forward sweep.

The reverse sweep undoes each change of a needed local. At the mirror image of a point, each needed local therefore has
the value that it had at the point. The plan then distinguishes three kinds of values:

1. A unit computes the value once: the reverse sweep uses the value of the forward sweep.
2. The value depends on locals that do not change between its computation and the point of use: the reverse sweep
   computes it again.
3. All other values are spilled: the forward sweep copies each to a new local, and this local is needed.

The reverse sweep repeats loads, as the memory that a gradient reads does not change while it runs (hazards.py).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from cuda_graphs.compiler.autodiff.analysis.program_points import Places, Point
from cuda_graphs.compiler.ir import ir

__all__ = ["Plan", "planned"]


@dataclass
class Plan:
    """The saved values of a kernel.

    needed  locals whose changes the reverse sweep undoes
    spills  local of each spilled value
    """

    needed: set[ir.Local] = field(default_factory=set)
    spills: dict[ir.Value, ir.Local] = field(default_factory=dict)


def planned(
    places: Places, demands: Iterable[tuple[ir.Value, Point]], counts: Iterable[ir.Get], always: set[ir.Local]
) -> Plan:
    """Return the plan for the demands of a reverse sweep. The locals `always` are needed in any case."""
    plan = Plan(set(always))
    for count in counts:
        spill(plan, count)
    for value, point in demands:
        leaves: set[ir.Local] = set()
        if gather(places, plan, value, point, leaves, set()):
            plan.needed |= leaves
        else:
            spill(plan, value)
    return plan


def spill(plan: Plan, value: ir.Value) -> None:
    if value not in plan.spills:
        plan.spills[value] = ir.Local("saved", value.type)
        plan.needed.add(plan.spills[value])


def gather(
    places: Places, plan: Plan, value: ir.Value, point: Point, leaves: set[ir.Local], seen: set[ir.Value]
) -> bool:
    """Return True if the reverse sweep can compute a value at a point without a spill.

    The function adds the locals of this computation to `leaves`. `seen` holds the values that were visited before.
    """
    if value in plan.spills or value in seen:
        return True  # a seen value is available: an unavailable value has ended the search
    seen.add(value)
    if isinstance(value, (ir.Const, ir.Param, ir.LoopIndex)) or places.is_once(value):
        return True
    if isinstance(value, ir.Get):
        leaves.add(value.local)
        return value.local not in places.changed(value, point)
    return all(gather(places, plan, each, point, leaves, seen) for each in ir.operands_of(value))
