# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The parts of a kernel with control flow between tasks, as kernels: loops and statements between two conditionals.

A part has a gradient, and returns the condition that it sets. A tape calls the parts one by one, as the plan says. Each
iteration of a loop is then recorded as calls of its own.

    while c: { a loop; set_condition c = x }     =>     part 0: a loop; return x     plan: (("while", ..., (part 0)),)

A variable or a value of memory that passes from one part to another is kept in an array of one element, a hidden
parameter of the parts. A gradient reads the arrays as they were after its part. If a part needs the old value of a
variable and changes it, the part writes to a second array, which a further part, the commit, copies.

    t = t * t    =>    part 0: t_new[0] = t[0] * t[0]    part 1: t[0] = t_new[0]

A plan is a tuple of steps, which JSON can store:

    ("variable", path, type)                 declares the array of a variable, at the beginning
    ("part", number, condition)              calls a part, which returns the condition with this number (None: nothing)
    ("set", condition, value)                sets a condition to a constant
    ("while" or "do", condition, initial, most, line, plan)   repeats a plan. `most`: its max_iterations, or None
    ("if" or "switch", condition, plans)     selects a plan
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.ir.types import i32, u32
from cuda_graphs.compiler.passes.copy import Copier

from .analysis.refusals import gradient_error, refuse_host_calls

__all__ = ["part", "plan"]

Plan = tuple[tuple[Any, ...], ...]
Kept = ir.Local | ir.Value  # what passes from one part to another

# Values that a part computes again if another part has them.
IMPORTED = (ir.Op, ir.Extent)
FIRST = (ir.Const(0, i32),)  # the index of a kept value


def plan(kernel: ir.Kernel) -> ir.Kernel:
    """Return an empty kernel with the plan of all parts of a kernel. One without control flow has one part.

    Raises:
        CompileGradientError: The kernel has checkpoints or returns numbers.
    """
    return ir.replace(
        kernel, name=f"{kernel.name}_plan", body=ir.Block([]), returns=(), parts=_Parts(kernel).plan
    )


def part(kernel: ir.Kernel, number: int) -> ir.Kernel:
    """Return a part of a kernel, which has the plan of all parts. The arrays of the kernel include those of variables.

    Raises:
        CompileGradientError: The kernel has checkpoints or returns numbers.
    """
    found = _Parts(kernel)
    body, returns = found.body(number)
    return ir.replace(
        kernel, name=f"{kernel.name}_part_{number}", body=body, returns=returns, parts=found.plan
    )


