# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The plan by which the temporaries of a definition, and its alloc nodes without an address, share memory.

Two arrays may have the same bytes if all users of one come before all users of the other. Only full edges count as an
order: the target of another edge may start before its source has ended, and only the kernel knows whether it waits.

A temporary has no address that anybody can read, so exactly the nodes with a use of its parameter access it. The array
of an alloc node (place_uses.py) may also be in use from its alloc node to its free node.

Places are found by a heuristic: the largest array first, each in the smallest gap between those that it meets. If
the sum is above the least possible, the array at the top is placed first in the next attempt. A second search begins
with the arrays that have the most bytes together with those that they meet.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import compress
from operator import and_, itemgetter, methodcaller
from typing import TYPE_CHECKING

from cuda_graphs.graph.operands.parameter import Temporary
from cuda_graphs.graph.operands.spans import Span
from cuda_graphs.objects.device.device import Device

from .order import Access, CyclicError, Order, SpanIndex, bits_of
from .place_uses import find_place_users, with_inner

if TYPE_CHECKING:
    from cuda_graphs.graph.nodes.node import GraphNode
    from cuda_graphs.graph.nodes.node_kinds import AllocNode
    from cuda_graphs.graph.nodes.protocols import Definition

__all__ = ["SharingPlan", "Use", "find_uses", "full_order", "place", "plan_sharing"]

BLOCK = 256  # bytes of a row of bits that are transposed at a time
ALIGNMENT = 256  # bytes, as of allocations of the driver
ATTEMPTS, MOST_WORK = 32, 20_000  # attempts to place, and placements in all of them


@dataclass(frozen=True)
class Use:
    """A temporary or alloc node with the steps of the nodes that use it, in ascending order, and its device.

    The device of a temporary is that of one of the nodes, or else the current one. An array `is_pooled` if its memory
    comes from the pool of the device.
    """

    array: Temporary | AllocNode
    steps: tuple[int, ...]
    device: int
    is_pooled: bool


@dataclass(frozen=True)
class SharingPlan:
    """The places of the arrays of one device in a memory of `size` bytes."""

    device: int
    is_pooled: bool
    arrays: tuple[Temporary | AllocNode, ...]
    offsets: tuple[int, ...]
    size: int

    @cached_property
    def spans(self) -> SpanIndex:
        pairs = zip(self.arrays, self.offsets, strict=True)
        return SpanIndex([Access(0, Span(offset, array.bytesize), True, array) for array, offset in pairs])

    def sharing(self, number: int) -> Iterator[Temporary | AllocNode]:
        """Yield the arrays that have some of the same bytes as that with this number."""
        begin = self.offsets[number]
        found = self.spans.overlapping(begin, begin + self.arrays[number].bytesize, writes=True)
        return compress(self.arrays, map(int, f"{found & ~(1 << number):b}"[::-1]))  # often a half of all


def plan_sharing(graph: Definition, groups: Sequence[Collection[GraphNode]] = ()) -> tuple[SharingPlan, ...]:
    """Return a SharingPlan for each device and kind of memory.

    `groups`: sets of nodes, each of which runs as one launch. Nodes that depend on one another in a circle have no
    plan: the driver refuses them, and its error is explained by `instantiate`.
    """
    if not graph._has_temporaries():
        return ()
    try:
        order = full_order(graph)
    except CyclicError:
        return ()
    uses = [in_groups(order, use, groups) for use in (*find_uses(order), *find_places(order))]
    return tuple(
        plan_of(order, [use for use in uses if (use.device, use.is_pooled) == kind], *kind)
        for kind in dict.fromkeys((use.device, use.is_pooled) for use in uses)
    )


def in_groups(order: Order, use: Use, groups: Sequence[Collection[GraphNode]]) -> Use:
    """Let all nodes of a group use what one of them uses."""
    steps = set(use.steps)
    for group in groups:
        members = {order.steps[node] for node in group if node in order.steps}
        if steps & members:
            steps |= members
    return Use(use.array, tuple(sorted(steps)), use.device, use.is_pooled)


def full_order(graph: Definition) -> Order:
    """Return the order by full edges. Raises CyclicError."""
    nodes, edges = graph._listed_with_data()
    full = [(source, target) for source, target, (port, _, kind) in edges if port == 0 and kind == 0]
    return Order(sorted(nodes, key=methodcaller("_raw")), full)


def find_uses(order: Order) -> list[Use]:
    """Return the temporaries that nodes use, in the order of their first users."""
    steps: dict[Temporary, list[int]] = {}
    devices: dict[Temporary, int | None] = {}
    for step, node in enumerate(order.nodes):
        for user in with_inner(node):
            for temporary in user._temporaries():
                found = steps.setdefault(temporary, [])
                if not found or found[-1] != step:
                    found.append(step)
                if devices.get(temporary) is None:
                    devices[temporary] = user._device()
    return [use_of_temporary(temporary, found, devices[temporary]) for temporary, found in steps.items()]


def use_of_temporary(temporary: Temporary, steps: Sequence[int], device: int | None) -> Use:
    found = Device() if device is None else Device(device)
    is_pooled = not found.properties.direct_managed_mem_access_from_host  # as of `cg.ndarray`
    return Use(temporary, tuple(steps), found.device_id, is_pooled)


