# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Fuses a loop with one that reads its results at other elements: iterations compute these elements again.

    for i in range(n): t[i] = x[i] * c                     for i in range(n):
    for i in range(1, n - 1): y[i] = t[i - 1] + t[i]   =>      v = x[i] * c; t[i] = v
                                                               if 1 <= i < n - 1: y[i] = x[i - 1] * c + v

Each iteration of the first loop, the producer, stores to its element. The value depends on the index and on memory that
no iteration of the fused loop changes, so other iterations compute the same bits. Elements outside of the producer's
loop keep their values, and are loaded. The fused loop has the larger of the two index spaces, and a branch selects the
iterations of the other loop.

Fusion saves a launch and a pass over an array. Its price is `work` that is done again, for which each target has a
limit. On a CPU it is worth it only if the arrays do not fit into the caches: for large loops.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.ir.types import bool_

from .alias_classes import Aliases, aliases_of
from .copy import Copier
from .forward_stores import Numbers, forward_stores
from .index_facts import Facts
from .index_spaces import Spaces
from .recompute import Element, Key, element_of, key_of, values_once, zeroed
from .task_groups import Access, Group, Pairs, accesses_of, different_spaces

__all__ = ["CALLED", "COSTS", "IF_LARGE", "fuse_stencil", "under", "work"]

Conflict = Callable[[Access, Access, Pairs], str]

# Rows of operations that cost a thread as much as an addition. Other rows call functions.
SIMPLE = (
    "add", "sub", "mul", "neg", "abs", "min", "max", "bit_and", "bit_or", "bit_xor", "bit_not", "not", "shift_left",
    "shift_right", "shift_right_logical", "less", "less_equal", "greater", "greater_equal", "equal", "not_equal",
    "is_nan", "select", "cast", "stop_grad", "replace_grad", "bit_cast", "floor", "ceil", "trunc",
)  # fmt: skip
COSTS = {**dict.fromkeys(SIMPLE, 1), **dict.fromkeys(("div", "sqrt", "rsqrt"), 8)}
CALLED = 20
HALF = 4  # a conversion of an f16 or bf16
BRANCHED = 20  # an element that may be outside of the producer's loop: on a CPU, the branch prevents vectors
LOADED = 2  # the cache has the element, as an iteration nearby loads it too
IF_LARGE = "only loops of many iterations are worth it"


def work(block: ir.Block) -> int:
    """Returns what an iteration costs, in additions."""
    return sum(
        cost(each) if isinstance(each, ir.Op) else LOADED * isinstance(each, ir.Load)
        for each in ir.walk(block)
    )


def cost(op: ir.Op) -> int:
    if op.name == "cast" and any(
        type.kind == "float" and type.size == 2 for type in (op.type, op.args[0].type)
    ):
        return HALF
    return COSTS.get(op.name, CALLED)


