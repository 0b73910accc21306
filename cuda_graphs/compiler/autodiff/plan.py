# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""What the sweep back needs of the forward sweep, and where it comes from.

The sweep back undoes each change of a needed local, so that at the mirror image of a point each has the value that it
had there. A value is then one of three:

1. computed once in its unit: the one of the forward sweep is still there;
2. made of locals that do not change between the place where it was computed and the point that asks: computed again;
3. anything else: spilled, which is to say copied to a local of its own, which is needed.

Loads are computed again, as the memory that a gradient reads does not change while it runs (hazards.py).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from .. import ir
from .places import Places, Point

__all__ = ["Plan", "planned"]


@dataclass
class Plan:
    """needed: locals whose changes the sweep back undoes; spills: the local of each value that has one."""

    needed: set[ir.Local] = field(default_factory=set)
    spills: dict[ir.Value, ir.Local] = field(default_factory=dict)


def planned(
    places: Places, demands: Iterable[tuple[ir.Value, Point]], counts: Iterable[ir.Get], always: set[ir.Local]
) -> Plan:
    """The plan for what a sweep back asks for. `always`: locals that are needed in any case."""
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
    """Whether a value can be had at a point without a spill; the locals that it then takes. `seen`: asked already."""
    if value in plan.spills or value in seen:
        return True  # one that cannot be had ends the search
    seen.add(value)
    if isinstance(value, (ir.Const, ir.Param, ir.LoopIndex)) or places.is_once(value):
        return True
    if isinstance(value, ir.Get):
        leaves.add(value.local)
        return value.local not in places.changed(value, point)
    return all(gather(places, plan, each, point, leaves, seen) for each in ir.operands_of(value))
