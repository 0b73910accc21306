# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Fuses neighbouring parallel tasks: one launch, and one pass over memory.

    for i in b: b[i] = b[i] * 2; for i in b: b[i] = b[i] + c[i]     =>     for i in b: b[i] = b[i] * 2 + c[i]

The tasks have the same index space. An iteration of the fused loop is that of the first task, then that of the second.
This changes no result if the tasks depend on each other only within an iteration. Where one task writes an array that
the other one uses, both access it at the indices of the loop, in the same positions. Other arrays must not be the same
memory. Two parameters of one element type may be, so such a pair is a condition on calls: `Program.apart`. Extents of
two parameters are another condition: `Program.equal`.

Within an iteration, values pass in registers (forward_stores.py). A task is a candidate if its iterations are straight
code with branches. Its atomics may run in any order (free_order.py), and tasks that see their results stay apart.
Statements of one thread between two loops, such as `total = 0`, move before or after the fused task if they depend
on nothing there. Each refusal has a reason, which `explain()` shows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import groupby, takewhile

from cuda_graphs.compiler.artifact import MOST_LIGHT, LoopSize, axes_of, iterations
from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.language.lowerings import FUSIONS

from .alias_classes import PASSED, may_alias
from .free_order import is_sum
from .fuse_stencils import fuse_stencil
from .fuse_tests import renumbered
from .propagate import without_unused
from .task_groups import Access, Extents, Group, Pairs, different_spaces, group_of

__all__ = ["NOTHING_AGAIN", "Limits", "fuse_tasks"]

Limits = Mapping[str, int]  # one of FUSIONS -> the most work that an iteration may do again
NOTHING_AGAIN: Limits = dict.fromkeys(FUSIONS, 0)

CONTRACTS = "fast_math=True may round a value differently if it does not pass through memory"


def fuse_tasks(
    program: ir.Program, fuse: str = "call", contracts: bool = False, most_again: Limits = NOTHING_AGAIN
) -> ir.Program:
    """Returns the program with fused tasks, `fusion`, `again`, `apart`, `equal`, and `large_loops`.

    `fuse`: one of FUSIONS. `contracts`: the code generator may contract floats. `most_again`: for each of FUSIONS, the
    work that an iteration may do again (fuse_stencils.py).
    """
    fuser = _Fuser(program, fuse, contracts, most_again)
    plan = fuser.plan(program.plan)
    kept = sorted(ir.tasks_of(plan))
    numbers = {number: place for place, number in enumerate(kept)}
    return ir.replace(
        program, tasks=tuple(fuser.tasks[number] for number in kept), plan=renumbered(plan, numbers),
        fusion=tuple(sorted(fuser.notes)), again=tuple(dict.fromkeys(fuser.again)),
        apart=tuple(fuser.apart), equal=tuple(fuser.equal),
        large_loops=large_loops(program, plan, most_again) if fuse == "call" and not contracts else (),
    )  # fmt: skip


def large_loops(program: ir.Program, plan: ir.Plan, most_again: Limits) -> tuple[LoopSize, ...]:
    """Returns the sizes of loops that must be large for a plan with fewer tasks than `plan` has, if there is one.

    These are the loops with sums of floats, and those whose iterations may compute elements again if they are large.
    """
    loops = [number for number, task in enumerate(program.tasks) if has_sum(task)]
    computes_more = most_again["large"] > most_again["call"]
    if not loops and not computes_more:
        return ()
    fuser = _Fuser(program, "large", False, most_again)
    fused = fuser.plan(program.plan)
    if computes_more:
        loops += [number for number in fuser.stencils if number not in loops]
    sizes = tuple((iterations(program.tasks[number]), axes_of(program.tasks[number])) for number in loops)
    is_less = len(list(ir.tasks_of(fused))) < len(list(ir.tasks_of(plan)))
    return sizes if is_less and (None, None) not in sizes else ()


def has_sum(task: ir.Task) -> bool:
    return task.loop is not None and any(
        isinstance(each, ir.Atomic) and is_sum(each) for each in ir.walk(task.loop.body)
    )


