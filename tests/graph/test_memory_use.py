# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Laws of `GraphDef.memory`: `least` is the largest sum of sizes that may be in use at once, `peak` all addresses.

The independent truth searches the edges anew for each pair of nodes, and tries all sets of allocations.
"""

import itertools
import random

import pytest

import cuda_graphs as cg
from cuda_graphs.graph.analysis.memory_use import heaviest_antichain

KIB = 1024
pytestmark = pytest.mark.usefixtures("device")


def reaches(edges, start, end):
    waiting, seen = [start], set()
    while waiting:
        node = waiting.pop()
        if node == end:
            return True
        if node not in seen:
            seen.add(node)
            waiting += [target for source, target in edges if source == node]
    return False


def is_later(edges, first, second):
    """Return whether all of `first` come before all of `second`."""
    return all(a != b and reaches(edges, a, b) for a in first for b in second)


def heaviest(sizes, may_overlap):
    """Return the largest sum of sizes of a set whose members may all be in use at once."""
    best = 0
    for count in range(len(sizes) + 1):
        for each in itertools.combinations(range(len(sizes)), count):
            if all(may_overlap(a, b) for a, b in itertools.combinations(each, 2)):
                best = max(best, sum(sizes[i] for i in each))
    return best


@pytest.mark.parametrize("seed", range(40))
def test_the_heaviest_antichain_is_that_of_a_search(seed):
    source = random.Random(seed)
    count = source.randint(1, 9)
    below = {(a, b) for a in range(count) for b in range(a + 1, count) if source.random() < 0.35}
    order = {(a, b) for a, b in itertools.permutations(range(count), 2) if reaches(below, a, b)}
    weights = [source.randint(1, 9) for _ in range(count)]
    after = [sum(1 << b for b in range(count) if (a, b) in order) for a in range(count)]
    expected = heaviest(weights, lambda a, b: (a, b) not in order and (b, a) not in order)
    assert heaviest_antichain(weights, after) == expected


def random_definition(source):
    """Return a definition, its allocations in order, and the nodes that fill each of them."""
    g = cg.GraphDef()
    allocs = [g.alloc(source.randint(1, 6) * KIB, name=f"m{i}") for i in range(source.randint(1, 6))]
    start = g.join(*allocs)
    fills = {node: [] for node in allocs}
    places = [start]
    for _ in range(source.randint(2, 9)):
        memory = source.choice(allocs)
        before = source.sample(places, min(len(places), source.randint(1, 2)))
        node = (before[0].join(*before[1:]) if before[1:] else before[0]).memset(memory, 0, KIB)
        fills[memory].append(node)
        places.append(node)
    last = places[0].join(*places[1:])
    for memory in allocs:
        if source.random() < 0.8:
            last = last.free(memory)
    return g, allocs, fills


@pytest.mark.parametrize("seed", range(25))
def test_least_is_the_largest_sum_in_use_at_once(seed):
    g, allocs, fills = random_definition(random.Random(seed))
    edges = g.edges()
    freed = {node.dptr for node in g.nodes() if isinstance(node, cg.FreeNode)}
    used = [node for node in allocs if fills[node]]

    def may_overlap(a, b):
        a, b = used[a], used[b]
        return not any(x.dptr in freed and is_later(edges, fills[x], fills[y]) for x, y in ((a, b), (b, a)))

    found = g.memory
    assert found.least == heaviest([node.bytesize for node in used], may_overlap)
    assert {each.node: set(each.users) for each in found.arrays} == {
        node: set(fills[node]) for node in allocs
    }
    assert found.least <= found.peak <= sum(node.bytesize for node in allocs)


def test_peak_counts_shared_addresses_once():
    g = cg.GraphDef()
    first = g.alloc(64 * KIB, name="first")
    filled = first.memset(first, 0, 64 * KIB)
    second = filled.free(first).alloc(64 * KIB, name="second")
    second.memset(second, 1, 64 * KIB).free(second)
    found = g.memory
    addresses = {*range(first.dptr, first.dptr + 64 * KIB), *range(second.dptr, second.dptr + 64 * KIB)}
    assert (found.peak, found.least) == (len(addresses), 64 * KIB)
    shares = first.dptr == second.dptr
    assert [each.shares for each in found.arrays] == ([(second,), (first,)] if shares else [(), ()])
    assert [len(each.users) for each in found.arrays] == [1, 1]


def test_a_late_free_shows_as_peak_above_least():
    g = cg.GraphDef()
    a = g.alloc(64 * KIB, name="a")
    b = a.memset(a, 0, 64 * KIB).alloc(64 * KIB, name="b")
    b.memset(b, 0, 64 * KIB).free(a).free(b)
    found = g.memory
    assert (found.peak, found.least) == (128 * KIB, 64 * KIB)
    assert "a: 65536 bytes, used from memset to memset" in str(found)
    assert str(found).startswith("peak 131072 bytes, at least 65536 in use at once")


def test_branches_that_may_overlap_are_in_use_at_once():
    g = cg.GraphDef()
    a, b = g.alloc(4 * KIB), g.alloc(4 * KIB)
    left, right = a.memset(a, 0, 4 * KIB), b.memset(b, 0, 4 * KIB)
    left.join(right).free(a).free(b)
    assert g.memory.least == 8 * KIB


def test_memory_without_a_free_node_is_in_use_to_the_end():
    g = cg.GraphDef()
    a = g.alloc(4 * KIB)
    b = a.memset(a, 0, 4 * KIB).alloc(4 * KIB)
    b.memset(b, 0, 4 * KIB)
    assert g.memory.least == 8 * KIB


def test_callbacks_without_declaration_may_use_everything():
    g = cg.GraphDef()
    a, b = g.alloc(4 * KIB), g.alloc(4 * KIB)
    g.join(a, b).callback(int).free(a).free(b)
    assert g.memory.least == 8 * KIB
    assert all(len(each.users) == 1 for each in g.memory.arrays)


def test_bodies_use_memory_at_the_place_of_their_node():
    g = cg.GraphDef()
    a = g.alloc(shape=KIB, dtype=cg.f32)
    loop = a.while_loop(g.create_condition(1))
    loop.body.memset(a, 0)
    loop.free(a)
    (found,) = g.memory.arrays
    assert found.users == (loop,)


def test_a_definition_without_alloc_nodes_needs_nothing():
    assert cg.GraphDef().memory == cg.MemoryUse(0, 0, ())
