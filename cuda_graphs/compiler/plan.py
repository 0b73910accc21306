# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Which tasks of a program run when (a part of ir.py)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .ir import Array, Condition

__all__ = ["LOOPS", "Branch", "Fork", "Plan", "Resident", "Step", "all_steps", "steps_of", "tasks_of"]

LOOPS = ("while", "do")  # kinds of Conditionals


@dataclass(frozen=True)
class Branch:
    """A Conditional among tasks: what its blocks have become."""

    kind: str
    condition: Condition
    plans: tuple[Plan, ...]


@dataclass(frozen=True)
class Fork:
    """Sections among tasks: what their blocks have become."""

    plans: tuple[Plan, ...]


@dataclass(frozen=True)
class Resident:
    """Tasks that are one launch: its threads stay, and wait for each other between two tasks.

    plan     which of them runs when; conditions are in memory, under their names
    barrier  memory that is 0 before the first launch, and whose content is the barrier's between two
    """

    name: str
    plan: Plan
    barrier: Array


Step = int | Branch | Fork | Resident
Plan = tuple[Step, ...]  # numbers of tasks, in the order in which they run


def all_steps(plan: Plan) -> Iterator[Step]:
    """The steps of a plan, each before those inside it."""
    for step in plan:
        yield step
        if not isinstance(step, int):
            for inner in (step.plan,) if isinstance(step, Resident) else step.plans:
                yield from all_steps(inner)


def tasks_of(plan: Plan) -> Iterator[int]:
    """The tasks of a plan, in the order of the source."""
    return (step for step in all_steps(plan) if isinstance(step, int))


def steps_of(plan: Plan) -> Iterator[int | Resident]:
    """What a plan launches, in the order of the source."""
    for step in plan:
        if isinstance(step, (Branch, Fork)):
            for inner in step.plans:
                yield from steps_of(inner)
        else:
            yield step
