# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""`GraphDef.memory`: how much memory the alloc nodes and temporaries of a definition take, and how little would do.

The driver gives a new alloc node the address of an older one if the free node of the older one comes before it (CUDA
Programming Guide, "Graph Memory Nodes", address reuse). So the bytes that a launch needs depend on the places of the
free nodes. An allocation is *in use* from its first access to its last one. Two allocations could share memory if all
accesses of one come before all accesses of the other. The allocations that may be in use at the same time are an
antichain of this order. The heaviest antichain is the least memory that suffices. By the theorem of Dilworth, with
weights, it is the sum of all sizes less the most bytes that allocations can pass on to later ones: a maximum flow.

Temporaries, and arrays of alloc nodes whose address was never read, are allocations too: they have the places of their
plan (sharing.py) instead of addresses of the driver. An array whose address was read has memory of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import pairwise
from operator import methodcaller, or_
from typing import TYPE_CHECKING, Any

from cuda_graphs.graph.nodes.node_kinds import AllocNode, FreeNode
from cuda_graphs.graph.operands.spans import Span

from .accesses import all_accesses, own_accesses
from .order import Access, CyclicError, Order, SpanIndex, bits_of
from .sharing import SharingPlan, find_uses, plan_sharing, wholly_after

if TYPE_CHECKING:
    from cuda_graphs.graph.nodes.node import GraphNode
    from cuda_graphs.graph.nodes.protocols import Definition
    from cuda_graphs.graph.operands.parameter import Temporary

__all__ = ["AllocatedMemory", "MemoryUse", "heaviest_antichain", "memory_use"]


@dataclass(frozen=True)
class AllocatedMemory:
    """The memory of one alloc node or Temporary.

    node    the alloc node, or the Temporary
    size    bytes
    users   the nodes that may access it, without its alloc and free nodes, in an order in which they may run
    shares  the alloc nodes and Temporaries that have some of the same bytes
    """

    node: AllocNode | Temporary
    size: int
    users: tuple[GraphNode, ...]
    shares: tuple[AllocNode | Temporary, ...]

    def __str__(self) -> str:
        used = f"from {self.users[0].name} to {self.users[-1].name}" if self.users else "by no node"
        shared = f", shares with {', '.join(each.name for each in self.shares)}" if self.shares else ""
        return f"{self.node.name}: {self.size} bytes, used {used}{shared}"


@dataclass(frozen=True)
class MemoryUse:
    """The memory of the alloc nodes and temporaries of a definition. str() gives a line for each of them.

    peak    bytes of all addresses that the driver gave to alloc nodes, and those that an executable has for temporaries
            and for arrays of alloc nodes
    least   bytes that may be in use at the same time: no plan needs less
    arrays  an AllocatedMemory for each alloc node, in an order in which they may run, and for each Temporary with
            users, in the order of the first ones
    """

    peak: int
    least: int
    arrays: tuple[AllocatedMemory, ...]

    def __str__(self) -> str:
        return "\n".join(
            [f"peak {self.peak} bytes, at least {self.least} in use at once", *map(str, self.arrays)]
        )


def memory_use(graph: Definition) -> MemoryUse:
    """Return the MemoryUse of a definition. Raises ValueError if its nodes depend on one another in a circle."""
    nodes, edges = graph._listed_with_data()
    ordered = [(source, target) for source, target, (port, _, kind) in edges if port == 0 or kind != 0]
    try:
        order = Order(sorted(nodes, key=methodcaller("_raw")), ordered)
    except CyclicError as error:
        raise ValueError(
            f"{len(error.nodes)} nodes depend on one another in a circle, so no order tells when memory is in use: "
            "remove an edge between them; check() names them"
        ) from None
    lives = list_lives(order)
    find_users(order, lives)
    plans = plan_sharing(graph)
    alloc_nodes = lives[:]
    if plans:
        lives += temporary_lives(order)
    used = [life for life in lives if life.users]
    shares = sharing_of(alloc_nodes, plans)
    arrays = tuple(
        AllocatedMemory(
            life.node, life.span.run, tuple(order.nodes[step] for step in life.users), shares[life.node]
        )
        for life in lives
    )
    least = heaviest_antichain([life.span.run for life in used], passing(order, used))
    peak = sum(plan.size for plan in plans) + bytes_outside(alloc_nodes, plans)
    return MemoryUse(peak, least, arrays)


def sharing_of(
    lives: Sequence[Life], plans: Sequence[SharingPlan]
) -> Mapping[AllocNode | Temporary, tuple[AllocNode | Temporary, ...]]:
    """Return, for each alloc node and temporary, those that have some of the same bytes."""
    index = index_of(lives)
    found: dict[AllocNode | Temporary, tuple[AllocNode | Temporary, ...]] = {
        life.node: tuple(
            lives[i].node for i in bits_of(touched(lives, index, life.span)) if lives[i] is not life
        )
        for life in lives
    }
    for plan in plans:
        for number, array in enumerate(plan.arrays):
            found[array] = tuple(plan.sharing(number))
    return found


def bytes_outside(lives: Sequence[Life], plans: Sequence[SharingPlan]) -> int:
    """Return the bytes of alloc nodes that no plan covers: of the driver's addresses, and of arrays of their own."""
    planned = {array for plan in plans for array in plan.arrays}
    return covered(
        life.span
        for life in lives
        if life.node not in planned and (life.users or life.node._place() != "shared" or life.end is None)
    )


@dataclass(eq=False)
class Life:
    """One allocation. `end` is the step of its free node; None if it outlives the launch. `users` are steps."""

    node: Any  # AllocNode | Temporary
    span: Span  # of a temporary: its size only
    begin: int
    end: int | None = None
    users: list[int] = field(default_factory=list)


