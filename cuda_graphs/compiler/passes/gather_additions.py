# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Turns the scattered additions of a gradient into sums: the iteration that owns an element adds it all up.

    for i in range(n):                            for i in range(n):
        g[i] += a[i] * c                    =>        s = a[i] * c
        if i > 0: g[i - 1] += a[i] * d                if i + 1 < n: s += a[i + 1] * d
        a[i] = 0                                      g[i] += s
                                                  for i in range(n): a[i] = 0

The first loop on the right computes what other iterations would have added, in registers, and has no atomics: iteration
i owns the elements at its own indices. The second loop has all other effects. They wait for the first loop, since its
iterations read what the effects change. The loop of the sums is larger than the first one if elements outside of the
index space get additions.

It needs to know that nothing changes what the sums read. Calls of gradients guarantee most of it
(kernels/gradients/stack_memory.pyx): gradients and other arrays are different memory, and two arrays that the kernel
writes and reads are different arrays. So the gradient of one array is compared with itself only. There the indices that
belong to no axis must differ by a number: x.grad[t, i - 1] and x.grad[t + 1, i].
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product

from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.ir.types import bool_
from cuda_graphs.compiler.records import entity

from .copy import Copier
from .forward_stores import Numbers, forward_stores
from .fuse_stencils import under, work
from .index_facts import Facts, limits
from .index_spaces import Limit, Spaces, linear
from .recompute import Moved, values_once, zeroed
from .settle_locals import needed_for, settled
from .task_groups import REASONS, STRAIGHT

__all__ = ["gather_additions"]

Shift = tuple[int, ...]  # what an index adds to each axis of the loop


def gather_additions(kernel: ir.Kernel, most: int = 0) -> ir.Kernel:
    """Returns a gradient with sums in place of scattered additions, and `gathered`.

    `most`: the work that may be done again for each addition that is replaced (fuse_stencils.work).
    """
    gatherer = _Gatherer(most)
    body = gatherer.block(kernel.body)
    return ir.replace(kernel, body=body, gathered=tuple(gatherer.notes))