def fuse_stencil(
    one: Group, other: Group, conflict: Conflict, knows_calls: bool, most: int, most_if_large: int
) -> Group | str:
    """Returns two neighbours as one group, in which iterations compute elements of the first one again.

    Returns the reason against it, or "" if no other elements are read. `conflict` returns the reason why two accesses
    keep loops apart, and adds conditions on calls. `most`: the limit of the `work` that is done again, and
    `most_if_large` that for loops of many iterations.
    """
    assert one.loop is not None
    assert other.loop is not None
    stored = {each.array for each in one.accesses if each.writes and each.at is not None}
    if not any(each.array in stored and not each.writes for each in other.accesses):
        return ""
    first, second = (forward_stores(each.body, aliases_of(each.apart)) for each in (one, other))
    produced = arrays_of(first, one, second, other)
    if not produced:
        return ""
    if not are_comparable(one.loop, other.loop):
        return different_spaces(one, other, None)
    spaces = Spaces(one.loop, other.loop, {} if knows_calls else None)
    if not (spaces.consumer_is_inside or spaces.producer_is_inside):
        return different_spaces(one, other, None)
    consumer = _Consumer(one.loop, first, produced, spaces)
    joined = consumer.block(second)
    apart: Pairs = {}
    why = consumer.why or dependence(one, first, other, second, consumer, conflict, apart)
    if why:
        return why
    apart = {**one.apart, **other.apart, **apart}
    outer, inner = (one.loop, other.loop) if spaces.consumer_is_inside else (other.loop, one.loop)
    blocks = [
        guarded(block, loop, outer, one.loop, spaces) if loop is inner else block.body
        for block, loop in ((first, one.loop), (joined, other.loop))
    ]
    aliases = aliases_of(apart)
    body = values_once(forward_stores(ir.Block([*blocks[0], *blocks[1]]), aliases))
    again = work(body) - work(first) - work(second) + BRANCHED * consumer.branches
    if again > most:
        return consumer.too_much(again, most_if_large)
    body = stores_last(body, produced, aliases)
    axes = tuple(ir.Axis(a.index, b.begin, b.end) for a, b in zip(one.loop.axes, outer.axes, strict=True))
    prologue = one.prologue + other.prologue
    return Group(
        one.numbers + other.numbers, one.lines + other.lines, "", True, ir.replace(one.loop, axes=axes), prologue, body,
        [*accesses_of(ir.Block(prologue), ()), *accesses_of(body, axes)], apart,
        {**one.equal, **other.equal, **(spaces.equal or {})}, (*one.again, *consumer.notes()),
    )  # fmt: skip


def arrays_of(first: ir.Block, one: Group, second: ir.Block, other: Group) -> dict[ir.Array, tuple[int, ...]]:
    """Returns the arrays of which the second loop reads other elements, and the positions of the axes in their indices.

    The first loop only stores to them, at the indices of its loop.
    """
    assert one.loop is not None
    assert other.loop is not None
    before, after = accesses_of(first, one.loop.axes), accesses_of(second, other.loop.axes)
    outside = {each.array for group in (one, other) for each in accesses_of(ir.Block(group.prologue), ())}
    found: dict[ir.Array, tuple[int, ...]] = {}
    for each in before:
        array, at = each.array, each.at
        if at is None or array in outside:
            continue
        mine = [a for a in before if a.array is array]
        theirs = [b for b in after if b.array is array]
        if (
            all(a.writes and not a.kind and a.at == at for a in mine)
            and not any(b.writes for b in theirs)
            and any(b.at != at for b in theirs)
            and all(key_of(store.index, at) is not None for store in stores_to(first, array))
        ):
            found[array] = at
    return found


def stores_to(block: ir.Block, array: ir.Array) -> Iterator[ir.Store]:
    return (each for each in ir.walk(block) if isinstance(each, ir.Store) and each.array is array)


def are_comparable(one: ir.For, other: ir.For) -> bool:
    """Returns whether the loops have as many axes, of the same types, that count upwards by 1."""
    return len(one.axes) == len(other.axes) and all(
        a.step == b.step == 1 and a.index.type == b.index.type and a.index.type.kind == "int"
        for a, b in zip(one.axes, other.axes, strict=False)
    )


