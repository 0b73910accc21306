# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The loop whose iterations add up what other iterations would have added to their elements (gather_additions.py).

An addition of iteration i - 1 at i is one to the element of iteration i. For each distance, an iteration computes what
the iteration at that distance needs for its additions, if that iteration is in the loop and takes the branches around
them. Iterations at several distances have much in common. They share branches of one condition, and equal values.

    if i + 1 < n: g[i + 1] += f(a[i + 1] - a[i])      =>      if 0 <= i - 1: s += f(a[i] - a[i - 1])

If elements outside of the index space may get additions, the loop is larger by that much.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.ir.types import bool_
from cuda_graphs.compiler.records import entity

from .forward_stores import Numbers, forward_stores
from .fuse_stencils import under
from .index_facts import Facts, limits
from .index_spaces import Limit, Spaces, linear
from .recompute import Moved, values_once, zeroed
from .settle_locals import needed_for
from .straight_branches import loads_first, straight

__all__ = ["Shift", "Sums", "places_of", "shift_of"]

Shift = tuple[int, ...]  # what an index adds to each axis of the loop
Beyond = list[tuple[int, int]]  # by how much a loop is larger at the begin and end of each axis


def places_of(index: tuple[ir.Value, ...], axes: tuple[ir.Axis, ...]) -> tuple[int, ...] | None:
    """Returns the positions of the axes in an index, each plus a number; None if one is missing or comes twice."""
    bases = [linear(each)[0] for each in index]
    found = [[place for place, base in enumerate(bases) if base is axis.index] for axis in axes]
    return tuple(each[0] for each in found) if all(len(each) == 1 for each in found) else None


def shift_of(index: tuple[ir.Value, ...], places: tuple[int, ...]) -> Shift:
    """Returns what an index adds to the axes at these positions."""
    return tuple(linear(index[place])[1] for place in places)


def moved(value: ir.Value, by: int, loc: ir.Loc | None) -> ir.Value:
    """Returns an integer plus a number: the value itself, a number, or an operation."""
    if by == 0:
        return value
    base, number = linear(value)
    if base is None:
        return ir.Const(number + by, value.type)
    return ir.Op("add" if by > 0 else "sub", (value, ir.Const(abs(by), value.type)), value.type, loc)


def without_settings(block: ir.Block, locals: set[ir.Local]) -> ir.Block:
    """Returns a block that does not set some locals."""
    kept: list[ir.Statement] = []
    for each in block.body:
        if isinstance(each, ir.If):
            then, orelse = (without_settings(inner, locals) for inner in (each.then, each.orelse))
            kept.append(ir.replace(each, then=then, orelse=orelse))
        elif not (isinstance(each, ir.Set) and each.local in locals):
            kept.append(each)
    return ir.Block(kept)


@entity
class Cell:
    """The elements, one of each iteration, to which additions with equal indices are.

    site  one of the additions
    sum   the local for the sum
    any   the local that is True if anything was added; not needed if each iteration `is_certain` to add
    """

    site: ir.Atomic
    sum: ir.Local
    any: ir.Local
    is_certain: bool = False


