# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The plan by which the temporaries of a definition share memory.

A temporary has no address that anybody can read, so exactly the nodes with a use of its parameter access it. Two
temporaries may have the same bytes if all users of one come before all users of the other. Only full edges count as an
order: the target of another edge may start before its source has ended, and only the kernel knows whether it waits.

Places are found by a heuristic: the largest temporary first, each in the smallest gap between those that it meets. If
the sum is above the least possible, the temporary at the top is placed first in the next attempt.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import and_, methodcaller
from typing import TYPE_CHECKING

from cuda_graphs.graph.operands.parameter import Temporary

from .order import CyclicError, Order

if TYPE_CHECKING:
    from cuda_graphs.graph.nodes.node import GraphNode
    from cuda_graphs.graph.nodes.protocols import Definition

__all__ = ["SharingPlan", "Use", "find_uses", "full_order", "place", "plan_sharing"]

ALIGNMENT = 256  # bytes, as of allocations of the driver
ATTEMPTS, MOST_WORK = 32, 20_000  # attempts to place, and placements in all of them


@dataclass(frozen=True)
class Use:
    """A temporary with the steps of the nodes that use it, in ascending order, and the device of one of them."""

    temporary: Temporary
    steps: tuple[int, ...]
    device: int | None


@dataclass(frozen=True)
class SharingPlan:
    """The places of the temporaries of one device (None: the current one) in a memory of `size` bytes."""

    device: int | None
    temporaries: tuple[Temporary, ...]
    offsets: tuple[int, ...]
    size: int

    def sharing(self, number: int) -> Iterator[Temporary]:
        """Yield the temporaries that have some of the same bytes as that with this number."""
        begin = self.offsets[number]
        end = begin + self.temporaries[number].bytesize
        for other, offset in zip(self.temporaries, self.offsets, strict=True):
            if other is not self.temporaries[number] and offset < end and begin < offset + other.bytesize:
                yield other


def plan_sharing(graph: Definition) -> tuple[SharingPlan, ...]:
    """Return a SharingPlan for each device. Raises ValueError if nodes depend on one another in a circle."""
    if not graph._has_temporaries():
        return ()
    try:
        order = full_order(graph)
    except CyclicError:
        return ()  # the driver refuses the definition, and its error is explained by instantiate
    uses = find_uses(order)
    return tuple(
        plan_of(order, [use for use in uses if use.device == device], device)
        for device in dict.fromkeys(use.device for use in uses)
    )


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
    return [Use(temporary, tuple(found), devices[temporary]) for temporary, found in steps.items()]


def with_inner(node: GraphNode) -> Iterator[GraphNode]:
    """Yield a node and all nodes of the graphs inside it."""
    nodes = [node]
    for each in nodes:  # the loop appends to the list
        yield each
        for graph in each._inner_graphs():
            nodes += graph._listed()[0]


def plan_of(order: Order, uses: Sequence[Use], device: int | None) -> SharingPlan:
    sizes = [-(-use.temporary.bytesize // ALIGNMENT) * ALIGNMENT for use in uses]
    offsets, size = place(sizes, meeting(order, [use.steps for use in uses]))
    return SharingPlan(device, tuple(use.temporary for use in uses), tuple(offsets), size)


def meeting(order: Order, users: Sequence[Sequence[int]]) -> list[int]:
    """Return, for each list of users, the lists that are neither wholly before nor wholly after it, as bits."""
    members = sorted({step for steps in users for step in steps})
    if not members:
        return []
    bits = {step: 1 << i for i, step in enumerate(members)}
    before = order.before(members)
    masks = [sum(bits[step] for step in steps) for steps in users]
    earlier = [reduce(and_, (before[step] & ~bits[step] for step in steps)) for steps in users]
    count = range(len(users))
    return [
        sum(
            1 << j
            for j in count
            if j != i and masks[i] & earlier[j] != masks[i] and masks[j] & earlier[i] != masks[j]
        )
        for i in count
    ]


def place(sizes: Sequence[int], meets: Sequence[int]) -> tuple[list[int], int]:
    """Return an offset for each size, and the sum: i and j do not overlap if bit j of meets[i] is set."""
    least = lower_bound(sizes, meets)
    order = sorted(range(len(sizes)), key=lambda i: -sizes[i])
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
    """Return bytes that are needed: those of a set of temporaries that all meet, found greedily from each of them."""
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
    placed: list[int] = []
    total = 0
    for i in order:
        taken = sorted((offsets[j], offsets[j] + sizes[j]) for j in placed if meets[i] >> j & 1)
        offsets[i] = smallest_gap(taken, sizes[i])
        placed.append(i)
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