class _Gatherer(Copier):
    """`notes`: (line, text) of each loop with scattered additions."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self.most = most
        self.notes: list[tuple[int, str]] = []

    def For(self, loop: ir.For) -> list[ir.Statement]:  # noqa: N802
        if not loop.parallel or not scattered(loop):
            return [loop]
        found = Scatters(loop).gathered(self.most)
        self.notes.append((ir.line_of(loop.loc), found if isinstance(found, str) else ""))
        return [loop] if isinstance(found, str) else found


def scattered(loop: ir.For) -> list[ir.Atomic]:
    """Returns the additions of a loop to gradients at other elements than its own."""
    return [
        each
        for each in ir.walk(loop.body)
        if isinstance(each, ir.Atomic) and is_gradient(each) and any(shift_of(each, loop.axes) or ())
    ]


def is_gradient(atomic: ir.Atomic) -> bool:
    return (
        isinstance(atomic.array, ir.Array)
        and atomic.array.is_grad
        and atomic.kind == "add"
        and atomic.type.kind == "float"
    )


def places_of(index: tuple[ir.Value, ...], axes: tuple[ir.Axis, ...]) -> tuple[int, ...] | None:
    """Returns the positions of the axes in an index, each plus a number; None if one is missing or comes twice."""
    bases = [linear(each)[0] for each in index]
    found = [[place for place, base in enumerate(bases) if base is axis.index] for axis in axes]
    return tuple(each[0] for each in found) if all(len(each) == 1 for each in found) else None


def shift_of(access: ir.Atomic, axes: tuple[ir.Axis, ...]) -> Shift | None:
    """Returns what an index adds to each axis of the loop."""
    places = places_of(access.index, axes)
    return None if places is None else tuple(linear(access.index[place])[1] for place in places)


@entity
class Cell:
    """Elements of one array that an iteration owns: `index` with the indices of the loop at `places`.

    sum    the local for the sum; `any`: the local that is True if anything was added
    """

    atomic: ir.Atomic
    places: tuple[int, ...]
    sum: ir.Local
    any: ir.Local
    is_certain: bool = False


class Scatters:
    """The additions of one loop to gradients.

    body     an iteration, with settled locals
    inside   its values
    sites    the additions by shift
    cells    the element that each addition is to, apart from its shift
    beyond   by how much the space of the sums is larger at the begin and end of each axis
    """

    def __init__(self, loop: ir.For) -> None:
        self.loop, self.axes = loop, loop.axes
        self.numbers = Numbers()
        self.spaces = Spaces(loop, loop, None)
        self.why = why_not(loop)
        if self.why:
            return
        self.body = settled(loop.body)
        self.inside = {each for each in ir.walk(self.body) if isinstance(each, ir.Value)}
        self.inside.update(axis.index for axis in self.axes)
        self.used = {value for each in ir.walk(self.body) for value in ir.operands_of(each)}
        self.arrays = self.candidates()

    def gathered(self, most: int) -> list[ir.Statement] | str:
        """Returns the two loops, or the reason against them."""
        if self.why:
            return self.why
        while True:
            self.sites = self.sites_of(self.arrays)
            if not any(map(any, self.sites)):
                return self.why
            bad = self.conflict()
            if bad is None:
                break
            del self.arrays[bad]
        self.beyond = Reach(self).beyond
        first, rest = self.sums(), self.others()
        again = work(first.body) + work(rest.body) - work(self.body)
        replaced = sum(map(len, self.sites.values())) - len(self.cells)
        if again > most * replaced:
            return (
                f"the sums would cost an iteration as much as {again} additions for {replaced} atomic additions: at most "
                f"{most} for each are worth it"
            )
        return [*self.bounds, first, *([rest] if rest.body.body else [])]

    def candidates(self) -> dict[ir.Array, tuple[int, ...]]:
        """Returns the arrays all of whose additions are at the own indices plus numbers, and the places of the axes."""
        found: dict[ir.Array, tuple[int, ...] | None] = {}
        for each in ir.walk(self.body):
            if not isinstance(each, ir.Atomic) or not isinstance(each.array, ir.Array):
                continue
            places = places_of(each.index, self.axes) if is_gradient(each) and each not in self.used else None
            if places is not None and not self.are_uniform(each.index, places):
                places = None
            if found.setdefault(each.array, places) != places:
                places = None
            found[each.array] = places
            if places is None:
                self.why = (
                    self.why
                    or f"line {ir.line_of(each.loc)} adds to elements of {each.array.path!r} that are not at fixed distances"
                )
        return {array: places for array, places in found.items() if places is not None}

    def are_uniform(self, index: tuple[ir.Value, ...], places: tuple[int, ...]) -> bool:
        """Returns whether all iterations have the same indices, apart from those at the places of the axes."""
        return all(self.is_uniform(each) for place, each in enumerate(index) if place not in places)

    def is_uniform(self, value: ir.Value) -> bool:
        if isinstance(value, ir.Op):
            return all(map(self.is_uniform, value.args))
        return isinstance(value, (ir.Const, ir.Param, ir.Extent)) or value not in self.inside

    def sites_of(self, arrays: Iterable[ir.Array]) -> dict[Shift, list[ir.Atomic]]:
        """Returns the additions to arrays by shift."""
        found: dict[Shift, list[ir.Atomic]] = {}
        for each in ir.walk(self.body):
            if isinstance(each, ir.Atomic) and each.array in arrays:
                shift = shift_of(each, self.axes)
                assert shift is not None
                found.setdefault(shift, []).append(each)
        return dict(sorted(found.items(), key=lambda item: (any(item[0]), item[0])))

    def conflict(self) -> ir.Array | None:
        """Returns an array whose sums would depend on other effects of the loop, or None. Notes why."""
        roots = [each for sites in self.sites.values() for each in sites]
        part = needed_for(self.body, roots)
        rest = needed_for(self.body, self.effects())
        for each in ir.walk(part):
            if isinstance(each, ir.Atomic) and each not in roots:
                self.why = f"line {ir.line_of(each.loc)} needs the old value of an atomic"
                return next(iter(self.arrays))
        read = [each for each in (*ir.walk(part), *ir.walk(rest)) if isinstance(each, ir.Load)]
        written = [each for each in ir.walk(rest) if isinstance(each, ir.Store)]
        for site, other in product(roots, (*read, *written)):
            if site.array is other.array and not self.are_apart(site, other):
                self.why = (
                    f"line {ir.line_of(other.loc)} uses elements of {other.array.path!r} that may be those that line "
                    f"{ir.line_of(site.loc)} adds to"
                )
                return site.array
        return self.late_read(part)

    def late_read(self, part: ir.Block) -> ir.Array | None:
        """Returns an array if a sum reads an element after the same iteration may have stored to it."""
        needed = {each for each in ir.walk(part) if isinstance(each, ir.Load)}
        stores: list[ir.Store] = []
        for each in ir.walk(self.body):
            if isinstance(each, ir.Store):
                stores.append(each)
            elif isinstance(each, ir.Load) and each in needed:
                for store in stores:
                    if store.array is each.array and not self.are_apart(store, each, self.axes_differ):
                        self.why = f"line {ir.line_of(each.loc)} reads {each.array.path!r} after the iteration has stored to it"
                        return next(iter(self.arrays))
        return None

    def are_apart(self, one: ir.Atomic | ir.Store, other: ir.Load | ir.Store, also=None) -> bool:
        """Returns whether no iterations access a common element, since two indices differ by a number."""
        for a, b in zip(one.index, other.index, strict=True):
            (base, x), (limit, y) = linear(a), linear(b)
            if x == y or (base is None) != (limit is None):
                continue
            if base is None or limit is None:
                return True
            if (
                self.is_uniform(base)
                and self.is_uniform(limit)
                and self.numbers.of(base) == self.numbers.of(limit)
            ):
                return True
        return also is not None and also(one, other)

    def axes_differ(self, one: ir.Store | ir.Atomic, other: ir.Load | ir.Store) -> bool:
        """Returns whether the accesses of one iteration are to different elements, since an index differs by a number."""
        return any(
            x != y and base is limit and base is not None
            for (base, x), (limit, y) in zip(map(linear, one.index), map(linear, other.index), strict=True)
        )

    def effects(self) -> list[ir.Statement]:
        """Returns the effects that stay in the other loop."""
        return [
            each
            for each in ir.walk(self.body)
            if isinstance(each, ir.Store) or (isinstance(each, ir.Atomic) and each.array not in self.arrays)
        ]

    # The loops

    def sums(self) -> ir.For:
        """Returns the loop that adds up the elements."""
        self.cells: dict[object, Cell] = {}
        indices = {axis.index: ir.replace(axis.index) for axis in self.axes}
        self.bounds, axes = [], []
        for axis, (low, high) in zip(self.axes, self.beyond, strict=True):
            begin, end = self.moved(axis.begin, -low), self.moved(axis.end, high)
            self.bounds += [each for each in (begin, end) if each not in (axis.begin, axis.end)]
            axes.append(ir.Axis(indices[axis.index], begin, end))
        first: list[ir.Statement] = []  # indices and guards
        body: list[ir.Statement] = []
        for shift, sites in self.sites.items():
            before, made = self.contribution(shift, sites, tuple(axes))
            first += before
            body += made
        begin = [
            each
            for cell in self.cells.values()
            for each in (zeroed(cell.sum), zeroed(cell.any))
            if each.local is cell.sum or not cell.is_certain
        ]
        end = [each for cell in self.cells.values() for each in self.addition(cell, tuple(axes))]
        block = values_once(forward_stores(ir.Block([*begin, *first, *self.joined(body), *end]), lambda a, b: a is b))
        return ir.For(tuple(axes), block, True, self.loop.settings, self.loop.loc)

    def moved(self, value: ir.Value, by: int) -> ir.Value:
        if by == 0:
            return value
        return ir.Op(
            "add" if by > 0 else "sub", (value, ir.Const(abs(by), value.type)), value.type, self.loop.loc
        )

    def contribution(
        self, shift: Shift, sites: list[ir.Atomic], axes: tuple[ir.Axis, ...]
    ) -> tuple[list[ir.Statement], list[ir.Statement]]:
        """Returns what the iteration adds whose indices are less by `shift`, after the indices and guards for it."""
        own: list[ir.Statement] = []
        indices: dict[ir.Value, ir.Value] = {}
        conditions: list[ir.Value] = []
        known = [Limit(a.index, False, a.begin, 0) for a in axes] + [
            Limit(a.index, True, a.end, 0) for a in axes
        ]
        for old, axis, by, (low, high) in zip(self.axes, axes, shift, self.beyond, strict=True):
            index = indices[old.index] = self.moved(axis.index, -by)
            own += [index] if by else []
            known += [Limit(axis.index, False, old.begin, by), Limit(axis.index, True, old.end, by)]
            if by > -low:
                conditions.append(ir.Op("less_equal", (old.begin, index), bool_))
            if by < high:
                conditions.append(ir.Op("less", (index, old.end), bool_))
        copier = _Contribution(self, indices, sites, known, not conditions)
        block = copier.block(needed_for(self.body, sites))
        if not conditions:
            return own, block.body
        *guard, branch = under(conditions, ir.If(conditions[0], block, ir.Block()))
        return [*own, *guard], [branch]

    def joined(self, body: list[ir.Statement]) -> list[ir.Statement]:
        """Returns statements with branches of one condition as one branch: what they compute in common is done once."""
        branches: dict[object, ir.If] = {}
        made: list[ir.Statement] = []
        for each in body:
            if isinstance(each, ir.If) and not each.orelse.body:
                found = branches.setdefault(self.key(each.condition), each)
                if found is not each:
                    found.then.body += each.then.body
                    continue
            made.append(each)
        return made

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

    def cell(self, site: ir.Atomic) -> Cell:
        """Returns the cell of an addition."""
        assert isinstance(site.array, ir.Array)
        places = self.arrays[site.array]
        key = (
            site.array,
            tuple(0 if at in places else self.numbers.of(each) for at, each in enumerate(site.index)),
        )
        if key not in self.cells:
            path = site.array.path
            self.cells[key] = Cell(
                site, places, ir.Local(f"{path}.sum", site.type), ir.Local(f"{path}.any", bool_)
            )
        return self.cells[key]

    def addition(self, cell: Cell, axes: tuple[ir.Axis, ...]) -> list[ir.Statement]:
        """Returns the statements that add a sum to its element."""
        site = cell.atomic
        made: list[ir.Statement] = []
        index = tuple(
            axes[cell.places.index(at)].index if at in cell.places else self.again(each, made)
            for at, each in enumerate(site.index)
        )
        found = ir.Get(cell.sum, site.loc)
        adds = [found, ir.Atomic("add", site.array, index, found, None, site.loc)]
        if cell.is_certain:
            return [*made, *adds]
        there = ir.Get(cell.any, site.loc)
        return [*made, there, ir.If(there, ir.Block(adds), ir.Block(), site.loc)]

    def again(self, value: ir.Value, made: list[ir.Statement]) -> ir.Value:
        """Returns a value that is the same in all iterations, computed again."""
        if value not in self.inside or isinstance(value, (ir.Const, ir.Param)):
            return value
        copy = ir.replace(value)
        if isinstance(value, ir.Op):
            copy = ir.replace(value, args=tuple(self.again(each, made) for each in value.args))
        made.append(copy)
        return copy

    def others(self) -> ir.For:
        """Returns the loop with all other effects."""
        axes = tuple(ir.Axis(ir.replace(a.index), a.begin, a.end) for a in self.axes)
        copier = Moved({old.index: new.index for old, new in zip(self.axes, axes, strict=True)})
        block = copier.block(needed_for(self.body, self.effects()))
        return ir.For(axes, block, True, self.loop.settings, self.loop.loc)


def why_not(loop: ir.For) -> str:
    """Returns the reason why an iteration cannot be computed by another iteration, or ""."""
    line = ir.line_of(loop.loc)
    if loop.block_dim:
        return f"the threads of the loop of line {line} work together in blocks"
    if any(axis.step != 1 or axis.index.type.kind != "int" for axis in loop.axes):
        return f"the loop of line {line} does not count upwards by 1"
    for each in ir.walk(loop.body):
        if not isinstance(each, STRAIGHT):
            return f"line {ir.line_of(each.loc)} {REASONS.get(type(each), 'is no plain statement')}"
        if isinstance(each, ir.Load) and each.array.space is ir.Space.TEMP:
            return f"line {ir.line_of(each.loc)} reads memory of the gradient"
    return ""


class Reach(Copier):
    """Finds how far additions reach out of the index space of their loop."""

    def __init__(self, scatters: Scatters) -> None:
        super().__init__()
        self.of, self.spaces, self.facts = scatters, scatters.spaces, Facts()
        self.known = [
            limit
            for a in scatters.axes
            for limit in (Limit(a.index, False, a.begin, 0), Limit(a.index, True, a.end, 0))
        ]
        self.beyond = [(0, 0)] * len(scatters.axes)
        self.visit(scatters.body, self.known)

    def visit(self, block: ir.Block, known: list[Limit]) -> None:
        for each in block.body:
            if isinstance(each, ir.If):
                self.visit(each.then, [*known, *self.facts.of(each.condition)])
                self.visit(each.orelse, known)
            elif isinstance(each, ir.Atomic) and each.array in self.of.arrays:
                self.note(each, known)
            self.facts.note(each)

    def note(self, site: ir.Atomic, known: list[Limit]) -> None:
        shift = shift_of(site, self.of.axes)
        assert shift is not None
        for number, (axis, by) in enumerate(zip(self.of.axes, shift, strict=True)):
            low, high = self.beyond[number]
            mine = [each for each in known if each.index is axis.index]
            if by < 0 and not any(
                not each.is_upper and self.spaces.at_most(axis.begin, 0, each.value, each.more + by)
                for each in mine
            ):
                low = max(low, -by)
            if by > 0 and not any(
                each.is_upper and self.spaces.at_most(each.value, each.more + by, axis.end, 0)
                for each in mine
            ):
                high = max(high, by)
            self.beyond[number] = low, high


class _Contribution(Moved):
    """Copies what some additions of another iteration need, and turns them into settings of sums.

    known  limits of the indices
    is_certain  each iteration gets here
    """

    def __init__(
        self,
        scatters: Scatters,
        indices: dict[ir.Value, ir.Value],
        sites: list[ir.Atomic],
        known: list[Limit],
        is_certain: bool,
    ) -> None:
        super().__init__(indices)
        self.of, self.sites, self.known, self.is_certain = scatters, sites, known, is_certain

    def statement(self, statement: ir.Statement) -> list[ir.Statement]:
        if isinstance(statement, ir.Atomic):
            return self.addition(statement)
        if isinstance(statement, ir.If):
            return self.branch(statement)
        return super().statement(statement)

    def branch(self, branch: ir.If) -> list[ir.Statement]:
        condition = self.part(branch.condition)
        if self.holds(condition):
            return self.block(branch.then).body
        outer, self.is_certain = self.is_certain, False
        made = ir.If(condition, self.block(branch.then), self.block(branch.orelse), branch.loc)
        self.is_certain = outer
        return [made]

    def holds(self, condition: ir.Value) -> bool:
        """Returns whether the limits of the indices imply a condition."""
        match condition:
            case ir.Op("less" | "less_equal" | "greater" | "greater_equal", (a, b)):
                name, (a, b) = ("less", (a, b)) if condition.name.startswith("less") else ("less", (b, a))
                wanted = limits(f"{name}{'_equal' * condition.name.endswith('_equal')}", a, b)
                return any(self.implies(each, limit) for limit in wanted for each in self.known)
        return False

    def implies(self, known: Limit, wanted: Limit) -> bool:
        if (known.index, known.is_upper) != (wanted.index, wanted.is_upper):
            return False
        if known.is_upper:
            return self.of.spaces.at_most(known.value, known.more, wanted.value, wanted.more)
        return self.of.spaces.at_most(wanted.value, wanted.more, known.value, known.more)

    def addition(self, site: ir.Atomic) -> list[ir.Statement]:
        cell, value = self.of.cell(site), self.part(site.value)
        before = ir.Get(cell.sum, site.loc)
        after = ir.Op("add", (before, value), site.type, site.loc)
        made: list[ir.Statement] = [before, after, ir.Set(cell.sum, after, site.loc)]
        if self.is_certain:
            cell.is_certain = True
        else:
            made.append(ir.Set(cell.any, ir.TRUE, site.loc))
        return made
