# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Turns the scattered additions of a gradient into sums. The iteration that owns an element adds them up.

    for i in range(n):                            for i in range(n):
        g[i] += a[i] * c                    =>        s = a[i] * c
        if i > 0: g[i - 1] += a[i] * d                if i + 1 < n: s += a[i + 1] * d
        a[i] = 0                                      g[i] += s
                                                  for i in range(n): a[i] = 0

The first loop on the right computes in registers what other iterations would have added, and needs no atomics
(gathered_loops.py). The second loop has all other effects. They wait for the first loop, since its iterations read what
the effects change.

Nothing may change what the sums read. Calls of gradients guarantee most of it (`check_operands` in
kernels/gradients/stack_memory.pyx). Gradients overlap no other arrays. The sums read gradients of arrays that the
kernel writes, and these overlap no other gradients. This pass therefore compares each gradient with itself only. There
the indices that belong to no axis must differ by a number, as in x.grad[t, i - 1] and x.grad[t + 1, i].

The order of the additions to an element is fixed then, for each number of threads.
"""

from __future__ import annotations

from collections.abc import Collection
from itertools import product

from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.records import record

from .alias_classes import may_alias
from .copy import Copier
from .forward_stores import Numbers, forward_stores
from .fuse_stencils import CALLED, COSTS, work
from .gathered_loops import Sums, places_of, shift_of
from .index_spaces import FIXED, leaves_of, linear
from .recompute import Moved, values_once
from .settle_locals import needed_for, settled
from .task_groups import REASONS, STRAIGHT

__all__ = ["Prices", "gather_additions"]

Access = ir.Load | ir.Store | ir.Atomic
MOST_STATEMENTS = 10_000  # of sums before they share work; sums of 27 neighbours have 4,000


@record
class Prices:
    """Costs of a target, in plain additions.

    atomic       of an atomic addition
    called       of a function that is called, such as exp
    is_straight  branches at the ends of loops are worth being replaced (straight_branches.py)
    """

    atomic: int
    called: int
    is_straight: bool = False


def gather_additions(kernel: ir.Kernel, prices: Prices | None = None) -> ir.Kernel:
    """Returns a gradient with sums in place of scattered additions where they cost less, and `gathered`.

    Without prices it returns the kernel itself.
    """
    if prices is None:
        return kernel
    gatherer = _Gatherer(prices, kernel.overwrites)
    body = gatherer.block(kernel.body)
    return ir.replace(kernel, body=body, gathered=tuple(sorted(gatherer.notes)))


class _Gatherer(Copier):
    """`notes`: the result, `Kernel.gathered`. `written`: the paths of the arrays that the kernel writes."""

    def __init__(self, prices: Prices, written: Collection[str]) -> None:
        super().__init__()
        self.prices, self.written = prices, written
        self.notes: dict[tuple[int, str], None] = {}

    def For(self, loop: ir.For) -> list[ir.Statement]:  # noqa: N802
        if not loop.parallel:  # parallel loops are at the top level or in conditionals, and in no other loop
            return [loop]
        scatters = Scatters(loop, self.written)
        made = scatters.gathered(self.prices)
        if made:
            self.note(loop, "")
        for each in scatters.why.values():
            self.note(loop, each)
        return made or [loop]

    def note(self, loop: ir.For, why: str) -> None:
        self.notes[ir.line_of(loop.loc), why] = None


def is_gradient_sum(atomic: ir.Atomic) -> bool:
    is_grad = isinstance(atomic.array, ir.Array) and atomic.array.is_grad
    return is_grad and atomic.kind == "add" and atomic.type.kind == "float"


def array_of(access: Access) -> ir.Array:
    assert isinstance(access.array, ir.Array)
    return access.array


def is_own(access: Access, axes: tuple[ir.Axis, ...]) -> bool:
    """Returns whether an access is at the indices of the loop."""
    places = places_of(access.index, axes)
    return places is not None and not any(shift_of(access.index, places))


def why_not(loop: ir.For) -> str:
    """Returns the reason why no iteration can compute what others add, or ""."""
    line = ir.line_of(loop.loc)
    if loop.block_dim:
        return f"the threads of the loop of line {line} work together in blocks"
    if any(axis.step != 1 or axis.index.type.kind != "int" for axis in loop.axes):
        return f"the loop of line {line} does not count upwards by 1"
    for each in ir.walk(loop.body):
        if not isinstance(each, STRAIGHT):
            return f"line {ir.line_of(each.loc)} {REASONS.get(type(each), 'is no plain statement')}"
        if isinstance(each, ir.Load) and each.array.space is ir.Space.TEMP:
            return f"line {ir.line_of(each.loc)} needs a value that another loop has computed"
    for axis in loop.axes:
        if any(map(is_from_memory, (axis.begin, axis.end))):
            return f"memory decides where the loop of line {line} begins or ends"
    return ""


def is_from_memory(value: ir.Value) -> bool:
    return not all(isinstance(each, FIXED) for each in leaves_of(value))


class Scatters:
    """The additions of one loop to gradients.

    body    an iteration, with settled locals
    inside  its values
    scattered  the gradients to which several iterations may add at one element, but not all of them
    arrays  the gradients whose sums are possible, and the positions of the axes in their indices
    why     the reason for each scattered one that is not among them
    """

    def __init__(self, loop: ir.For, written: Collection[str]) -> None:
        self.loop, self.axes, self.written = loop, loop.axes, written
        self.numbers = Numbers()
        self.why: dict[ir.Array, str] = {}
        self.read_body(loop.body)
        self.scattered = {
            array_of(each): None
            for each in self.sites(self.gradients())
            if not is_own(each, self.axes) and not all(map(self.is_uniform, each.index))
        }

    def read_body(self, body: ir.Block) -> None:
        self.body = body
        self.inside: set[ir.Value] = {each for each in ir.walk(body) if isinstance(each, ir.Value)}
        self.inside.update(axis.index for axis in self.axes)

    def gathered(self, prices: Prices) -> list[ir.Statement]:
        """Returns the loops in place of this one, or nothing if it stays."""
        why = why_not(self.loop)
        if not self.scattered or why:
            return self.none(why)
        self.read_body(settled(self.body))
        self.arrays = self.candidates()
        if any(map(self.needs_own_effects, self.scattered)):
            self.read_body(forward_stores(self.with_stores(), lambda a, b: a is b))
            self.arrays = self.candidates()
        for array in list(self.arrays):
            self.refuse(array, self.unknown_value(array))
        while self.has_sums():
            found = self.conflict()
            if found is None:
                break
            self.refuse(*found)
        return self.loops(prices) if self.has_sums() else []

    def loops(self, prices: Prices) -> list[ir.Statement]:
        """Returns loops of sums and that of all other effects, unless they cost more than this loop.

        Sums of gradients that may overlap need atomics if one loop has them, and none if they have a loop each.
        """
        shifts = {shift_of(each.index, self.arrays[array_of(each)]) for each in self.sites(self.arrays)}
        if len(shifts) * sum(1 for _ in ir.walk(self.body)) > MOST_STATEMENTS:
            return self.none(f"the sums would have more than {MOST_STATEMENTS:,} statements")
        rest, whole, parts = self.others(), [[*self.arrays]], self.parts()
        ways = [
            [self.sums(each, prices) for each in way]
            for way in ([whole] if len(parts) == 1 else [whole, parts])
        ]
        costs = [sum(self.cost(each, prices) for each in way) for way in ways]
        before = cost(values_once(self.body), prices) + prices.atomic * len(self.sites(self.arrays))
        after = min(costs) + cost(rest.body, prices)
        if after > before:
            return self.none(
                f"the sums would cost an iteration as much as {after} additions to registers, and the loop with atomic "
                f"additions costs {before}"
            )
        made = [each for sums in ways[costs.index(min(costs))] for each in (*sums.bounds, sums.made)]
        return [*made, *([rest] if rest.body.body else [])]

    def sums(self, arrays: list[ir.Array], prices: Prices) -> Sums:
        """Returns the loop with the sums of some arrays."""
        chosen = {array: self.arrays[array] for array in arrays}
        alone = {
            one
            for one in arrays
            if not any(one is not other and self.may_be_same(one, other) for other in arrays)
        }
        return Sums(
            self.loop, self.body, chosen, self.sites(chosen), self.inside, self.numbers, prices.is_straight, alone
        )  # fmt: skip

    def may_be_same(self, one: ir.Array, other: ir.Array) -> bool:
        """Returns whether two gradients may be the same memory, as that of an array that the kernel writes never is."""
        is_written = any(each.path.removesuffix(".grad") in self.written for each in (one, other))
        return may_alias(one, other) and not is_written

    def parts(self) -> list[list[ir.Array]]:
        """Returns the arrays in groups whose members do not overlap, or are the same memory in each iteration."""
        parts: list[list[ir.Array]] = []
        for array in self.arrays:
            part = next((p for p in parts if not any(self.may_overlap(array, each) for each in p)), None)
            if part is None:
                parts.append([array])
            else:
                part.append(array)
        return parts

    def may_overlap(self, one: ir.Array, other: ir.Array) -> bool:
        """Returns whether two iterations may add to one element through two arrays (as demote_atomics.py sees it)."""
        if one is other or not may_alias(one, other):
            return False
        return one.ndim != other.ndim or self.arrays[one] != self.arrays[other]

    def cost(self, sums: Sums, prices: Prices) -> int:
        """Returns what an iteration of a loop of sums costs, with the atomics that remain."""
        arrays = list(sums.arrays)
        atomics = [
            cell for cell in sums.cells.values()
            if any(self.may_overlap(array_of(cell.site), other) for other in arrays)
        ]  # fmt: skip
        return cost(sums.made.body, prices) + prices.atomic * len(atomics)

    def none(self, why: str) -> list[ir.Statement]:
        """Returns nothing, for a reason that holds for all arrays."""
        self.why = dict.fromkeys(self.scattered, why)
        return []

    def has_sums(self) -> bool:
        return any(array in self.arrays for array in self.scattered)

    def refuse(self, array: ir.Array, why: str) -> None:
        """Leaves the additions to an array as they are, if there is a reason for it."""
        if why:
            self.arrays.pop(array, None)
            if array in self.scattered:
                self.why.setdefault(array, why)

    # The choice of arrays

    def gradients(self) -> dict[ir.Array, None]:
        """Returns the gradients to which the loop adds."""
        return {
            array_of(each): None
            for each in ir.walk(self.body)
            if isinstance(each, ir.Atomic) and is_gradient_sum(each)
        }

    def candidates(self) -> dict[ir.Array, tuple[int, ...]]:
        """Returns the gradients all of whose additions are at the indices of the loop plus numbers."""
        used = {value for each in ir.walk(self.body) for value in ir.operands_of(each)}
        found: dict[ir.Array, tuple[int, ...] | None] = {}
        for each in ir.walk(self.body):
            if not isinstance(each, ir.Atomic) or not isinstance(each.array, ir.Array):
                continue
            places = places_of(each.index, self.axes)
            if not is_gradient_sum(each) or each in used or not self.are_uniform(each.index, places):
                places = None
            if places is None or found.setdefault(each.array, places) != places:
                found[each.array] = None
        self.arrays = {array: places for array, places in found.items() if places is not None}
        for array in self.scattered:
            if array not in self.arrays:
                self.refuse(
                    array,
                    f"additions to {array.path!r} are not all at fixed distances from the loop's indices",
                )
        return self.arrays

    def are_uniform(self, index: tuple[ir.Value, ...], places: tuple[int, ...] | None) -> bool:
        """Returns whether all iterations have the same indices, apart from those at the places of the axes."""
        return places is not None and all(
            self.is_uniform(each) for place, each in enumerate(index) if place not in places
        )

    def is_uniform(self, value: ir.Value) -> bool:
        return all(isinstance(each, FIXED) or each not in self.inside for each in leaves_of(value))

    def sites(self, arrays: Collection[ir.Array]) -> list[ir.Atomic]:
        """Returns the additions to arrays."""
        return [each for each in ir.walk(self.body) if isinstance(each, ir.Atomic) and each.array in arrays]

    def effects(self) -> list[ir.Statement]:
        """Returns the effects that stay in the other loop."""
        return [
            each
            for each in ir.walk(self.body)
            if isinstance(each, ir.Store) or (isinstance(each, ir.Atomic) and each.array not in self.arrays)
        ]

    def unknown_value(self, array: ir.Array) -> str:
        """Returns the reason why another iteration cannot compute what is added to an array, or ""."""
        sites = self.sites({array: None})
        for each in ir.walk(needed_for(self.body, sites)):
            if isinstance(each, ir.Atomic) and each not in sites:
                return f"several iterations may write the element of line {ir.line_of(each.loc)}"
        late = self.late_read(sites)
        if late is None:
            return ""
        return (
            f"line {ir.line_of(late.loc)} changes what the gradient of line {ir.line_of(sites[0].loc)} reads"
        )

    def needs_own_effects(self, array: ir.Array) -> bool:
        return array in self.arrays and self.late_read(self.sites({array: None})) is not None

    def late_read(self, sites: list[ir.Atomic]) -> Access | None:
        """Returns an effect that an iteration has before it reads what may be the same element, for these additions."""
        needed = {each for each in ir.walk(needed_for(self.body, sites)) if isinstance(each, ir.Load)}
        return self.late_in(self.body, needed, [])

    def late_in(self, block: ir.Block, needed: set[ir.Load], effects: list[Access]) -> Access | None:
        """Returns such an effect for the loads of a block. `effects`: those before it; those of the block are added."""
        for each in block.body:
            if isinstance(each, (ir.Store, ir.Atomic)):
                effects.append(each)
            elif isinstance(each, ir.Load) and each in needed:
                for effect in effects:
                    if effect.array is each.array and not self.differ(effect, each):
                        return effect
            before, after = list(effects), effects
            for inner in ir.blocks_of(each):  # one side of a branch does not come before the other
                side = list(before)
                late = self.late_in(inner, needed, side)
                if late is not None:
                    return late
                after += side[len(before) :]
        return None

    def conflict(self) -> tuple[ir.Array, str] | None:
        """Returns an array of which other statements use the elements that get sums, and the reason; or None."""
        sites = self.sites(self.arrays)
        sums, rest = needed_for(self.body, sites), needed_for(self.body, self.effects())
        uses: list[Access] = [e for block in (sums, rest) for e in ir.walk(block) if isinstance(e, ir.Load)]
        uses += [each for each in ir.walk(rest) if isinstance(each, ir.Store)]
        for site, other in product(sites, uses):
            if site.array is other.array and not self.are_apart(site, other):
                lines = [ir.line_of(each.loc) for each in (site, other)]
                array = array_of(other)
                return array, f"lines {lines[0]} and {lines[1]} may use the same elements of {array.path!r}"
        return None

    def are_apart(self, one: Access, other: Access) -> bool:
        """Returns whether no two iterations access a common element, since an index differs by a number in all."""
        for (base, x), (limit, y) in zip(map(linear, one.index), map(linear, other.index), strict=True):
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
        return False

    def differ(self, one: Access, other: Access) -> bool:
        """Returns whether an iteration accesses different elements, since an index differs by a number."""
        for (base, x), (limit, y) in zip(map(linear, one.index), map(linear, other.index), strict=True):
            numbers = [None if each is None else self.numbers.of(each) for each in (base, limit)]
            if x != y and numbers[0] == numbers[1]:
                return True
        return False

    def with_stores(self) -> ir.Block:
        """Returns an iteration with stores in place of additions to elements of its own, so that it knows their values.

        Only gradients to which it stores are no other array of the loop.
        """
        stored = {each.array for each in ir.walk(self.body) if isinstance(each, ir.Store)}
        for each in ir.walk(self.body):
            if isinstance(each, (ir.Load, ir.Store, ir.Atomic)) and not is_own(each, self.axes):
                stored -= {each.array}
        return _WithStores(stored).block(self.body)

    def others(self) -> ir.For:
        """Returns the loop with all other effects."""
        axes = tuple(ir.Axis(ir.replace(a.index), a.begin, a.end) for a in self.axes)
        copier = Moved({old.index: new.index for old, new in zip(self.axes, axes, strict=True)})
        block = copier.block(needed_for(self.body, self.effects()))
        return ir.For(axes, block, True, self.loop.settings, self.loop.loc)


class _WithStores(Copier):
    def __init__(self, arrays: Collection[ir.Array]) -> None:
        super().__init__()
        self.arrays = arrays

    def Atomic(self, atomic: ir.Atomic) -> list[ir.Statement]:  # noqa: N802
        if not isinstance(atomic.array, ir.Array) or atomic.array not in self.arrays or atomic.kind != "add":
            return [atomic]
        old = ir.Load(atomic.array, atomic.index, atomic.loc)
        new = ir.Op("add", (old, atomic.value), atomic.type, atomic.loc)
        return [old, new, ir.Store(atomic.array, atomic.index, new, atomic.loc)]

    def value_of(self, made: list[ir.Statement]) -> ir.Value:
        """Returns the old value for a replaced atomic."""
        return super().value_of(made[:1] if isinstance(made[-1], ir.Store) else made)


def cost(block: ir.Block, prices: Prices) -> int:
    """Returns what an iteration costs, in additions."""
    called = sum(isinstance(each, ir.Op) and each.name not in COSTS for each in ir.walk(block))
    return work(block) + called * (prices.called - CALLED)