class Sums:
    """Makes the loop, `made`.

    arrays  the gradients with sums, and the positions of the axes in their indices
    inside  the values of the body
    sites   the additions by shift, that of the iteration itself first
    bounds  the statements that compute the bounds
    is_straight  branches become selections where possible, and loads come first (straight_branches.py)
    alone   gradients that are other memory than all others with sums
    """

    def __init__(
        self,
        loop: ir.For,
        body: ir.Block,
        arrays: Mapping[ir.Array, tuple[int, ...]],
        sites: list[ir.Atomic],
        inside: set[ir.Value],
        numbers: Numbers,
        is_straight: bool,
        alone: Collection[ir.Array],
    ) -> None:
        self.of, self.body, self.arrays, self.inside, self.numbers = loop, body, arrays, inside, numbers
        self.is_straight, self.alone = is_straight, alone
        self.spaces = Spaces(loop, loop, None)
        self.cells: dict[object, Cell] = {}
        self.branches: dict[object, ir.If] = {}  # by `key` of their conditions
        self.bounds: list[ir.Statement] = []
        found: dict[Shift, list[ir.Atomic]] = {}
        for each in sites:
            found.setdefault(self.shift(each), []).append(each)
        self.sites = dict(sorted(found.items(), key=lambda item: (any(item[0]), item[0])))
        self.made = self.loop()

    def shift(self, site: ir.Atomic) -> Shift:
        assert isinstance(site.array, ir.Array)
        return shift_of(site.index, self.arrays[site.array])

    def loop(self) -> ir.For:
        """Returns the loop."""
        self.beyond = Reach(self).beyond
        self.axes = tuple(map(self.axis, self.of.axes, self.beyond))
        first: list[ir.Statement] = []  # indices and guards
        body: list[ir.Statement] = []
        for shift, sites in self.sites.items():
            before, made = self.contribution(shift, sites)
            first += before
            self.join(body, made, any(shift))
        certain = {cell.any for cell in self.cells.values() if cell.is_certain}
        body = without_settings(ir.Block(body), certain).body
        begin = [made for cell in self.cells.values() for made in self.begin(cell)]
        end = [made for cell in self.cells.values() for made in self.end(cell, first)]
        if self.is_straight:
            known = {each.local for each in begin if isinstance(each, ir.Set)}
            body = straight(body, self.axes, self.numbers, known)
        block = ir.Block([*begin, *first, *body, *end])
        block = values_once(forward_stores(block, lambda a, b: a is b))
        if self.is_straight:
            block = loads_first(block)
        return ir.For(self.axes, block, True, self.of.settings, self.of.loc)

    def axis(self, axis: ir.Axis, beyond: tuple[int, int]) -> ir.Axis:
        begin, end = moved(axis.begin, -beyond[0], self.of.loc), moved(axis.end, beyond[1], self.of.loc)
        self.bounds += [
            each for each in (begin, end) if isinstance(each, ir.Op) and each not in (axis.begin, axis.end)
        ]
        return ir.Axis(ir.replace(axis.index), begin, end)

    def contribution(
        self, shift: Shift, sites: list[ir.Atomic]
    ) -> tuple[list[ir.Statement], list[ir.Statement]]:
        """Returns what the iteration adds whose indices are less by `shift`, after the indices and guards for it."""
        before: list[ir.Statement] = []
        indices: dict[ir.Value, ir.Value] = {}
        guards: list[ir.Value] = []
        known: list[Limit] = []
        for old, axis, by, (low, high) in zip(self.of.axes, self.axes, shift, self.beyond, strict=True):
            index = indices[old.index] = moved(axis.index, -by, self.of.loc)
            before += [index] if by else []
            # The index is that of an iteration of the old loop, as of the new one or as the guards say.
            known += [Limit(axis.index, False, old.begin, by), Limit(axis.index, True, old.end, by)]
            known += [Limit(axis.index, False, axis.begin, 0), Limit(axis.index, True, axis.end, 0)]
            if by > -low:
                guards.append(ir.Op("less_equal", (old.begin, index), bool_))
            if by < high:
                guards.append(ir.Op("less", (index, old.end), bool_))
        copier = _Contribution(self, indices, known, is_certain=not guards)
        block = copier.block(needed_for(self.body, sites))
        if not guards:
            return before, block.body
        *conditions, branch = under(guards, ir.If(guards[0], block, ir.Block()))
        return [*before, *conditions], [branch]

    def join(self, body: list[ir.Statement], made: list[ir.Statement], is_other: bool) -> None:
        """Adds the statements for one shift. The branch of another iteration joins an earlier one of its condition.

        It may, as all that another iteration adds is one guarded branch, which uses only what it computes itself.
        """
        for each in made:
            found = None
            if isinstance(each, ir.If) and not each.orelse.body:
                found = self.branches.setdefault(self.key(each.condition), each)
            if is_other and isinstance(each, ir.If) and found not in (None, each):
                found.then.body += each.then.body
            else:
                body.append(each)

    def key(self, condition: ir.Value) -> object:
        """Returns a key of a condition: conditions with one key are equal."""
        match condition:
            case ir.Op("bit_and", (a, b)):
                return frozenset((self.key(a), self.key(b)))
            case ir.Op("less" | "less_equal" | "greater" | "greater_equal", (a, b)) if a.type.kind == "int":
                lesser, greater = (a, b) if condition.name.startswith("less") else (b, a)
                (base, x), (limit, y) = linear(lesser), linear(greater)
                numbers = [None if each is None else self.numbers.of(each) for each in (base, limit)]
                return *numbers, y - x + condition.name.endswith("_equal")
        return self.numbers.of(condition)

    # The sums

    def key_of(self, site: ir.Atomic) -> tuple[ir.Array, tuple[int, ...]]:
        """Returns a key of a cell: its array, and the numbers of the indices that belong to no axis."""
        assert isinstance(site.array, ir.Array)
        places = self.arrays[site.array]
        return site.array, tuple(
            self.numbers.of(each) for at, each in enumerate(site.index) if at not in places
        )

    def cell(self, site: ir.Atomic) -> Cell:
        """Returns the cell of an addition."""
        key = self.key_of(site)
        if key not in self.cells:
            path = key[0].path
            self.cells[key] = Cell(site, ir.Local(f"{path}.sum", site.type), ir.Local(f"{path}.any", bool_))
        return self.cells[key]

    def begin(self, cell: Cell) -> list[ir.Statement]:
        """Returns the statements before all additions."""
        return [zeroed(cell.sum), *([] if cell.is_certain else [zeroed(cell.any)])]

    def end(self, cell: Cell, first: list[ir.Statement]) -> list[ir.Statement]:
        """Returns the statements that add a sum to its element. No other iteration uses it (demote_atomics.py).

        If nothing else uses it, either, it is loaded among the `first` statements.
        """
        site, made = cell.site, list[ir.Statement]()
        assert isinstance(site.array, ir.Array)
        places = self.arrays[site.array]
        index = tuple(
            self.axes[places.index(at)].index if at in places else self.again(each, made)
            for at, each in enumerate(site.index)
        )
        found = ir.Get(cell.sum, site.loc)
        if self.is_straight and self.is_single(cell):
            old = ir.Load(site.array, index, site.loc)
            new = ir.Op("add", (old, found), site.type, site.loc)
            first += [*made, old]
            return [found, new, ir.Store(site.array, index, new, site.loc)]
        adds: list[ir.Statement] = [found, ir.Atomic("add", site.array, index, found, None, site.loc)]
        if cell.is_certain:
            return [*made, *adds]
        there = ir.Get(cell.any, site.loc)
        return [*made, there, ir.If(there, ir.Block(adds), ir.Block(), site.loc)]

    def is_single(self, cell: Cell) -> bool:
        """Returns whether each iteration adds to an element, and no other cell is the same element."""
        array, key = self.key_of(cell.site)
        return (
            cell.is_certain
            and array in self.alone
            and all(
                other is cell
                or other.site.array is not array
                or self.numbers.differ(key, self.key_of(other.site)[1])
                for other in self.cells.values()
            )
        )

    def again(self, value: ir.Value, made: list[ir.Statement]) -> ir.Value:
        """Returns a value that is the same in all iterations, computed again."""
        if value not in self.inside:
            return value
        if isinstance(value, ir.Op):
            copy: ir.Value = ir.replace(value, args=tuple(self.again(each, made) for each in value.args))
        else:
            assert isinstance(value, ir.Extent)
            copy = ir.replace(value)
        made.append(copy)
        return copy


