# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Positions of statements: their enclosing statements, and the locals that change between two positions.

A unit runs once and has its own state. Units are the kernel, and each iteration of a parallel loop.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from cuda_graphs.compiler.ir import ir

__all__ = ["Point", "ProgramPoints"]

Loop = (ir.For, ir.While)


class Point(NamedTuple):
    """The position before a statement, or, with `end`, after it."""

    statement: ir.Statement
    end: bool = False


class ProgramPoints:
    """The positions of the statements of a kernel in normal form.

    home     block of each statement and loop variable
    number   index of each statement in its block
    owner    statement of each block
    units    blocks of the units
    unit_of  unit of each local
    """

    def __init__(self, kernel: ir.Kernel) -> None:
        self.root = kernel.body
        self.home: dict[ir.Statement, ir.Block] = {}
        self.number: dict[ir.Statement, int] = {}
        self.owner: dict[ir.Block, ir.Statement] = {}
        self.units = {self.root}
        self.unit_of: dict[ir.Local, ir.Block] = {}
        self._written: dict[ir.Statement, frozenset[ir.Local]] = {}
        self._enter(self.root, self.root)

    def _enter(self, block: ir.Block, unit: ir.Block) -> None:
        for number, statement in enumerate(block.body):
            self.home[statement], self.number[statement] = block, number
            if isinstance(statement, ir.Set) and (unit is self.root or statement.local not in self.unit_of):
                self.unit_of[statement.local] = unit
            for inner in ir.blocks_of(statement):
                self.owner[inner] = statement
                is_unit = isinstance(statement, ir.For) and statement.parallel
                if is_unit:
                    self.units.add(inner)
                self._enter(inner, inner if is_unit else unit)
            if isinstance(statement, ir.For):
                for axis in statement.axes:
                    self.home[axis.index] = statement.body

    def around(self, statement: ir.Statement) -> Iterator[ir.Statement]:
        """Yield the statements that enclose a statement, from the innermost on."""
        block = self.home[statement]
        while block in self.owner:
            yield self.owner[block]
            block = self.home[self.owner[block]]

    def unit(self, statement: ir.Statement) -> ir.Block:
        """Return the unit that executes a statement."""
        for each in self.around(statement):
            if isinstance(each, ir.For) and each.parallel:
                return each.body
        return self.root

    def loops(self, statement: ir.Statement) -> tuple[ir.For | ir.While, ...]:
        """Return the serial loops around a statement in its unit, from the outermost on."""
        found: list[ir.For | ir.While] = []
        for each in self.around(statement):
            if isinstance(each, ir.For) and each.parallel:
                break
            if isinstance(each, Loop):
                found.insert(0, each)
        return tuple(found)

    def is_once(self, value: ir.Value) -> bool:
        """Return True if a unit computes a value exactly once, outside loops and branches."""
        return value not in self.home or self.home[value] in self.units

    def written(self, statement: ir.Statement) -> frozenset[ir.Local]:
        """Return the locals that a statement may change, including the statements inside it."""
        found = self._written.get(statement)
        if found is None:
            own: set[ir.Local] = set()
            if isinstance(statement, ir.Set):
                own.add(statement.local)
            elif isinstance(statement, ir.Atomic) and isinstance(statement.array, ir.Local):
                own.add(statement.array)
            for block in ir.blocks_of(statement):
                own |= self.written_in(block.body)
            found = self._written[statement] = frozenset(own)
        return found

    def written_in(self, body: list[ir.Statement]) -> set[ir.Local]:
        """Return the locals that a list of statements may change."""
        return set().union(*(self.written(each) for each in body))

    def changed(self, value: ir.Value, point: Point) -> set[ir.Local]:
        """Return the locals that may change between the computation of a value and a point in its scope."""
        block = self.home[value]
        path = [point.statement]
        for each in self.around(point.statement):
            if self.home[path[0]] is block:
                break
            path.insert(0, each)
        first = self.number[value] + 1 if value in self.number else 0
        found = self.written_in(block.body[first : self.number[path[0]]])
        for outer, inner in pairwise(path):
            if isinstance(outer, Loop):
                found |= self.written(outer)
            else:
                found |= self.written_in(self.home[inner].body[: self.number[inner]])
        if point.end:
            found |= self.written(point.statement)
        return found
