# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: nodes run in the order of the edges, also where that order goes through bodies, children and other streams.

Each node maps x to a*x + b with numbers of its own, which do not commute: the result is a fingerprint of the order.
"""

import itertools
import random

import pytest

import cuda_graphs as cg
from tests.graph_rig import ONE

MASK = 2**32


class Steps:
    """Adds affine nodes with ever new numbers, and does the same on a Python int."""

    def __init__(self, kernels, x):
        self.kernel, self.x = kernels.affine, x
        self.numbers = ((2 * n + 3, n * n + 1) for n in itertools.count())
        self.value = int(x[0])

    def add(self, place, apply=True):
        a, b = next(self.numbers)
        if apply:
            self.value = (self.value * a + b) % MASK
        return place.launch(ONE, self.kernel, self.x.ctypes.data, a, b)


@pytest.fixture
def steps(kernels, pinned):
    return Steps(kernels, pinned([12345], "u4"))


@pytest.mark.parametrize("length", [1, 2, 10, 300])
def test_a_chain_runs_in_order(length, steps, run):
    g = cg.GraphDef()
    node = g._entry
    for _ in range(length):
        node = steps.add(node)
    run(g)
    assert steps.x[0] == steps.value


@pytest.mark.parametrize("seed", range(8))
def test_any_order_of_making_gives_the_order_of_the_edges(seed, kernels, pinned, run):
    x = pinned([1], "u4")
    numbers = [(2 * i + 3, i) for i in range(40)]
    order = list(range(40))
    random.Random(seed).shuffle(order)
    g = cg.GraphDef()
    made = {i: g.launch(ONE, kernels.affine, x.ctypes.data, *numbers[i]) for i in order}
    for i, j in itertools.pairwise(range(40)):
        made[i].succ.add(made[j])
    run(g)
    expected = 1
    for a, b in numbers:
        expected = (expected * a + b) % MASK
    assert x[0] == expected


@pytest.mark.parametrize("seed", range(4))
def test_a_random_graph_runs_every_node_after_its_predecessors(seed, kernels, pinned, run):
    rng = random.Random(seed)
    count = 60
    x = pinned([0] * count)
    seen = []
    g = cg.GraphDef()
    nodes, wanted = [], []
    for i in range(count):
        before = rng.sample(range(i), min(i, rng.randrange(4)))
        node = g.join(*[nodes[j] for j in before]).launch(ONE, kernels.add, x[i:].ctypes.data, 1, 1)
        check = node.callback(
            lambda i=i, before=before: seen.append((i, all(x[j] for j in before), int(x[i])))
        )
        nodes.append(check)
        wanted.append(i)
    run(g)
    assert sorted(i for i, _, _ in seen) == wanted
    assert all(ready and value == 1 for _, ready, value in seen)


def test_launches_of_one_graph_and_of_others_keep_the_order_of_the_stream(steps, stream):
    graphs = []
    for _ in range(20):
        g = cg.GraphDef()
        steps.add(steps.add(g))
        graphs.append(g.instantiate())
    for graph in graphs:
        graph.launch(stream)
    stream.sync()
    assert steps.x[0] == steps.value


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
def test_bodies_nest(depth, steps, kernels, run):
    """If in if in if: before, inside and after each in turn."""
    g = cg.GraphDef()

    def nest(place, level):
        node = steps.add(place)
        if level:
            node = node.if_then(g.create_condition(1))
            nest(node.then, level - 1)
        return steps.add(node)

    nest(g, depth)
    run(g)
    assert steps.x[0] == steps.value


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
def test_loops_nest(depth, kernels, pinned, run):
    """Each loop runs three times; an inner one is set anew by a kernel before every entry."""
    x, counters = pinned([0]), pinned([0] * 8)
    g = cg.GraphDef()

    def nest(place, level):
        if not level:
            return place.launch(ONE, kernels.add, x.ctypes.data, 1, 1)
        more = g.create_condition(0)
        left = counters[level:].ctypes.data
        start = place.memset(left, b"\3\0\0\0", 1).launch(ONE, kernels.set, more, 1)
        loop = start.while_loop(more)
        nest(loop.body, level - 1).launch(ONE, kernels.count_down, more, left)
        return loop

    nest(g, depth)
    run(g)
    assert x[0] == 3**depth


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
def test_children_nest(depth, steps, run):
    def nest(level):
        g = cg.GraphDef()
        node = steps.add(g)
        if level:
            node = node.embed(nest(level - 1))
        steps.add(node)
        return g

    # A child is embedded after its parent's first step was made and before the second: the order of the run.
    run(nest(depth))
    assert steps.x[0] == steps.value


def test_a_switch_in_a_loop_takes_another_branch_each_time(kernels, pinned, run):
    x, left = pinned([1], "u4"), pinned([5])
    g = cg.GraphDef()
    more, which = g.create_condition(1), g.create_condition(0)
    loop = g.while_loop(more)
    node = loop.body.launch(ONE, kernels.set_from, which, left.ctypes.data).switch(which, 5)
    for i, branch in enumerate(node.branches):
        branch.launch(ONE, kernels.affine, x.ctypes.data, 2 * i + 3, i)
    node.launch(ONE, kernels.count_down, more, left.ctypes.data)
    run(g)
    expected = 1
    for i in (4, 3, 2, 1):  # 5 is out of range
        expected = expected * (2 * i + 3) + i
    assert x[0] == expected % MASK
