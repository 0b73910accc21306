# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The parts of a kernel with control flow between tasks, as kernels: loops and statements between two conditionals.

A part has a gradient, and returns the condition that it sets. A tape calls the parts one by one, as the plan says, and
so records each iteration of a loop as calls of its own.

    while c: { a loop; set_condition c = x }     =>     part 0: a loop; return x     plan: (("while", ..., (part 0)),)

A plan is a tuple of steps, which JSON can store:

    ("part", number, condition)              calls a part, which returns the condition with this number (None: nothing)
    ("set", condition, value)                sets a condition to a constant
    ("while" or "do", condition, initial, most, line, plan)   repeats a plan. `most`: its max_iterations, or None
    ("if" or "switch", condition, plans)     selects a plan
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.ir.types import u32
from cuda_graphs.compiler.passes.copy import Copier

from .analysis.refusals import gradient_error

__all__ = ["part"]

Plan = tuple[tuple[Any, ...], ...]

# Values that a part computes again if another part has them.
IMPORTED = (ir.Op, ir.Extent)


def part(kernel: ir.Kernel, number: int) -> ir.Kernel:
    """Return a part of a kernel, which has the plan of all parts. A kernel without control flow has one part.

    Raises:
        CompileGradientError: A value passes from one part to another in a variable, or the kernel has checkpoints.
    """
    if not any(isinstance(each, ir.Conditional) for each in ir.walk(kernel.body)):
        return ir.replace(kernel, parts=(("part", 0, None),))
    if kernel.checkpoints or kernel.returns:
        what = "with checkpoints" if kernel.checkpoints else "that returns numbers"
        raise gradient_error(
            kernel.loc, f"a graph kernel {what} has no gradient", "write one without, and results to arrays"
        )
    found = _Parts(kernel)
    plan = found.plan(kernel.body)
    body, returns = found.body(number)
    return ir.replace(kernel, name=f"{kernel.name}_part_{number}", body=body, returns=returns, parts=plan)


class _Parts:
    """The parts of one kernel.

    statements  of each part
    home        the number of the part that computes a value; -1: each part that uses it
    """

    def __init__(self, kernel: ir.Kernel) -> None:
        self.statements: list[list[ir.Statement]] = []
        self.conditions: dict[ir.Condition, int] = {}
        self.home: dict[ir.Statement, int] = {}

    def condition(self, condition: ir.Condition) -> int:
        return self.conditions.setdefault(condition, len(self.conditions))

    def plan(self, block: ir.Block) -> Plan:
        """Return the plan of a block, and enter its parts."""
        steps: list[tuple[Any, ...]] = []
        current: list[ir.Statement] = []
        for statement in flattened(block):
            if isinstance(statement, ir.Conditional):
                steps += self.steps(current)
                current = []
                plans = tuple(self.plan(inner) for inner in statement.blocks)
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

    def body(self, number: int) -> tuple[ir.Block, tuple[Any, ...]]:
        """Return the body of a part as a kernel, and the types that it returns."""
        if number >= len(self.statements):  # the kernel has no statements
            return ir.Block([]), ()
        statements = self.statements[number]
        self.check_locals(number)
        imported: dict[ir.Value, ir.Value] = {}
        before: list[ir.Statement] = []
        for each in ir.walk(ir.Block(statements)):
            for value in ir.operands_of(each):
                self.bring(value, number, each, imported, before)
        made = Copier(dict(imported))
        body = [copy for each in statements for copy in made.statement(each)]
        states = tuple(each.value for each in body if isinstance(each, ir.SetCondition))
        body = [*before, *(each for each in body if not isinstance(each, ir.SetCondition))]
        if states:
            body.append(ir.Return(states, statements[-1].loc))
        return ir.Block(body), (u32,) * len(states)

    def bring(
        self,
        value: ir.Value,
        number: int,
        user: ir.Statement,
        imported: dict[ir.Value, ir.Value],
        before: list[ir.Statement],
    ) -> None:
        """Compute a value of another part in this one too, at its beginning."""
        if value in imported or self.home.get(value, number) == number:
            return
        if not isinstance(value, IMPORTED):
            raise gradient_error(
                user.loc, "a value that was read before control flow between tasks is used after it or in it",
                "read it again there, or keep it in an array of one element with needs_grad=True",
            )  # fmt: skip
        for each in ir.operands_of(value):
            self.bring(each, number, user, imported, before)
        before += Copier(imported).statement(value)

    def check_locals(self, number: int) -> None:
        """Raise if the part reads a variable that another part sets."""
        for local in dict.fromkeys(locals_of(self.statements[number])):
            elsewhere = [
                n for n, part in enumerate(self.statements) if n != number and local in locals_of(part)
            ]
            if elsewhere and not is_set_first(local, self.statements[number]):
                raise gradient_error(
                    next(each.loc for each in self.statements[number] if local in locals_of([each])),
                    f"the variable {local.name!r} keeps its value across control flow between tasks",
                    "keep the value in an array of one element with needs_grad=True",
                )


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


def locals_of(statements: list[ir.Statement]) -> list[ir.Local]:
    """Return the locals that statements read or change."""
    found = []
    for each in ir.walk(ir.Block(statements)):
        if isinstance(each, (ir.Get, ir.Set)):
            found.append(each.local)
        elif isinstance(each, ir.Atomic) and isinstance(each.array, ir.Local):
            found.append(each.array)
    return found


def is_set_first(local: ir.Local, statements: list[ir.Statement]) -> bool:
    """Return True if the first statement with the local sets it."""
    first = next(each for each in statements if local in locals_of([each]))
    return isinstance(first, ir.Set)