def list_lives(order: Order) -> list[Life]:
    """Return the allocations, with their ends: a free node ends the last allocation of its address before it."""
    lives = [
        Life(node, Span(node._address, node.bytesize), step)
        for step, node in enumerate(order.nodes)
        if isinstance(node, AllocNode)
    ]
    before = order.before([life.begin for life in lives]) if lives else []
    numbers: dict[int, list[int]] = {}
    for i, life in enumerate(lives):
        numbers.setdefault(life.span.start, []).append(i)
    for step, node in enumerate(order.nodes):
        if isinstance(node, FreeNode):
            earlier = [i for i in numbers.get(node._address, ()) if before[step] >> i & 1]
            if earlier:
                lives[earlier[-1]].end = step
    return lives


def temporary_lives(order: Order) -> list[Life]:
    """Return the temporaries as allocations that end with their last users."""
    return [
        Life(use.array, Span(0, use.array.bytesize), use.steps[0], use.steps[-1], list(use.steps))
        for use in find_uses(order)
    ]


def find_users(order: Order, lives: Sequence[Life]) -> None:
    """Fill the users of each allocation. A node whose accesses are not known at all may access everything."""
    if not lives:
        return
    begun = order.before([life.begin for life in lives])
    ended = order.before([life.begin if life.end is None else life.end for life in lives])
    endless = sum(1 << i for i, life in enumerate(lives) if life.end is None)
    index = index_of(lives)
    for step, node in enumerate(order.nodes):
        if isinstance(node, AllocNode | FreeNode):
            continue
        accessed = [
            each.span
            for each in all_accesses(node)
            if each.what == "memory" and isinstance(each.span.start, int)
        ]
        alive = begun[step] & (~ended[step] | endless)
        if not may_access_anything(node):
            alive &= reduce(or_, (touched(lives, index, span) for span in accessed), 0)
        for i in bits_of(alive):
            lives[i].users.append(step)


def index_of(lives: Sequence[Life]) -> SpanIndex:
    return SpanIndex([Access(life.begin, life.span, True, life) for life in lives])


def touched(lives: Sequence[Life], index: SpanIndex, span: Span) -> int:
    """Return the allocations of which a span has a byte, as bits."""
    near = index.overlapping(span.start, span.end, writes=True)
    return sum(1 << i for i in bits_of(near) if lives[i].span.meets(span))


def may_access_anything(node: GraphNode) -> bool:
    """Return whether a node, or one in a graph inside it, has unknown accesses besides those that it lists."""
    nodes = [node]
    for each in nodes:  # the loop appends to the list
        accesses, is_unknown = own_accesses(each)
        if is_unknown and not accesses:
            return True
        for graph in each._inner_graphs():
            nodes += graph._listed()[0]
    return False


def passing(order: Order, lives: Sequence[Life]) -> list[int]:
    """Return, for each allocation, those that could get its memory, as bits: all of its users come before theirs."""
    after = wholly_after(order, [life.users for life in lives])
    return [later if life.end is not None else 0 for life, later in zip(lives, after, strict=True)]


def covered(spans: Iterable[Span]) -> int:
    """Return the number of bytes in any of the spans."""
    total = end = 0
    for span in sorted(spans, key=lambda each: each.start):
        total += max(0, span.end - max(span.start, end))
        end = max(end, span.end)
    return total


def heaviest_antichain(weights: Sequence[int], after: Sequence[int]) -> int:
    """Return the largest sum of weights of elements of which none comes before another.

    `after`: for each element, all elements that come after it, as bits. The relation is transitive.
    """
    left = list(weights)  # what each element can still pass on
    room = list(weights)  # what each element can still take over
    flow: list[dict[int, int]] = [{} for _ in weights]  # flow[j][i]: what j takes over from i
    passed, vacant = 0, sum(1 << i for i, size in enumerate(room) if size)
    for source in range(len(weights)):
        while left[source] and (path := find_path(source, after, flow, vacant)):
            passed += push(path, left, room, flow)
            _, taker = path[-1]
            if room[taker] == 0:
                vacant &= ~(1 << taker)
    return sum(weights) - passed


def find_path(
    source: int, after: Sequence[int], flow: Sequence[dict[int, int]], vacant: int
) -> list[tuple[int, int]]:
    """Return the steps (giver, taker) of a path to a vacant taker, or []. Givers after the first take flow back."""
    came: dict[int, tuple[int, int]] = {}  # taker -> the giver, and the taker before it
    givers = [(source, -1)]
    seen = {source}
    unseen = -1
    for giver, before in givers:  # the loop appends to the list
        takers = after[giver] & unseen
        unseen &= ~takers
        for taker in bits_of(takers & vacant or takers):
            came[taker] = giver, before
            if vacant >> taker & 1:
                return path_to(taker, came)
            for other, amount in flow[taker].items():
                if amount and other not in seen:
                    seen.add(other)
                    givers.append((other, taker))
    return []


def path_to(taker: int, came: dict[int, tuple[int, int]]) -> list[tuple[int, int]]:
    path = []
    while taker != -1:
        giver, before = came[taker]
        path.append((giver, taker))
        taker = before
    return path[::-1]


def push(
    path: Sequence[tuple[int, int]], left: list[int], room: list[int], flow: list[dict[int, int]]
) -> int:
    """Send as much as possible along a path. Return the amount."""
    returned = [flow[taker][giver] for (_, taker), (giver, _) in pairwise(path)]
    amount = min(left[path[0][0]], room[path[-1][1]], *returned)
    left[path[0][0]] -= amount
    room[path[-1][1]] -= amount
    for giver, taker in path:
        flow[taker][giver] = flow[taker].get(giver, 0) + amount
    for (_, taker), (giver, _) in pairwise(path):
        flow[taker][giver] -= amount
    return amount
