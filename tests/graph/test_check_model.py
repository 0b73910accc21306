# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: in a random definition, with bodies and embedded graphs, `check` finds the same pairs of nodes as brute force
over all pairs, by the transitive closure of each graph and the sets of bytes. It finds the empty bodies, and the loops
whose condition nobody sets: all of them, since these plans set none.
"""

from dataclasses import dataclass, field
from itertools import combinations, product
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import cuda_graphs as cg
from tests.graph_rig import ONE

MEMORY = 64


@pytest.fixture
def memory(device, stream):
    """The address of MEMORY bytes of the device."""
    buffer = cg.DeviceMemoryResource(device).allocate(MEMORY, stream=stream)
    yield int(buffer.handle)
    buffer.close()


@dataclass
class Plan:
    """A node to be made: what it touches, as (offsets of bytes, does it write), or the plans of graphs inside it."""

    make: Any
    touches: list[tuple[frozenset[int], bool]] = field(default_factory=list)
    inner: list["GraphPlan"] = field(default_factory=list)
    kind: str = ""


@dataclass
class GraphPlan:
    nodes: list[Plan]
    edges: list[tuple[int, int]]


def interval(start, size):
    return frozenset(range(start, start + size))


@st.composite
def leaves(draw):
    start, size = draw(st.integers(0, MEMORY - 8)), draw(st.integers(1, 8))
    kind = draw(st.sampled_from(["fill", "rows", "copy", "kernel", "join"]))
    if kind == "fill":
        return Plan(lambda p, base, k: p.memset(base + start, 0, size), [(interval(start, size), True)])
    if kind == "rows":
        width, rows, pitch = draw(st.integers(1, 4)), draw(st.integers(2, 4)), draw(st.integers(4, 12))
        start = draw(st.integers(0, MEMORY - (rows - 1) * pitch - width))
        touched = frozenset(start + r * pitch + b for r in range(rows) for b in range(width))
        return Plan(lambda p, base, k: p.memset(base + start, 0, width, rows, pitch), [(touched, True)])
    other = draw(st.integers(0, MEMORY - 8))
    if kind == "copy":
        touches = [(interval(start, size), True), (interval(other, size), False)]
        return Plan(lambda p, base, k: p.memcpy(base + start, base + other, size), touches)
    if kind == "kernel":
        touches = [(interval(start, size), True), (interval(other, size), False)]
        writes = draw(st.booleans())
        return Plan(
            lambda p, base, k: p.launch(
                ONE, k.nothing, reads=[(base + other, size)], writes=[(base + start, size)] if writes else []
            ),
            touches if writes else touches[1:],
        )
    return Plan(lambda p, base, k: p.join())


HOLDERS = {"if": 1, "if_else": 2, "while": 1, "switch": 3}


@st.composite
def graph_plans(draw, depth=2, embedded=False):
    plans = []
    for _ in range(draw(st.integers(0, 5))):
        kind = (
            draw(st.sampled_from(["leaf"] * 4 + (["child"] if embedded else ["child", *HOLDERS])))
            if depth
            else "leaf"
        )
        if kind == "leaf":
            plans.append(draw(leaves()))
        else:
            inside = embedded or kind == "child"  # a child holds no conditional nodes
            count = HOLDERS.get(kind, 1)
            inner = [draw(graph_plans(depth=depth - 1, embedded=inside)) for _ in range(count)]
            plans.append(Plan(None, inner=inner, kind=kind))
    pairs = list(combinations(range(len(plans)), 2))
    edges = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    return GraphPlan(plans, edges)


MAKE_HOLDER = {
    "if": lambda p, c: p.if_then(c),
    "if_else": lambda p, c: p.if_else(c),
    "while": lambda p, c: p.while_loop(c),
    "switch": lambda p, c: p.switch(c, 3),
}


class Builder:
    """Makes the graph of a plan; `places` are its leaves, each with the way to it: (graph plan, node, branch), ..."""

    def __init__(self, base, kernels):
        self.base, self.kernels = base, kernels
        self.conditions = 0

    def build(self, plan, graph, root):
        nodes = []
        for number, each in enumerate(plan.nodes):
            if each.kind == "":
                node = each.make(graph, self.base, self.kernels)
            elif each.kind == "child":
                child = cg.GraphDef()
                self.build(each.inner[0], child, child)
                node = graph.embed(child)
            else:
                node = MAKE_HOLDER[each.kind](graph, root.create_condition(0))
                for body, inner in zip(node.branches, each.inner, strict=True):
                    self.build(inner, body, root)
            node.name = str(number)
            nodes.append(node)
        for a, b in plan.edges:
            nodes[a].succ.add(nodes[b])


def leaves_of(plan, way=()):
    """(way, plan) of all nodes that touch something themselves."""
    for number, each in enumerate(plan.nodes):
        if each.touches:
            yield (*way, (plan, number)), each
        for branch, inner in enumerate(each.inner):
            yield from leaves_of(inner, (*way, (plan, number, branch)))


def unfinished(plan, way=()):
    """(kind of finding, way) of the conditional nodes that are not finished."""
    for number, each in enumerate(plan.nodes):
        here = (*way, (plan, number))
        empty = [not inner.nodes for inner in each.inner]
        if each.kind in HOLDERS and (all(empty) or (any(empty) and each.kind != "switch")):
            yield "empty_body", here
        if each.kind == "while":
            yield "unset_loop", here
        for branch, inner in enumerate(each.inner):
            yield from unfinished(inner, (*way, (plan, number, branch)))


def path_exists(plan, a, b):
    n = len(plan.nodes)
    reach = [[(i, j) in plan.edges for j in range(n)] for i in range(n)]
    for k, i, j in product(range(n), repeat=3):
        reach[i][j] |= reach[i][k] and reach[k][j]
    return reach[a][b] or reach[b][a]


def may_run_together(way_a, way_b):
    for a, b in zip(way_a, way_b, strict=False):
        if a[1] != b[1]:
            return not path_exists(a[0], a[1], b[1])
        if a != b:
            return False  # two branches of one node
    return False


def conflict(one, other):
    return any(
        (writes_a or writes_b) and bytes_a & bytes_b
        for (bytes_a, writes_a), (bytes_b, writes_b) in product(one.touches, other.touches)
    )


def numbers(way):
    return tuple(step[1:] if len(step) > 2 else (step[1],) for step in way)


def way_of(node, root):
    """The same from the made node: by the names, which are numbers, and the places of graphs in their holders."""
    steps = [(int(node.name),)]
    graph = node.graph
    while graph != root:
        holder, branch = HOLDER_OF[graph]
        steps.append((int(holder.name), branch))
        graph = holder.graph
    return tuple(reversed(steps))


HOLDER_OF = {}


def note_holders(graph):
    for node in graph.nodes():
        if isinstance(node, cg.ConditionalNode):
            inner = node.branches
        else:
            inner = (node.child_graph,) if isinstance(node, cg.ChildGraphNode) else ()
        for branch, each in enumerate(inner):
            HOLDER_OF[each] = (node, branch)
            note_holders(each)


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(plan=graph_plans())
def test_check_finds_what_a_brute_force_finds(plan, memory, kernels):
    graph = cg.GraphDef()
    Builder(memory, kernels).build(plan, graph, graph)
    expected = {
        ("unordered", frozenset((numbers(a), numbers(b))))
        for (a, plan_a), (b, plan_b) in combinations(leaves_of(plan), 2)
        if may_run_together(a, b) and conflict(plan_a, plan_b)
    }
    expected |= {(kind, frozenset([numbers(way)])) for kind, way in unfinished(plan)}
    note_holders(graph)
    try:
        report = graph.check(limit=10_000)
        found = [(f.kind, frozenset(way_of(node, graph) for node in f.nodes)) for f in report]
    finally:
        HOLDER_OF.clear()
    assert set(found) == expected
    assert len(found) == len(expected)