class Reach:
    """Finds how far additions reach beyond the index space of their loop."""

    def __init__(self, sums: Sums) -> None:
        self.sums, self.facts = sums, Facts()
        self.beyond: Beyond = [(0, 0)] * len(sums.of.axes)
        known = [
            Limit(axis.index, is_upper, value, 0)
            for axis in sums.of.axes
            for is_upper, value in ((False, axis.begin), (True, axis.end))
        ]
        self.visit(sums.body, known)

    def visit(self, block: ir.Block, known: list[Limit]) -> None:
        """Visits the additions of a block. `known`: what is known of the indices there."""
        for each in block.body:
            if isinstance(each, ir.If):
                self.visit(each.then, [*known, *self.facts.of(each.condition)])
                self.facts.forget(each.then)
                self.visit(each.orelse, known)
            elif isinstance(each, ir.Atomic) and each.array in self.sums.arrays:
                self.note(self.sums.shift(each), known)
            self.facts.note(each)

    def note(self, shift: Shift, known: list[Limit]) -> None:
        at_most = self.sums.spaces.at_most
        for number, (axis, by) in enumerate(zip(self.sums.of.axes, shift, strict=True)):
            low, high = self.beyond[number]
            mine = [each for each in known if each.index is axis.index]
            lower, upper = ([e for e in mine if e.is_upper is is_upper] for is_upper in (False, True))
            if by < 0 and not any(at_most(axis.begin, 0, each.value, each.more + by) for each in lower):
                low = max(low, -by)
            if by > 0 and not any(at_most(each.value, each.more + by, axis.end, 0) for each in upper):
                high = max(high, by)
            self.beyond[number] = low, high