class _Consumer(Copier):
    """Copies an iteration of the consumer. In place of loads at other elements it computes the elements.

    produced  the result of `arrays_of`
    elements  what computes them, by array and key
    sites     the lines of the loads of each array that were replaced
    branches  how many of them may be outside of the producer's loop
    facts     what conditions tell about indices
    why       the reason why one could not be replaced
    """

    def __init__(
        self, loop: ir.For, first: ir.Block, produced: dict[ir.Array, tuple[int, ...]], spaces: Spaces
    ) -> None:
        super().__init__({b.index: a.index for a, b in zip(spaces.producer, spaces.consumer, strict=True)})
        self.loop, self.first, self.produced, self.spaces = loop, first, produced, spaces
        self.stored = {
            (array, key_of(each.index, at))
            for array, at in produced.items()
            for each in stores_to(first, array)
        }
        self.elements: dict[tuple[ir.Array, Key], Element] = {}
        self.sites: dict[ir.Array, list[int]] = {}
        self.branches = 0
        self.facts = Facts()
        self.why = ""

    def statement(self, statement: ir.Statement) -> list[ir.Statement]:
        if isinstance(statement, ir.Load) and statement.array in self.produced and not self.why:
            return self.load(statement)
        made = self.branch(statement) if isinstance(statement, ir.If) else super().statement(statement)
        for each in made:
            self.facts.note(each)
        return made

    def branch(self, branch: ir.If) -> list[ir.Statement]:
        """Returns a branch. Its condition may tell where indices are."""
        condition, limits = self.part(branch.condition), self.spaces.limits
        self.spaces.limits = [*limits, *self.facts.of(condition)]
        then = self.block(branch.then)
        self.spaces.limits = limits
        self.facts.forget(then)
        return [ir.If(condition, then, self.block(branch.orelse), branch.loc)]

    def load(self, load: ir.Load) -> list[ir.Statement]:
        """Returns the statements that take the place of a load."""
        made = ir.Load(load.array, self.part(load.index), load.loc)
        at, line = self.produced[load.array], ir.line_of(load.loc)
        self.values[load] = made
        if all(made.index[place] is axis.index for place, axis in zip(at, self.loop.axes, strict=True)):
            return [made]
        key = key_of(made.index, at)
        if key is not None and (made.array, key) not in self.stored:
            return [made]  # an element that the producer does not change
        self.why = self.why_not(made, line, key)
        if self.why or key is None:
            return [made]
        element = self.elements[made.array, key]
        self.sites.setdefault(made.array, []).append(line)
        computed, value = element.at_index(made.index)
        conditions: list[ir.Value] = []
        for number, (place, axis) in enumerate(zip(at, self.loop.axes, strict=True)):
            index = made.index[place]
            if not self.spaces.is_above(index, number):
                conditions.append(ir.Op("less_equal", (axis.begin, index), bool_))
            if not self.spaces.is_below(index, number):
                conditions.append(ir.Op("less", (index, axis.end), bool_))
        if not conditions:
            self.values[load] = value
            return computed
        self.branches += 1
        local = ir.Local(f"{made.array.path}.near", made.type)
        found = self.values[load] = ir.Get(local)
        branch = ir.If(
            conditions[-1], ir.Block([*computed, ir.Set(local, value)]), ir.Block([made, ir.Set(local, made)])
        )
        return [zeroed(local), *under(conditions, branch), found]

    def why_not(self, load: ir.Load, line: int, key: Key | None) -> str:
        """Returns the reason why no other iteration can compute an element that is read, or ""."""
        path, at = load.array.path, self.produced[load.array]
        indices = [load.index[place] for place in at]
        if key is None or any(map(is_from_memory, indices)):
            return f"memory decides which element of {path!r} line {line} reads"
        if any(index.type != axis.index.type for index, axis in zip(indices, self.loop.axes, strict=True)):
            return f"line {line} reads {path!r} at an index of another type than that of the loop"
        if (load.array, key) not in self.elements:
            found = element_of(self.first, load.array, self.loop.axes, at, key)
            if found is None:
                stored = next(stores_to(self.first, load.array))
                return f"line {ir.line_of(stored.loc)} stores to {path!r} in some of its iterations only"
            self.elements[load.array, key] = found
        return ""

    def too_much(self, again: int, most_if_large: int) -> str:
        """Returns the reason against fusion that would do too much work again."""
        limit = f"at most {most_if_large} are worth it"
        if again <= most_if_large:
            limit = IF_LARGE
        (array, _), element = next(iter(self.elements.items()))
        lines = self.sites[array]
        return (
            f"line {lines[0]} reads {array.path!r} at other elements, and computing line {element.line} again for them "
            f"would cost an iteration as much as {again} additions: {limit}"
        )

    def notes(self) -> list[str]:
        """Returns what iterations compute again, in words."""
        stored = {array: element.line for (array, _), element in self.elements.items()}
        return [
            f"line {sites[0]} computes {len(sites)} other element{'s' * (len(sites) > 1)} of {array.path!r} again, as "
            f"line {stored[array]} does"
            for array, sites in self.sites.items()
        ]


