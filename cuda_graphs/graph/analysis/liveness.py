# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The lives of allocations in a graph. A life extends from an alloc node to the free node of its address.

The driver may give two allocations the same address if the first is freed before the second is made (CUDA Programming
Guide, "Graph Memory Nodes", address reuse). Therefore an address may have several successive lives, and an access is
valid if it is in one of them. Allocations whose memory overlaps form a cluster. Clusters are processed some thousand
allocations at a time, which keeps the sets of nodes before each node small.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from cuda_graphs.graph.operands.spans import Span

from .order import BLOCK, Order

__all__ = ["Life", "Lives", "lives_of"]


@dataclass
class Life:
    """One allocation: its bytes, the step of its alloc node, and the steps of its free nodes."""

    span: Span
    begin: int
    ends: list[int] = field(default_factory=list)


def lives_of(
    order: Order, allocs: Iterable[tuple[int, int, int]], frees: Iterable[tuple[int, int]]
) -> Iterator[Lives]:
    """Yield the lives of some clusters at a time.

    allocs  (address, bytes, step) of each alloc node
    frees   (address, step) of each free node
    """
    ends: dict[int, list[int]] = {}
    for address, step in frees:
        ends.setdefault(address, []).append(step)
    clusters: list[list[Life]] = []
    size = 0
    for cluster in clusters_of(Life(Span(address, size), step) for address, size, step in allocs):
        clusters.append(cluster)
        size += len(cluster)
        if size >= BLOCK:
            yield Lives(order, clusters, ends)
            clusters, size = [], 0
    if clusters:
        yield Lives(order, clusters, ends)


def clusters_of(lives: Iterable[Life]) -> Iterator[list[Life]]:
    cluster: list[Life] = []
    end = 0
    for life in sorted(lives, key=lambda each: (each.span.start, each.begin)):
        if life.span.start >= end and cluster:
            yield cluster
            cluster = []
        cluster.append(life)
        end = max(end, life.span.end)
    if cluster:
        yield cluster


class Lives:
    """Some clusters of allocations of one graph. `matched` holds the steps of the free nodes that end a life."""

    def __init__(self, order: Order, clusters: list[list[Life]], ends: dict[int, list[int]]) -> None:
        self.clusters = clusters
        self.starts = [cluster[0].span.start for cluster in clusters]
        self.all = [life for cluster in clusters for life in cluster]
        begins: dict[int, list[Life]] = {}
        for life in self.all:
            begins.setdefault(life.span.start, []).append(life)
        frees = [step for address in begins for step in ends.get(address, ())]
        members = [life.begin for life in self.all] + frees
        self.bits = {step: 1 << i for i, step in enumerate(members)}
        self.before = order.before(members)
        self.after = order.after(members)
        for address, lives in begins.items():
            for step in ends.get(address, ()):
                self._end(lives, step)
        self.matched = {step for life in self.all for step in life.ends}

    def _end(self, lives: list[Life], step: int) -> None:
        """End the last life that begins before the free node at `step`."""
        earlier = [life for life in lives if self._is_before(life.begin, step)]
        if earlier:
            max(earlier, key=lambda life: life.begin).ends.append(step)

    def _is_before(self, member: int, step: int) -> bool:
        return bool(self.before[step] & self.bits[member])

    def misuses(self, step: int, span: Span) -> Iterator[tuple[Life, bool]]:
        """Yield (life, whether it has ended) for lives that an access is surely outside of.

        Yields nothing for an access that may be inside of a life. An access without an order to the beginning or the
        end of a life may be inside; the check of order reports it.
        """
        for i in range(max(bisect_right(self.starts, span.start) - 1, 0), len(self.clusters)):
            if self.starts[i] >= span.end:
                break
            met = [life for life in self.clusters[i] if life.span.meets(span)]
            over = [life for life in met if any(self._is_before(end, step) for end in life.ends)]
            to_come = [life for life in met if self.after[step] & self.bits[life.begin]]
            if met and len(over) + len(to_come) == len(met):
                yield (over[-1], True) if over else (to_come[0], False)
