# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Layers: a number for each box of a plane, such that links lead from a layer to a later one.

The layer of a box is the length of the longest path to it. A chain that begins with no predecessor, such as an
allocation before a late kernel, moves down to its first use. Boxes without links form a block of several layers.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heapify, heappop, heappush
from math import ceil, sqrt

__all__ = ["Neighbours", "order_of", "rank"]

Edge = tuple[int, int]
LOOSE_IN_A_ROW = 6  # boxes without links that stand in one layer


class Neighbours:
    """The predecessors and successors of each box."""

    def __init__(self, count: int, edges: Sequence[Edge]) -> None:
        self.before: list[list[int]] = [[] for _ in range(count)]
        self.after: list[list[int]] = [[] for _ in range(count)]
        for source, target in edges:
            self.before[target].append(source)
            self.after[source].append(target)


def order_of(count: int, edges: Sequence[Edge]) -> tuple[list[int], set[Edge]]:
    """Return the topological order that is nearest to the order of the numbers, and the edges that it ignores.

    The ignored edges close circles; a definition may have them until it is instantiated.
    """
    links = Neighbours(count, edges)
    missing = [len(before) for before in links.before]
    ready = [number for number in range(count) if not missing[number]]
    heapify(ready)
    order: list[int] = []
    done = [False] * count
    ignored: set[Edge] = set()
    first = 0  # all numbers before it are done
    while len(order) < count:
        if not ready:
            while done[first]:
                first += 1
            ignored.update((source, first) for source in links.before[first] if not done[source])
            missing[first] = 0
            ready = [first]
        number = heappop(ready)
        if done[number]:
            continue
        done[number] = True
        order.append(number)
        for target in links.after[number]:
            missing[target] -= 1
            if missing[target] == 0 and not done[target]:
                heappush(ready, target)
    return order, ignored


def rank(count: int, edges: Sequence[Edge], order: Sequence[int]) -> list[int]:
    """Return the layer of each box. `edges` must follow `order`."""
    links = Neighbours(count, edges)
    found = [0] * count
    for number in order:
        found[number] = max((found[before] + 1 for before in links.before[number]), default=0)
    lower_starts(links, found, order)
    place_loose(links, found)
    return found


def lower_starts(links: Neighbours, found: list[int], order: Sequence[int]) -> None:
    """Move chains that begin with no predecessor down to the first use of their result."""
    floats = [False] * len(found)
    for number in order:
        before = links.before[number]
        floats[number] = not before or (
            len(before) == 1 and floats[before[0]] and len(links.after[before[0]]) == 1
        )
    for number in reversed(order):
        if floats[number] and links.after[number]:
            found[number] = min(found[after] for after in links.after[number]) - 1


def place_loose(links: Neighbours, found: list[int]) -> None:
    """Distribute the boxes without links over layers, so that they form a block instead of one long row."""
    loose = [number for number in range(len(found)) if not links.before[number] and not links.after[number]]
    columns = max(LOOSE_IN_A_ROW, ceil(sqrt(len(loose))))
    for place, number in enumerate(loose):
        found[number] = place // columns