class _Contribution(Moved):
    """Copies what some additions of another iteration need, and turns them into additions to sums.

    known       limits of the indices
    is_certain  each iteration gets to the current statement
    """

    def __init__(
        self, sums: Sums, indices: dict[ir.Value, ir.Value], known: list[Limit], is_certain: bool
    ) -> None:
        super().__init__(indices)
        self.sums, self.known, self.is_certain = sums, known, is_certain

    def statement(self, statement: ir.Statement) -> list[ir.Statement]:
        if isinstance(statement, ir.Atomic):
            return self.addition(statement)
        if isinstance(statement, ir.If):
            return self.branch(statement)
        return super().statement(statement)

    def branch(self, branch: ir.If) -> list[ir.Statement]:
        condition = self.part(branch.condition)
        if self.is_implied(condition):
            return self.block(branch.then).body
        outer, self.is_certain = self.is_certain, False
        made = ir.If(condition, self.block(branch.then), self.block(branch.orelse), branch.loc)
        self.is_certain = outer
        return [made]

    def is_implied(self, condition: ir.Value) -> bool:
        """Returns whether a condition holds, as far as the limits of the indices show."""
        match condition:
            case ir.Op("less" | "less_equal", (a, b)):
                wanted = limits(condition.name, a, b)
            case ir.Op("greater" | "greater_equal", (b, a)):
                wanted = limits("less_equal" if condition.name == "greater_equal" else "less", a, b)
            case _:
                return False
        return any(self.implies(known, each) for each in wanted for known in self.known)

    def implies(self, known: Limit, wanted: Limit) -> bool:
        if (known.index, known.is_upper) != (wanted.index, wanted.is_upper):
            return False
        lesser, greater = (known, wanted) if known.is_upper else (wanted, known)
        return self.sums.spaces.at_most(lesser.value, lesser.more, greater.value, greater.more)

    def addition(self, site: ir.Atomic) -> list[ir.Statement]:
        cell, value = self.sums.cell(site), self.part(site.value)
        before = ir.Get(cell.sum, site.loc)
        after = ir.Op("add", (before, value), site.type, site.loc)
        made: list[ir.Statement] = [before, after, ir.Set(cell.sum, after, site.loc)]
        if self.is_certain:
            cell.is_certain = True
            return made
        return [*made, ir.Set(cell.any, ir.TRUE, site.loc)]
