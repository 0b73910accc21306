# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Copies blocks, replacing values on the way: what passes are made of.

A Copier has a method a kind of statement that it treats in its own way, named after the class: `Get`, `Set`, ... It
gets the statement with its operands replaced, and returns the statements that take its place; the last is its value.
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from .. import ir


class Copier:
    """`values` maps old values to new ones; what is not in it stays as it is."""

    def __init__(self, values: dict[ir.Value, ir.Value] | None = None) -> None:
        self.values = {} if values is None else values

    def block(self, block: ir.Block) -> ir.Block:
        """A copy of the block."""
        return ir.Block([made for statement in block.body for made in self.statement(statement)])

    def statement(self, statement: ir.Statement) -> list[ir.Statement]:
        """What takes the statement's place."""
        parts = {f.name: self.part(getattr(statement, f.name)) for f in fields(statement)}  # type: ignore[arg-type]
        copy = replace(statement, **parts)  # type: ignore[type-var]
        special = getattr(self, type(statement).__name__, None)
        made = [copy] if special is None else special(copy)
        if isinstance(statement, ir.Value):
            self.values[statement] = self.value_of(made)
        return made

    def value_of(self, made: list[ir.Statement]) -> ir.Value:
        """What a value has become, of the statements that took its place."""
        found = made[-1]
        assert isinstance(found, ir.Value)
        return found

    def part(self, part: Any) -> Any:
        """A field of a statement."""
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
