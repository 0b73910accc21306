# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Order: a topological order of the nodes of one graph, and queries of which nodes come before others.

Sets are stored as the bits of Python ints. One operation on a set of a thousand members costs as much as a call. In a
set of accesses bit i is the access of column i. `check` asks for accesses that overlap and have no order:

* A walk backwards over the nodes gives, for each node, the columns that come after it by edges.
* The columns are sorted by their first byte and by their last byte. The columns that miss a span form a prefix of each
  sorted list. All other columns overlap the span.
* Two accesses have no order if they overlap and the later one in the topological order does not come after the other by
  edges.

Columns are processed in blocks, so memory stays linear in the number of nodes. The columns of a block are neighbours in
memory, so few other accesses overlap a block.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from operator import or_
from typing import Any, NamedTuple

from cuda_graphs.graph.operands.spans import Span

__all__ = ["Access", "CyclicError", "Order"]

BLOCK = 4096


class CyclicError(Exception):
    """The nodes have a cyclic dependency. `nodes` holds the nodes of the cycle and their successors."""

    def __init__(self, nodes: list[Any]) -> None:
        super().__init__(nodes)
        self.nodes = nodes


class Access(NamedTuple):
    """An access of a node, or of a node inside it, to one or more bytes. `step` is the node's topological index."""

    step: int
    span: Span
    writes: bool
    origin: Any


class Order:
    """A topological order of `nodes`. `steps[node]` is the index of a node."""

    def __init__(self, nodes: Iterable[Any], edges: Iterable[tuple[Any, Any]]) -> None:
        successors: dict[Any, list[Any]] = {node: [] for node in nodes}
        waiting = dict.fromkeys(successors, 0)
        for source, target in edges:
            successors[source].append(target)
            waiting[target] += 1
        self.nodes = [node for node, count in waiting.items() if count == 0]
        for node in self.nodes:  # the loop appends to the list
            for after in successors[node]:
                waiting[after] -= 1
                if waiting[after] == 0:
                    self.nodes.append(after)
        if len(self.nodes) < len(waiting):
            raise CyclicError([node for node, count in waiting.items() if count])
        self.steps = {node: step for step, node in enumerate(self.nodes)}
        self.successors = [[self.steps[after] for after in successors[node]] for node in self.nodes]

    def before(self, members: Sequence[int]) -> list[int]:
        """Return, for each step, the members (steps) before it or equal to it. Bit i stands for members[i]."""
        found = self._bits(members)
        for step, successors in enumerate(self.successors):
            if bits := found[step]:
                for later in successors:
                    found[later] |= bits
        return found

    def after(self, members: Sequence[int]) -> list[int]:
        """Return, for each step, the members (steps) after it or equal to it. Bit i stands for members[i]."""
        found = self._bits(members)
        for step in range(max(members), -1, -1):
            bits = found[step]
            for later in self.successors[step]:
                bits |= found[later]
            found[step] = bits
        return found

    def _bits(self, members: Sequence[int]) -> list[int]:
        found = [0] * len(self.nodes)
        for i, step in enumerate(members):
            found[step] |= 1 << i
        return found

    def unordered(self, accesses: Iterable[Access]) -> Iterator[tuple[Access, Access]]:
        """Yield pairs of unordered accesses of different nodes that share a byte, where one access writes."""
        rows = sorted(accesses, key=lambda access: access.step)
        if not rows or rows[0].step == rows[-1].step:
            return
        starts = [access.span.start for access in rows]
        ends = [access.span.end for access in rows]
        by_address = sorted(range(len(rows)), key=starts.__getitem__)
        for first in range(0, len(rows), BLOCK):
            columns = sorted(by_address[first : first + BLOCK])
            index = SpanIndex([rows[i] for i in columns])
            after = self.after([rows[i].step for i in columns])
            for row in range(columns[-1]):
                if ends[row] <= index.first or starts[row] >= index.last:
                    continue
                access = rows[row]
                found = index.overlapping(starts[row], ends[row], access.writes) & ~after[access.step]
                found &= -1 << bisect_right(columns, row)  # earlier columns found this pair already
                while found:
                    bit = found & -found
                    found ^= bit
                    other = rows[columns[bit.bit_length() - 1]]
                    if access.span.meets(other.span):
                        yield access, other


class SpanIndex:
    """Finds the accesses of a block that lie neither wholly before a span nor wholly after it."""

    def __init__(self, block: Sequence[Access]) -> None:
        by_end = sorted(range(len(block)), key=lambda i: block[i].span.end)
        by_start = sorted(range(len(block)), key=lambda i: -block[i].span.start)
        self.ends = [block[i].span.end for i in by_end]
        self.starts = [block[i].span.start for i in reversed(by_start)]
        self.first, self.last = min(self.starts, default=0), max(self.ends, default=0)
        self.ended = prefixes(by_end)
        self.not_begun = prefixes(by_start)
        self.all = (1 << len(block)) - 1
        self.writers = sum(1 << i for i, access in enumerate(block) if access.writes)

    def overlapping(self, start: int, end: int, writes: bool) -> int:
        ended = self.ended[bisect_right(self.ends, start)]
        not_begun = self.not_begun[len(self.starts) - bisect_left(self.starts, end)]
        return (self.all if writes else self.writers) & ~(ended | not_begun)


def bits_of(mask: int) -> Iterator[int]:
    """Yield the numbers of the bits of a set, in ascending order."""
    while mask:
        yield (mask & -mask).bit_length() - 1
        mask &= mask - 1


def prefixes(order: Iterable[int]) -> list[int]:
    """Return the set of the first k members of `order`, for every k from 0."""
    return list(accumulate((1 << i for i in order), or_, initial=0))
