# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The lifetimes of allocations in a graph. A lifetime extends from an alloc node to the free node of its address.

The driver may give two allocations the same address if the first is freed before the second is made (CUDA Programming
Guide, "Graph Memory Nodes", address reuse). Therefore an address may have several successive lifetimes, and an access
is valid if it is in one of them. Allocations whose memory overlaps form a cluster. Clusters are processed some thousand
allocations at a time, which keeps the sets of nodes before each node small.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from cuda_graphs.graph.operands.spans import Span

from .order import BLOCK, Order

__all__ = ["Lifetime", "Lifetimes", "find_lifetimes"]


@dataclass
class Lifetime:
    """One allocation: its bytes, the step of its alloc node, and the steps of its free nodes."""

    span: Span
    begin: int
    ends: list[int] = field(default_factory=list)


def find_lifetimes(
    order: Order, allocs: Iterable[tuple[int, int, int]], frees: Iterable[tuple[int, int]]
) -> Iterator[Lifetimes]:
    """Yield the lifetimes of some clusters at a time.

    allocs  (address, bytes, step) of each alloc node
    frees   (address, step) of each free node
    """
    ends: dict[int, list[int]] = {}
    for address, step in frees:
        ends.setdefault(address, []).append(step)
    clusters: list[list[Lifetime]] = []
    size = 0
    for cluster in clusters_of(Lifetime(Span(address, size), step) for address, size, step in allocs):
        clusters.append(cluster)
        size += len(cluster)
        if size >= BLOCK:
            yield Lifetimes(order, clusters, ends)
            clusters, size = [], 0
    if clusters:
        yield Lifetimes(order, clusters, ends)


def clusters_of(lifetimes: Iterable[Lifetime]) -> Iterator[list[Lifetime]]:
    cluster: list[Lifetime] = []
    end = 0
    for lifetime in sorted(lifetimes, key=lambda each: (each.span.start, each.begin)):
        if lifetime.span.start >= end and cluster:
            yield cluster
            cluster = []
        cluster.append(lifetime)
        end = max(end, lifetime.span.end)
    if cluster:
        yield cluster


class Lifetimes:
    """Some clusters of allocations of one graph. `matched` holds the steps of the free nodes that end a lifetime."""

    def __init__(self, order: Order, clusters: list[list[Lifetime]], ends: dict[int, list[int]]) -> None:
        self.clusters = clusters
        self.starts = [cluster[0].span.start for cluster in clusters]
        self.all = [lifetime for cluster in clusters for lifetime in cluster]
        begins: dict[int, list[Lifetime]] = {}
        for lifetime in self.all:
            begins.setdefault(lifetime.span.start, []).append(lifetime)
        frees = [step for address in begins for step in ends.get(address, ())]
        members = [lifetime.begin for lifetime in self.all] + frees
        self.bits = {step: 1 << i for i, step in enumerate(members)}
        self.before = order.before(members)
        self.after = order.after(members)
        for address, lifetimes in begins.items():
            for step in ends.get(address, ()):
                self._end(lifetimes, step)
        self.matched = {step for lifetime in self.all for step in lifetime.ends}

    def _end(self, lifetimes: list[Lifetime], step: int) -> None:
        """End the last lifetime that begins before the free node at `step`."""
        earlier = [lifetime for lifetime in lifetimes if self._is_before(lifetime.begin, step)]
        if earlier:
            max(earlier, key=lambda lifetime: lifetime.begin).ends.append(step)

    def _is_before(self, member: int, step: int) -> bool:
        return bool(self.before[step] & self.bits[member])

    def misuses(self, step: int, span: Span) -> Iterator[tuple[Lifetime, bool]]:
        """Yield (lifetime, whether it has ended) for lifetimes that an access is surely outside of.

        Yields nothing for an access that may be inside of a lifetime. An access without an order to the beginning or
        the end of a lifetime may be inside; the check of order reports it.
        """
        for i in range(max(bisect_right(self.starts, span.start) - 1, 0), len(self.clusters)):
            if self.starts[i] >= span.end:
                break
            met = [lifetime for lifetime in self.clusters[i] if lifetime.span.meets(span)]
            over = [lifetime for lifetime in met if any(self._is_before(end, step) for end in lifetime.ends)]
            to_come = [lifetime for lifetime in met if self.after[step] & self.bits[lifetime.begin]]
            if met and len(over) + len(to_come) == len(met):
                yield (over[-1], True) if over else (to_come[0], False)