class _Parts:
    """The parts of one kernel.

    statements  of each part
    home        the number of the part that computes a value; -1: each part that uses it
    kept        the path of the array of each variable and value that passes between parts
    changed     for each part that needs a commit: the variables that it changes
    plan        of all parts
    """

    def __init__(self, kernel: ir.Kernel) -> None:
        self.kernel = kernel
        self.statements: list[list[ir.Statement]] = []
        self.conditions: dict[ir.Condition, int] = {}
        self.home: dict[ir.Statement, int] = {}
        self.kept: dict[Kept, str] = {}
        refuse_host_calls(kernel)
        if any(isinstance(each, ir.Conditional) for each in ir.walk(kernel.body)):
            self.refuse()
            steps = self.block_plan(kernel.body)
        else:
            self.statements.append(list(kernel.body.body))
            steps = (("part", 0, None),)
        self.find_kept()
        self.changed = {
            number: found
            for number in range(len(self.statements))
            if (found := [each for each in self.locals_kept(number) if self.use_of(each, number) == "change"])
        }
        self.commits = {number: len(self.statements) + i for i, number in enumerate(self.changed)}
        self.plan = (*self.declarations(), *self.with_commits(steps))

    def refuse(self) -> None:
        if self.kernel.checkpoints or self.kernel.returns:
            what = "with checkpoints" if self.kernel.checkpoints else "that returns numbers"
            raise gradient_error(
                self.kernel.loc, f"a graph kernel {what} has no gradient",
                "write one without, and results to arrays",
            )  # fmt: skip

    # The plan

    def condition(self, condition: ir.Condition) -> int:
        return self.conditions.setdefault(condition, len(self.conditions))

    def block_plan(self, block: ir.Block) -> Plan:
        """Return the plan of a block, and enter its parts."""
        steps: list[tuple[Any, ...]] = []
        current: list[ir.Statement] = []
        for statement in flattened(block):
            if isinstance(statement, ir.Conditional):
                steps += self.steps(current)
                current = []
                plans = tuple(self.block_plan(inner) for inner in statement.blocks)
                steps.append(self.conditional(statement, plans))
            else:
                current.append(statement)
        return (*steps, *self.steps(current))

    def conditional(self, of: ir.Conditional, plans: tuple[Plan, ...]) -> tuple[Any, ...]:
        number = self.condition(of.condition)
        if of.kind not in ir.LOOPS:
            return of.kind, number, plans
        line = None if of.loc is None else ir.line_of(of.loc)
        return of.kind, number, of.condition.initial, of.most, line, plans[0]

    def steps(self, statements: list[ir.Statement]) -> list[tuple[Any, ...]]:
        """Return the steps of statements without conditionals."""
        made: list[tuple[Any, ...]] = []
        self.home.update(dict.fromkeys(ir.walk(ir.Block(statements)), -1))
        for group in groups_of(statements):
            match group:
                case [ir.SetCondition(condition, ir.Const(value))]:
                    made.append(("set", self.condition(condition), int(value)))
                    continue
            number = len(self.statements)
            self.statements.append(group)
            for each in ir.walk(ir.Block(group)):
                self.home[each] = number
            found = [each for each in group if isinstance(each, ir.SetCondition)]
            assert len(found) <= 1
            made.append(("part", number, self.condition(found[0].condition) if found else None))
        return made

    def declarations(self) -> Iterable[tuple[Any, ...]]:
        """Yield the steps that declare the arrays of variables."""
        twice = {each for found in self.changed.values() for each in found}
        for each, path in self.kept.items():
            yield "variable", path, each.type.name
            if each in twice:
                yield "variable", new(path), each.type.name

    def with_commits(self, steps: Plan) -> Plan:
        """Return a plan with a commit after each part that needs one."""
        made: list[tuple[Any, ...]] = []
        for step in steps:
            match step:
                case ("part", number, _):
                    made.append(step)
                    if number in self.commits:
                        made.append(("part", self.commits[number], None))
                case ("set", *_):
                    made.append(step)
                case (kind, condition, plans):
                    made.append((kind, condition, tuple(self.with_commits(each) for each in plans)))
                case _:
                    made.append((*step[:-1], self.with_commits(step[-1])))
        return tuple(made)

    # Variables and values that pass between parts

    def find_kept(self) -> None:
        """Enter the variables that a part needs from another one, and the values of memory."""
        for number, statements in enumerate(self.statements):
            for local in dict.fromkeys(locals_of(statements)):
                others = (each for n, each in enumerate(self.statements) if n != number)
                if not is_set_first(local, statements) and any(local in locals_of(each) for each in others):
                    self.keep(local, local.name)
        for number, statements in enumerate(self.statements):
            for each in ir.walk(ir.Block(statements)):
                for value in ir.operands_of(each):
                    self.keep_needed(value, number)

    def keep(self, what: Kept, name: str) -> None:
        if what not in self.kept:
            self.kept[what] = f"{name.replace('.', '_')} of part {len(self.kept)}"

    def keep_needed(self, value: ir.Value, number: int) -> None:
        """Keep what a part cannot compute again: values that other parts read."""
        if self.home.get(value, number) == number or value in self.kept:
            return
        if not isinstance(value, IMPORTED):
            self.keep(value, "value")
            return
        for each in ir.operands_of(value):
            self.keep_needed(each, number)

    def locals_kept(self, number: int) -> list[ir.Local]:
        return [each for each in dict.fromkeys(locals_of(self.statements[number])) if each in self.kept]

    def use_of(self, local: ir.Local, number: int) -> str:
        """Return how a part uses a kept variable: "read", "add" to it, "set" it, or "change" it by its old value."""
        statements = self.statements[number]
        if is_set_first(local, statements):
            return "set"
        uses = {
            type(each) for each in ir.walk(ir.Block(statements)) if local in locals_of([each], inner=False)
        }
        return {frozenset({ir.Get}): "read", frozenset({ir.Atomic}): "add"}.get(frozenset(uses), "change")

    # Parts

    def body(self, number: int) -> tuple[ir.Block, tuple[Any, ...]]:
        """Return the body of a part as a kernel, and the types that it returns."""
        arrays = {each.path: each for each in self.kernel.arrays}
        if number >= len(self.statements):
            of = next((part for part, commit in self.commits.items() if commit == number), None)
            return ir.Block([] if of is None else self.commit(of, arrays)), ()
        statements = self.statements[number]
        uses = {each: self.use_of(each, number) for each in self.locals_kept(number)}
        places = {each: arrays[self.kept[each]] for each in uses}
        before: list[ir.Statement] = []
        after: list[ir.Statement] = []
        for local, use in uses.items():
            if use == "change":
                load = ir.Load(places[local], FIRST)
                before += [load, ir.Set(local, load)]
            if use in ("set", "change"):
                to = arrays[new(self.kept[local])] if use == "change" else places[local]
                get = ir.Get(local)
                after += [get, ir.Store(to, FIRST, get)]
        copier = _PartCopier({each: places[each] for each, use in uses.items() if use in ("read", "add")})
        for each in ir.walk(ir.Block(statements)):
            for value in ir.operands_of(each):
                self.bring(value, number, arrays, copier.values, before)
        body = [copy for each in statements for copy in copier.statement(each)]
        states = tuple(each.value for each in body if isinstance(each, ir.SetCondition))
        for kept, path in self.kept.items():
            if isinstance(kept, ir.Value) and self.home[kept] == number:
                after.append(ir.Store(arrays[path], FIRST, copier.values[kept]))
        body = [*before, *(each for each in body if not isinstance(each, ir.SetCondition)), *after]
        if states:
            body.append(ir.Return(states, statements[-1].loc))
        return ir.Block(body), (u32,) * len(states)

    def commit(self, number: int, arrays: dict[str, ir.Array]) -> list[ir.Statement]:
        """Return the statements that make the new values of the variables of a part their values."""
        made: list[ir.Statement] = []
        for each in self.changed[number]:
            load = ir.Load(arrays[new(self.kept[each])], FIRST)
            made += [load, ir.Store(arrays[self.kept[each]], FIRST, load)]
        return made

    def bring(
        self,
        value: ir.Value,
        number: int,
        arrays: dict[str, ir.Array],
        imported: dict[ir.Value, ir.Value],
        before: list[ir.Statement],
    ) -> None:
        """Compute a value of another part in this one too, or load it, at its beginning."""
        if value in imported or self.home.get(value, number) == number:
            return
        if value in self.kept:
            load = ir.Load(arrays[self.kept[value]], FIRST)
            imported[value] = load
            before.append(load)
            return
        for each in ir.operands_of(value):
            self.bring(each, number, arrays, imported, before)
        before += Copier(imported).statement(value)


