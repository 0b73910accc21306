# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Which nodes may access the arrays of alloc nodes that have no address yet.

An array has one if its address was read (nodes/places.pyx), and it then has memory of its own. An array without a free
node gets memory of its own too: other graphs and the host may read it after the launch. All others can share memory.

The nodes that are given an array access it, and kernels that declare it. A kernel of `cuda_graphs.kernel` does not keep
addresses. Another kernel may keep an address in memory, for a later kernel that follows it there. Every node from the
alloc node to the free node may then access the array. A kernel with declared accesses keeps no address of what it
declares.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from cuda_graphs.graph.nodes.node_kinds import AllocNode, FreeNode, KernelNode

from .accesses import POSSIBLE, NodeAccess, own_accesses

if TYPE_CHECKING:
    from cuda_graphs.graph.nodes.node import GraphNode

    from .order import Order

__all__ = ["find_place_users", "with_inner"]


def with_inner(node: GraphNode) -> Iterator[GraphNode]:
    """Yield a node and all nodes of the graphs inside it."""
    nodes = [node]
    for each in nodes:  # the loop appends to the list
        yield each
        for graph in each._inner_graphs():
            nodes += graph._listed()[0]


def find_place_users(order: Order) -> dict[AllocNode, list[int]]:
    """Return the alloc nodes whose memory can be shared, with the steps of their users in ascending order."""
    ends: dict[int, list[int]] = {}
    for step, node in enumerate(order.nodes):
        if isinstance(node, FreeNode):
            ends.setdefault(node._address, []).append(step)
    shared = [
        node
        for node in order.nodes
        if isinstance(node, AllocNode) and node._place() == "shared" and node._address in ends
    ]
    if not shared:
        return {}
    arrays = Arrays(shared)
    users: dict[AllocNode, set[int]] = {node: set() for node in shared}
    kept: set[AllocNode] = set()
    for step, node in enumerate(order.nodes):
        if isinstance(node, AllocNode | FreeNode):
            continue
        for user in with_inner(node):
            used = given = arrays.given_to(user)
            if isinstance(user, KernelNode) and user._call() is None:
                accesses, is_unknown = own_accesses(user)
                known = arrays.accessed(each for each in accesses if each.mode not in POSSIBLE)
                kept |= given if is_unknown else given - known
                used = given | known
            for array in used:
                users[array].add(step)
    for array in kept:
        users[array] |= {order.steps[array], *ends[array._address]}
    return {array: sorted(steps) for array, steps in users.items()}


class Arrays:
    """The arrays of alloc nodes, by the addresses of their stand-ins."""

    def __init__(self, nodes: list[AllocNode]) -> None:
        self.by_address = {node._address: node for node in nodes}
        self.starts = sorted(self.by_address)

    def given_to(self, node: GraphNode) -> set[AllocNode]:
        """Return the arrays whose address the node is given."""
        return {self.by_address[start] for start in node._places() if start in self.by_address}

    def accessed(self, accesses: Iterable[NodeAccess]) -> set[AllocNode]:
        """Return the arrays of which accesses touch a byte. A span is inside of one array."""
        found = set()
        for each in accesses:
            if each.what == "memory" and isinstance(each.span.start, int) and each.span.start >= FIRST:
                at = bisect_right(self.starts, each.span.start) - 1
                array = self.by_address[self.starts[at]] if at >= 0 else None
                if array is not None and each.span.start < array._address + array.bytesize:
                    found.add(array)
        return found


FIRST = 1 << 63  # the first address of a stand-in (core/graphs/graph_memory.hpp)