def is_from_memory(value: ir.Value) -> bool:
    """Returns whether an index depends on memory, as far as its operations show."""
    return isinstance(value, (ir.Load, ir.Atomic)) or any(map(is_from_memory, ir.operands_of(value)))


def under(conditions: list[ir.Value], branch: ir.If) -> list[ir.Statement]:
    """Returns a branch that is taken if all conditions hold, with the statements that compute them."""
    found: list[ir.Statement] = list(conditions)
    both = conditions[0]
    for each in conditions[1:]:
        both = ir.Op("bit_and", (both, each), bool_)
        found.append(both)
    return [*found, ir.replace(branch, condition=both)]


def guarded(
    block: ir.Block, inner: ir.For, outer: ir.For, indices: ir.For, spaces: Spaces
) -> list[ir.Statement]:
    """Returns an iteration of a loop as part of an `outer` loop with a larger index space, with these `indices`."""
    conditions: list[ir.Value] = []
    for axis, around, at in zip(inner.axes, outer.axes, indices.axes, strict=True):
        if not spaces.at_most(axis.begin, 0, around.begin, 0):
            conditions.append(ir.Op("less_equal", (axis.begin, at.index), bool_))
        if not spaces.at_most(around.end, 0, axis.end, 0):
            conditions.append(ir.Op("less", (at.index, axis.end), bool_))
    return under(conditions, ir.If(conditions[0], block, ir.Block())) if conditions else block.body


def dependence(
    one: Group,
    first: ir.Block,
    other: Group,
    second: ir.Block,
    consumer: _Consumer,
    conflict: Conflict,
    apart: Pairs,
) -> str:
    """Returns the reason why iterations depend on one another, other than by the elements that are computed again."""
    assert one.loop is not None
    assert other.loop is not None
    before = [*accesses_of(ir.Block(one.prologue), ()), *accesses_of(first, one.loop.axes)]
    after = [*accesses_of(ir.Block(other.prologue), ()), *accesses_of(second, other.loop.axes)]
    for a in before:
        for b in after:
            why = "" if a.array is b.array and a.array in consumer.produced else conflict(a, b, apart)
            if why:
                return why
    changes = [each for each in (*before, *after) if each.writes]
    for (array, _), element in consumer.elements.items():
        for b in accesses_of(element.block, ()):
            for a in changes:
                if conflict(a, b, apart):
                    line = consumer.sites[array][0]
                    return (
                        f"line {line} reads {array.path!r} at other elements, and line {element.line} cannot be "
                        f"computed again: it reads {b.array.path!r}, and line {a.line} {a.verb} {a.array.path!r}"
                    )
    return ""


def stores_last(block: ir.Block, produced: Mapping[ir.Array, tuple[int, ...]], aliases: Aliases) -> ir.Block:
    """Moves the stores of an iteration behind its loads, which would have to wait for the values that are stored.

    Loads of `produced` arrays at other indices are of elements that the producer does not change.
    """
    numbers = Numbers()
    kept: list[ir.Statement] = []
    moved: list[ir.Statement] = []

    def meets(store: ir.Store, each: ir.Statement) -> bool:
        if not isinstance(each, (ir.Load, ir.Store, ir.Atomic)) or not isinstance(each.array, ir.Array):
            return False
        if each.array is store.array and isinstance(each, ir.Load) and each.array in produced:
            (_, mine), (_, theirs) = numbers.element(store), numbers.element(each)
            is_own = all(mine[place] == theirs[place] for place in produced[each.array])
            return is_own and not numbers.differ(mine, theirs)
        return aliases(store.array, each.array)

    for statement in reversed(block.body):
        if isinstance(statement, ir.Store) and not any(
            meets(statement, each) for each in ir.walk(ir.Block(kept))
        ):
            moved.append(statement)
        else:
            kept.append(statement)
    return ir.Block([*kept[::-1], *moved[::-1]])
