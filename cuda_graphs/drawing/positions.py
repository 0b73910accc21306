# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Horizontal positions of the vertices of ordered layers.

Sweeps move each layer as near to its neighbours as the order and the widths allow: the positions minimise the
weighted sum of squared distances to the neighbours' mean. With the distances between vertices subtracted, that is a
regression with the one condition that numbers do not decrease, which pooling of adjacent violators solves exactly
in linear time.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from .ranking import Neighbours

__all__ = ["place_layers"]

SWEEPS = 4  # further sweeps moved no box in measurements
WEIGHT_OF_BEND = 6.0  # of a link between two bends, which keeps long links straight
WEAK = 1e-3  # weight of a vertex without neighbours in a sweep


def place_layers(
    layers: Sequence[Sequence[int]], links: Neighbours, widths: Sequence[float], gap: float, boxes: int
) -> list[float]:
    """Return the centre of each vertex. Vertices from number `boxes` on are bends of long links, of no width."""
    x = [0.0] * len(widths)
    distances = [distances_in(layer, widths, gap) for layer in layers]
    for layer, apart in zip(layers, distances, strict=True):
        total = sum(apart)
        at = -total / 2
        for vertex, step in zip(layer, [0.0, *apart], strict=False):  # a lane may have no vertex in a layer
            at += step
            x[vertex] = at
    for sweep in range(SWEEPS):
        is_last = sweep >= SWEEPS - 2
        is_down = sweep % 2 == 0
        steps = range(len(layers)) if is_down else range(len(layers) - 1, -1, -1)
        for step in steps:
            near = both(links) if is_last else ((links.before,) if is_down else (links.after,))
            move_layer(layers[step], distances[step], near, x, boxes)
    return x


def both(links: Neighbours) -> tuple[list[list[int]], ...]:
    return links.before, links.after


def distances_in(layer: Sequence[int], widths: Sequence[float], gap: float) -> list[float]:
    """Return the smallest distances between the centres of neighbours in a layer."""
    return [(widths[left] + widths[right]) / 2 + gap for left, right in itertools.pairwise(layer)]


def move_layer(
    layer: Sequence[int],
    apart: Sequence[float],
    neighbours: tuple[list[list[int]], ...],
    x: list[float],
    boxes: int,
) -> None:
    wanted, weights = [], []
    for vertex in layer:
        total = weight = 0.0
        for near in neighbours:
            for each in near[vertex]:
                if vertex >= boxes <= each:
                    total += WEIGHT_OF_BEND * x[each]
                    weight += WEIGHT_OF_BEND
                else:
                    total += x[each]
                    weight += 1.0
        wanted.append(total / weight if weight else x[vertex])
        weights.append(weight or WEAK)
    for vertex, place in zip(layer, nearest(wanted, weights, apart), strict=True):
        x[vertex] = place


def nearest(wanted: Sequence[float], weights: Sequence[float], apart: Sequence[float]) -> Sequence[float]:
    """Return places near the wanted ones, each at least `apart` from the one before."""
    offsets = [0.0, *itertools.accumulate(apart)]
    # The pools, one entry of each list for each pool.
    means: list[float] = []
    masses: list[float] = []
    counts: list[int] = []
    for place, mass, offset in zip(wanted, weights, offsets, strict=False):  # no vertex has one offset, 0
        mean, count = place - offset, 1
        while means and means[-1] >= mean:
            before = masses.pop()
            mean = (means.pop() * before + mean * mass) / (before + mass)
            mass += before
            count += counts.pop()
        means.append(mean)
        masses.append(mass)
        counts.append(count)
    spread = itertools.chain.from_iterable(map(itertools.repeat, means, counts))
    return [mean + offset for mean, offset in zip(spread, offsets, strict=False)]