class _Fuser:
    """Fuses the tasks of a program.

    tasks     by number
    stencils  the numbers of tasks whose iterations compute elements again
    notes, again, apart, equal  `fusion` and the others of ir.Program
    """

    def __init__(self, program: ir.Program, fuse: str, contracts: bool, most_again: Limits) -> None:
        self.tasks = list(program.tasks)
        self.knows_calls, self.large, self.contracts = fuse != "any", fuse == "large", contracts
        self.most_again = most_again[fuse], most_again["large"]
        self.notes: list[tuple[tuple[int, ...], str]] = []
        self.again: list[tuple[tuple[int, ...], str]] = []
        self.stencils: list[int] = []
        self.apart: Pairs = dict.fromkeys(program.apart)
        self.equal: Extents = {}

    def plan(self, plan: ir.Plan) -> ir.Plan:
        """Returns a plan with fused tasks. Tasks with a conditional or sections between them are no neighbours."""
        found: list[ir.Step] = []
        for is_task, run in groupby(plan, lambda step: isinstance(step, int)):
            steps = list(run)
            found += self.neighbours(steps) if is_task else map(self.inner_plans, steps)  # type: ignore[arg-type]
        return tuple(found)

    def inner_plans(self, step: ir.Branch | ir.Fork) -> ir.Branch | ir.Fork:
        return ir.replace(step, plans=tuple(self.plan(inner) for inner in step.plans))

    def neighbours(self, numbers: Iterable[int]) -> list[int]:
        """Fuses neighbouring tasks as far as possible, from the first on. Returns the numbers of what is left."""
        groups: list[Group] = []
        for number in numbers:
            self.add(groups, group_of(number, self.tasks[number], self.large))
        groups = merge_statements(groups)
        for group in groups:
            if len(group.numbers) > 1:
                self.finish(group)
        return [group.numbers[0] for group in groups]

    def add(self, groups: list[Group], following: Group) -> None:
        """Adds a group after others: joins it to the last loop if possible."""
        between = list(takewhile(lambda group: group.is_movable, reversed(groups)))[::-1]
        if following.why or len(between) == len(groups) or groups[-1 - len(between)].why:
            between = []
        if not groups:
            groups.append(following)
            return
        place = len(groups) - 1 - len(between)
        found = self.join(groups[place], following)
        if isinstance(found, Group):
            moved = self.make_way(groups[place], between, following)
            if moved is not None:
                before, after, apart = moved
                found.apart.update(apart)
                groups[place:] = [*before, found, *after]
                return
            place, found = len(groups) - 1, groups[-1].why
        self.notes.append(((groups[place].lines[-1], following.lines[0]), found))
        groups.append(following)

    def make_way(
        self, one: Group, between: list[Group], other: Group
    ) -> tuple[list[Group], list[Group], Pairs] | None:
        """Divides statements between two loops into those that move before the loops, and those that stay after them.

        Also returns the pairs of arrays that must be apart for that. Returns None if a statement can do neither.
        """
        before: list[Group] = []
        after: list[Group] = []
        apart: Pairs = {}
        for each in between:
            if self.are_independent(each, [one, *after], apart):
                before.append(each)
            elif self.are_independent(each, [other], apart):
                after.append(each)
            else:
                return None
        return before, after, apart

    def are_independent(self, one: Group, others: list[Group], apart: Pairs) -> bool:
        """Returns whether a group may change places with all others. Adds conditions to `apart` if it may."""
        found: Pairs = {}
        pairs = ((a, b) for other in others for a in one.accesses for b in other.accesses)
        if any(self.conflict(a, b, found) for a, b in pairs):
            return False
        apart.update(found)
        return True

    def join(self, one: Group, other: Group) -> Group | str:
        """Returns two neighbours as one group, or the reason why they stay apart."""
        if one.why or other.why:
            return one.why or other.why
        if self.contracts:
            return CONTRACTS
        apart: Pairs = {}
        equal: Extents = {}
        why = different_spaces(one, other, equal if self.knows_calls else None)
        for a in one.accesses:
            for b in other.accesses:
                why = why or self.conflict(a, b, apart)
        if not why and {a.array for a in one.accesses}.isdisjoint(b.array for b in other.accesses):
            why = "they share no array, so one pass over memory is no less work"
        found: Group | str = why or one.joined(other, apart, equal)
        if why:
            found = fuse_stencil(one, other, self.conflict, self.knows_calls, *self.most_again) or why
        if isinstance(found, str):
            return found
        length = sum(1 for _ in ir.walk(found.body))
        if length > MOST_LIGHT:
            return f"an iteration of both would have {length} statements, and fused ones have at most {MOST_LIGHT}"
        return found

    def conflict(self, a: Access, b: Access, apart: Pairs) -> str:
        """Returns the reason why iterations of two tasks depend on each other, or "". Adds a condition to `apart`."""
        if not (a.writes or b.writes) or not may_alias(a.array, b.array) or (a.kind and a.kind == b.kind):
            return ""
        if a.array is b.array:
            if a.at is not None and a.at == b.at:
                return ""
            if a.kind:
                return (
                    f"line {b.line} {b.verb} {b.array.path!r}, which all iterations of line {a.line} change"
                )
            return f"line {b.line} {b.verb} {a.array.path!r} at other elements than line {a.line} {a.verb}"
        if self.knows_calls and a.array.space in PASSED and b.array.space in PASSED:
            if (b.array, a.array) not in apart:
                apart[a.array, b.array] = None
            return ""
        return (
            f"line {a.line} {a.verb} {a.array.path!r}, and line {b.line} {b.verb} {b.array.path!r}, which may be the "
            "same memory"
        )

    def finish(self, group: Group) -> None:
        """Replaces the first task of a group by the fused task."""
        first = self.tasks[group.numbers[0]]
        self.notes.append((tuple(group.lines), ""))
        self.again += [(tuple(group.lines), each) for each in group.again]
        self.stencils += group.numbers if group.again else []
        self.apart.update(group.apart)
        self.equal.update(group.equal)
        if group.loop is None:
            self.tasks[group.numbers[0]] = ir.Task(first.name, ir.Block(group.prologue), None, first.loc)
            return
        loop = ir.replace(group.loop, body=group.body)
        body = without_unused(ir.Block([*group.prologue, loop]))
        made = next(each for each in body.body if isinstance(each, ir.For))
        self.tasks[group.numbers[0]] = ir.Task(first.name, body, made, first.loc)


def merge_statements(groups: list[Group]) -> list[Group]:
    """Returns the groups with neighbouring statements of one thread as one group."""
    found: list[Group] = []
    for each in groups:
        if found and found[-1].is_movable and each.is_movable:
            found[-1] = found[-1].followed_by(each)
        else:
            found.append(each)
    return found
