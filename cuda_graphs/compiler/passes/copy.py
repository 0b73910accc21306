# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Copies blocks and replaces values on the way; most passes derive from Copier.

A subclass handles a kind of statement by a method with the name of its class: `Get`, `Set`, ... The method receives the
statement with its operands replaced, and returns the statements that take its place. The last of them is the new value.
"""

from __future__ import annotations

from dataclasses import fields, replace
from functools import cache
from typing import Any

from cuda_graphs.compiler.ir import ir

# Parts of the annotations of fields that hold values, directly or inside.
HOLDERS = ("Value", "Block", "Axis")


@cache
def fields_of(kind: Any) -> tuple[tuple[str, bool], ...]:
    """Return (name, whether it may hold values) of each field of a class of statements, in order."""
    return tuple((each.name, any(holder in str(each.type) for holder in HOLDERS)) for each in fields(kind))


class Copier:
    """Copies statements. `values` maps old values to new ones; other values stay the same."""

    def __init__(self, values: dict[ir.Value, ir.Value] | None = None) -> None:
        self.values = {} if values is None else values

    def block(self, block: ir.Block) -> ir.Block:
        """Returns a copy of the block."""
        return ir.Block([made for statement in block.body for made in self.statement(statement)])

    def statement(self, statement: ir.Statement) -> list[ir.Statement]:
        """Returns the statements that take the statement's place."""
        kind: Any = type(statement)
        copy = kind(*[
            self.part(getattr(statement, name)) if has_values else getattr(statement, name)
            for name, has_values in fields_of(kind)
        ])  # fmt: skip
        special = getattr(self, kind.__name__, None)
        made = [copy] if special is None else special(copy)
        if isinstance(statement, ir.Value):
            self.values[statement] = self.value_of(made)
        return made

    def value_of(self, made: list[ir.Statement]) -> ir.Value:
        """Returns the new value of a statement, from the statements that took its place."""
        found = made[-1]
        assert isinstance(found, ir.Value)
        return found

    def part(self, part: Any) -> Any:
        """Returns a field of a statement with its values replaced."""
        match part:
            case ir.Value():
                return self.values.get(part, part)
            case ir.Block():
                return self.block(part)
            case ir.Axis():
                index = replace(part.index)
                self.values[part.index] = index
                return ir.Axis(index, self.part(part.begin), self.part(part.end), part.step)
            case tuple():
                return tuple(self.part(each) for each in part)
        return part


class FunctionCopier(Copier):
    """Copies also the functions that are called. `function`: the one whose body is being copied; None: the task."""

    def __init__(self) -> None:
        super().__init__()
        self.copies: dict[ir.Function, ir.Function] = {}
        self.function: ir.Function | None = None

    def Call(self, call: ir.Call) -> list[ir.Statement]:  # noqa: N802
        return [replace(call, function=self.copy_of(call.function))]

    def copy_of(self, function: ir.Function) -> ir.Function:
        """Returns the copy of a function. A function that calls itself finds its copy without a body."""
        if function not in self.copies:
            made = self.copies[function] = self.shell(function)
            outer, self.function = self.function, function
            made.body.body += self.block(function.body).body
            self.function = outer
        return self.copies[function]

    def shell(self, function: ir.Function) -> ir.Function:
        """Returns the copy of a function, to which the body is added later."""
        return replace(function, body=ir.Block())
