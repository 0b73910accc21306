# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The order of the boxes in each layer, with few crossings of links.

Sweeps down and up sort each layer by the mean place of the neighbours in the layer before (barycentres). The best
order that a sweep reaches is kept. In small planes, neighbours in a layer are then exchanged as long as that
removes a crossing.
"""

from __future__ import annotations

import itertools
from bisect import bisect_right
from collections.abc import Sequence

from .ranking import Neighbours

__all__ = ["crossings", "order_layers"]

SWEEPS = 12
LARGE = 3000  # a plane with more vertices gets fewer sweeps and no exchanges
SWEEPS_OF_LARGE = 3


def order_layers(layers: list[list[int]], links: Neighbours, lanes: Sequence[int]) -> list[list[int]]:
    """Return the layers with their vertices in order. Links connect neighbouring layers; lanes do not mix."""
    now = [sorted(layer, key=lambda each: lanes[each]) for layer in layers]
    count = sum(map(len, layers))
    best, fewest = now, total_crossings(now, links)
    for sweep in range(SWEEPS_OF_LARGE if count > LARGE else SWEEPS):
        if fewest == 0:
            break
        now = sort_layers(now, links, lanes, is_down=sweep % 2 == 0)
        crossed = total_crossings(now, links)
        if crossed < fewest:
            best, fewest = now, crossed
    if fewest and count <= LARGE:
        best = exchange_neighbours(best, links, lanes)
    return best


def sort_layers(
    layers: list[list[int]], links: Neighbours, lanes: Sequence[int], *, is_down: bool
) -> list[list[int]]:
    """Return the layers, each sorted by the mean place of the neighbours in the layer before or after it."""
    found = [list(layer) for layer in layers]
    neighbours = links.before if is_down else links.after
    steps = range(1, len(found)) if is_down else range(len(found) - 2, -1, -1)
    for step in steps:
        fixed = {vertex: place for place, vertex in enumerate(found[step - 1 if is_down else step + 1])}
        keys = {}
        for place, vertex in enumerate(found[step]):
            near = neighbours[vertex]
            mean = sum([fixed[each] for each in near]) / len(near) if near else float(place)
            keys[vertex] = (lanes[vertex], mean)
        found[step].sort(key=keys.__getitem__)
    return found


def total_crossings(layers: Sequence[Sequence[int]], links: Neighbours) -> int:
    return sum(crossings(upper, lower, links) for upper, lower in itertools.pairwise(layers))


def crossings(upper: Sequence[int], lower: Sequence[int], links: Neighbours) -> int:
    """Return the number of pairs of links between two layers that cross."""
    place = {vertex: number for number, vertex in enumerate(lower)}
    found = 0
    seen: list[int] = []  # sorted ends of the links so far
    for vertex in upper:
        for end in sorted([place[each] for each in links.after[vertex]]):
            at = bisect_right(seen, end)
            found += len(seen) - at
            seen.insert(at, end)
    return found


def exchange_neighbours(layers: list[list[int]], links: Neighbours, lanes: Sequence[int]) -> list[list[int]]:
    """Return the layers after exchanges of neighbours that each remove crossings."""
    found = [list(layer) for layer in layers]
    for _ in range(SWEEPS):
        places = {vertex: place for layer in found for place, vertex in enumerate(layer)}
        is_better = False
        for layer in found:
            for place in range(len(layer) - 1):
                left, right = layer[place], layer[place + 1]
                if lanes[left] != lanes[right]:
                    continue
                if saved_by_exchange(left, right, links, places) > 0:
                    layer[place], layer[place + 1] = right, left
                    places[left], places[right] = place + 1, place
                    is_better = True
        if not is_better:
            break
    return found


def saved_by_exchange(left: int, right: int, links: Neighbours, places: dict[int, int]) -> int:
    """Return by how many crossings an exchange of two neighbours reduces the picture."""
    saved = 0
    for near in (links.before, links.after):
        for one in near[left]:
            for other in near[right]:
                saved += (places[one] > places[other]) - (places[one] < places[other])
    return saved