def find_places(order: Order) -> list[Use]:
    """Return the alloc nodes without an address whose memory can be shared."""
    return [
        Use(node, tuple(steps), node.device_id, True)
        for node, steps in find_place_users(order).items()
        if steps
    ]


def plan_of(order: Order, uses: Sequence[Use], device: int, is_pooled: bool) -> SharingPlan:
    sizes = [-(-use.array.bytesize // ALIGNMENT) * ALIGNMENT for use in uses]
    offsets, size = place(sizes, meeting(order, [use.steps for use in uses]))
    return SharingPlan(device, is_pooled, tuple(use.array for use in uses), tuple(offsets), size)


def meeting(order: Order, users: Sequence[Sequence[int]]) -> list[int]:
    """Return, for each list of users, the lists that are neither wholly before nor wholly after it, as bits."""
    after = wholly_after(order, users)
    every = (1 << len(users)) - 1
    return [
        every & ~(later | earlier | 1 << i)
        for i, (later, earlier) in enumerate(zip(after, transposed(after, len(users)), strict=True))
    ]


def wholly_after(order: Order, users: Sequence[Sequence[int]]) -> list[int]:
    """Return, for each list of users, the lists whose users all come after all of its own, as bits."""
    members = sorted({step for steps in users for step in steps})
    if not members:
        return []
    number = {step: i for i, step in enumerate(members)}
    before = order.before(members)
    earlier = [reduce(and_, (before[step] & ~(1 << number[step]) for step in steps)) for steps in users]
    later = transposed(earlier, len(members))  # for each member: the lists of which all users come after it
    return [reduce(and_, (later[number[step]] for step in steps)) for steps in users]


def transposed(rows: Sequence[int], count: int) -> list[int]:
    """Return the `count` columns of a matrix of bits, as bits, for its rows."""
    import numpy as np  # imported late: importing this package does not need NumPy

    width = -(-count // 8)
    data = b"".join(row.to_bytes(width, "little") for row in rows)
    packed = np.frombuffer(data, np.uint8).reshape(len(rows), width)
    found: list[int] = []
    for start in range(0, width, BLOCK):  # a byte for each bit of a few columns at a time
        bits = np.unpackbits(packed[:, start : start + BLOCK], axis=1, bitorder="little")
        columns = np.packbits(bits.T, axis=1, bitorder="little")
        found += [int.from_bytes(column.tobytes(), "little") for column in columns]
    return found[:count]


def place(sizes: Sequence[int], meets: Sequence[int]) -> tuple[list[int], int]:
    """Return an offset for each size, and the sum: i and j do not overlap if bit j of meets[i] is set."""
    least = lower_bound(sizes, meets)
    weights = [size + sum(sizes[j] for j in bits_of(mask)) for size, mask in zip(sizes, meets, strict=True)]
    best = search(sizes, sizes, meets, least)
    if best[1] > least:
        best = min(best, search(weights, sizes, meets, least), key=itemgetter(1))
    return best


def search(
    weights: Sequence[int], sizes: Sequence[int], meets: Sequence[int], least: int
) -> tuple[list[int], int]:
    """Return places for which the heaviest are placed first, or the better ones of an attempt after that."""
    order = sorted(range(len(sizes)), key=lambda i: -weights[i])
    best = fit(order, sizes, meets)
    offsets, total = best
    for _ in range(min(ATTEMPTS, MOST_WORK // max(1, len(sizes)))):
        if best[1] <= least:
            break
        top = max(order, key=lambda i: offsets[i] + sizes[i])
        order.remove(top)
        order.insert(0, top)
        offsets, total = fit(order, sizes, meets)
        if total < best[1]:
            best = offsets, total
    return best


def lower_bound(sizes: Sequence[int], meets: Sequence[int]) -> int:
    """Return bytes that are needed: those of a set of arrays that all meet, found greedily from each of them."""
    by_size = sorted(range(len(sizes)), key=lambda i: -sizes[i])
    best = 0
    for first in by_size[: MOST_WORK // max(1, len(sizes))]:
        common, total = meets[first], sizes[first]
        for other in by_size:
            if common >> other & 1:
                common &= meets[other]
                total += sizes[other]
        best = max(best, total)
    return best


def fit(order: Sequence[int], sizes: Sequence[int], meets: Sequence[int]) -> tuple[list[int], int]:
    """Place each member of `order` in the smallest gap between those placed before it that it meets."""
    offsets = [0] * len(sizes)
    placed = total = 0
    for i in order:
        taken = sorted((offsets[j], offsets[j] + sizes[j]) for j in bits_of(meets[i] & placed))
        offsets[i] = smallest_gap(taken, sizes[i])
        placed |= 1 << i
        total = max(total, offsets[i] + sizes[i])
    return offsets, total


def smallest_gap(taken: Sequence[tuple[int, int]], size: int) -> int:
    """Return the beginning of the smallest gap of at least `size` bytes; the end of all if there is none."""
    end, best, room = 0, None, 0
    for begin, after in taken:
        if begin - end >= size and (best is None or begin - end < room):
            best, room = end, begin - end
        end = max(end, after)
    return end if best is None else best