class _PartCopier(Copier):
    """Copies the statements of a part. It replaces variables by arrays of one element."""

    def __init__(self, places: dict[ir.Local, ir.Array]) -> None:
        super().__init__()
        self.places = places

    def Get(self, get: ir.Get) -> list[ir.Statement]:  # noqa: N802
        place = self.places.get(get.local)
        return [get] if place is None else [ir.Load(place, FIRST, get.loc)]

    def Atomic(self, atomic: ir.Atomic) -> list[ir.Statement]:  # noqa: N802
        place = self.places.get(atomic.array) if isinstance(atomic.array, ir.Local) else None
        return [atomic] if place is None else [ir.replace(atomic, array=place, index=FIRST)]


def new(path: str) -> str:
    """Return the path of the second array of a variable."""
    return f"new {path}"


def groups_of(statements: list[ir.Statement]) -> list[list[ir.Statement]]:
    """Return statements in groups: each loop alone, unless variables or values of memory pass between groups.

    The gradient of a loop needs the arrays as they are after it. A later loop may overwrite them if it is another part.
    """
    groups: list[list[ir.Statement]] = [[]]
    for each in statements:
        if isinstance(each, ir.For) and each.parallel:
            groups += [[each], []]
        else:
            groups[-1].append(each)
    found: list[list[ir.Statement]] = []
    for group in filter(None, groups):
        found.append(group)
        first = next((i for i, each in enumerate(found[:-1]) if passes_values(each, found[-1])), None)
        if first is not None:
            found[first:] = [[each for part in found[first:] for each in part]]
    return [group for group in found if any(not isinstance(each, IMPORTED) for each in group)]


def passes_values(one: list[ir.Statement], other: list[ir.Statement]) -> bool:
    """Return True if later statements need variables or values of memory of earlier ones."""
    shared = set(locals_of(one)) & set(locals_of(other))
    if any(not is_set_first(local, other) for local in shared):
        return True
    made = {each for each in ir.walk(ir.Block(one)) if isinstance(each, ir.Value)}
    needed = [value for each in ir.walk(ir.Block(other)) for value in ir.operands_of(each)]
    while needed:
        value = needed.pop()
        if value in made:
            if not isinstance(value, IMPORTED):
                return True
            needed += ir.operands_of(value)
    return False


def flattened(block: ir.Block) -> Iterable[ir.Statement]:
    """Yield the statements of a block, and those of sections, which may run one after the other."""
    for statement in block.body:
        if isinstance(statement, ir.Sections):
            for inner in statement.blocks:
                yield from inner.body
        else:
            yield statement


def locals_of(statements: list[ir.Statement], inner: bool = True) -> list[ir.Local]:
    """Return the locals that statements read or change, also in their blocks unless `inner` is False."""
    found = []
    for each in ir.walk(ir.Block(statements)) if inner else statements:
        if isinstance(each, (ir.Get, ir.Set)):
            found.append(each.local)
        elif isinstance(each, ir.Atomic) and isinstance(each.array, ir.Local):
            found.append(each.array)
    return found


def is_set_first(local: ir.Local, statements: list[ir.Statement]) -> bool:
    """Return True if the first statement with the local sets it."""
    first = next(each for each in statements if local in locals_of([each]))
    return isinstance(first, ir.Set)
