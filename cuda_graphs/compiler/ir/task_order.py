# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Plans: the order of execution of the tasks of a program (a part of ir.py)."""

from __future__ import annotations

from collections.abc import Iterator

from cuda_graphs.compiler.records import record

from .host_calls import Argument
from .values import Array, Condition, Loc

__all__ = [
    "LOOPS",
    "Branch",
    "Exchange",
    "Fork",
    "HostStep",
    "Plan",
    "Resident",
    "Step",
    "all_steps",
    "steps_of",
    "tasks_of",
]

LOOPS = ("while", "do")  # kinds of Conditionals that repeat


@record
class Branch:
    """A Conditional among tasks, with the plans of its blocks."""

    kind: str
    condition: Condition
    plans: tuple[Plan, ...]


@record
class Fork:
    """Sections among tasks, with the plans of their blocks."""

    plans: tuple[Plan, ...]


@record
class Resident:
    """Tasks that run in one launch. Its threads stay, and wait for each other between two tasks.

    plan     the order of execution; conditions are in memory, under their names
    barrier  memory of the grid barrier: it is 0 before the first launch, and keeps its content between launches
    stop     a word: its loops end while it is not 0; None without loops
    """

    name: str
    plan: Plan
    barrier: Array
    stop: Array | None = None

    @property
    def words(self) -> tuple[Array, ...]:
        """The memory that belongs to no task."""
        own = (self.barrier,) if self.stop is None else (self.barrier, self.stop)
        return (
            *own,
            *dict.fromkeys(
                each for step in self.exchanges for each in (step.table, step.source, step.target)
            ),
        )

    @property
    def exchanges(self) -> tuple[Exchange, ...]:
        return tuple(step for step in all_steps(self.plan) if isinstance(step, Exchange))


@record
class HostStep:
    """A HostCall among tasks. It has no plans inside.

    object, method  the path of the object, and the name of its method
    args            as host_calls.py describes them
    """

    object: str
    method: str
    args: tuple[Argument, ...]
    loc: Loc | None = None
    plans: tuple[Plan, ...] = ()


@record
class Exchange:
    """A reduction over all ranks inside a Resident, which does the work of a HostCall (codegen/ptx/ptx_exchange.py).

    call    the HostCall among tasks that it replaces
    source, target  the arrays, which may be the same one
    table   memory that the object of the call gives to the launch
    """

    call: HostStep
    source: Array
    target: Array
    op: str
    table: Array
    plans: tuple[Plan, ...] = ()


Step = int | Branch | Fork | Resident | HostStep | Exchange
Plan = tuple[Step, ...]  # numbers of tasks, in the order in which they run


def all_steps(plan: Plan) -> Iterator[Step]:
    """Yield the steps of a plan, each before the steps inside it."""
    for step in plan:
        yield step
        if not isinstance(step, int):
            for inner in (step.plan,) if isinstance(step, Resident) else step.plans:
                yield from all_steps(inner)


def tasks_of(plan: Plan) -> Iterator[int]:
    """Return the tasks of a plan, in the order of the source."""
    return (step for step in all_steps(plan) if isinstance(step, int))


def steps_of(plan: Plan) -> Iterator[int | Resident]:
    """Yield the launches of a plan, in the order of the source."""
    for step in plan:
        if isinstance(step, (Branch, Fork, HostStep, Exchange)):
            for inner in step.plans:
                yield from steps_of(inner)
        else:
            yield step
