# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: Order gives the answers of the transitive closure about nodes, accesses and the lifetimes of allocations, for
any number of blocks."""

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cuda_graphs.graph.analysis import liveness, order
from cuda_graphs.graph.analysis.liveness import find_lifetimes
from cuda_graphs.graph.analysis.order import Access, CyclicError, Order
from cuda_graphs.graph.operands.spans import Span

FEW = settings(max_examples=60, deadline=None)  # no clocks: the machine may be busy


@pytest.fixture(params=[1, 3, 4096], autouse=True, scope="module")
def block(request):
    patch = pytest.MonkeyPatch()
    patch.setattr(order, "BLOCK", request.param)
    patch.setattr(liveness, "BLOCK", request.param)
    yield
    patch.undo()


@st.composite
def graphs(draw, most=9):
    """(number of nodes, edges), without circles; the numbers of the nodes are in no order."""
    n = draw(st.integers(1, most))
    names = draw(st.permutations(range(n)))
    pairs = [(names[i], names[j]) for i in range(n) for j in range(i + 1, n)]
    return n, (draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else [])


def closure(n, edges):
    """reach[a][b]: there is a path of one edge or more."""
    reach = [[(a, b) in edges for b in range(n)] for a in range(n)]
    for k, a, b in product(range(n), repeat=3):
        reach[a][b] |= reach[a][k] and reach[k][b]
    return reach


@FEW
@given(graphs())
def test_an_order_is_topological(graph):
    n, edges = graph
    steps = Order(range(n), edges).steps
    assert sorted(steps.values()) == list(range(n))
    assert all(steps[a] < steps[b] for a, b in edges)


@FEW
@given(graphs(), st.data())
def test_predecessors_and_successors_are_those_of_the_closure(graph, data):
    n, edges = graph
    reach = closure(n, edges)
    o = Order(range(n), edges)
    members = data.draw(st.lists(st.integers(0, n - 1), min_size=1, unique=True))
    before, after = (f([o.steps[m] for m in members]) for f in (o.before, o.after))
    for node in range(n):
        got = {m for i, m in enumerate(members) if before[o.steps[node]] >> i & 1}
        assert got == {m for m in members if m == node or reach[m][node]}
        got = {m for i, m in enumerate(members) if after[o.steps[node]] >> i & 1}
        assert got == {m for m in members if m == node or reach[node][m]}


@FEW
@given(graphs(), st.data())
def test_unordered_are_pairs_that_share_a_byte_with_a_write_and_without_a_path(graph, data):
    n, edges = graph
    reach = closure(n, edges)
    o = Order(range(n), edges)
    spans = st.builds(Span.of, st.integers(0, 20), st.integers(1, 6))
    given = data.draw(st.lists(st.tuples(st.integers(0, n - 1), spans, st.booleans()), max_size=14))
    accesses = [Access(o.steps[node], span, writes, i) for i, (node, span, writes) in enumerate(given)]
    expected = {
        frozenset((i, j))
        for j, (b, span_b, writes_b) in enumerate(given)
        for i, (a, span_a, writes_a) in enumerate(given[:j])
        if a != b and not reach[a][b] and not reach[b][a] and (writes_a or writes_b) and span_a.meets(span_b)
    }
    found = [frozenset((a.origin, b.origin)) for a, b in o.unordered(accesses)]
    assert set(found) == expected
    assert len(found) == len(expected)


@FEW
@given(graphs(), st.data())
def test_a_circle_is_found_with_its_nodes(graph, data):
    n, edges = graph
    reach = closure(n, edges)
    paths = [(b, a) for a in range(n) for b in range(n) if reach[a][b]]
    if not paths:
        return
    back = data.draw(st.sampled_from(paths))
    with pytest.raises(CyclicError) as caught:
        Order(range(n), [*edges, back])
    reach = closure(n, [*edges, back])
    assert {node for node in range(n) if reach[node][node]} <= set(caught.value.nodes)


@FEW
@given(graphs(), st.data())
def test_access_is_a_misuse_outside_of_every_lifetime_of_its_bytes(graph, data):
    n, edges = graph
    reach = closure(n, edges)
    o = Order(range(n), edges)
    # Nodes are alloc nodes, free nodes or others; addresses are few, so that they are used again.
    roles = data.draw(st.lists(st.sampled_from(["alloc", "free", "access"]), min_size=n, max_size=n))
    addresses = data.draw(st.lists(st.sampled_from([0, 8, 12]), min_size=n, max_size=n))
    sizes = data.draw(st.lists(st.sampled_from([4, 8, 20]), min_size=n, max_size=n))
    spans = [Span(address, size) for address, size in zip(addresses, sizes)]
    allocs = [a for a in range(n) if roles[a] == "alloc"]
    ends = {a: [] for a in allocs}
    for free in (f for f in range(n) if roles[f] == "free"):
        earlier = [a for a in allocs if addresses[a] == addresses[free] and reach[a][free]]
        if earlier:
            ends[max(earlier, key=o.steps.get)].append(free)
    blocks = list(
        find_lifetimes(
            o,
            [(addresses[a], sizes[a], o.steps[a]) for a in allocs],
            [(addresses[f], o.steps[f]) for f in range(n) if roles[f] == "free"],
        )
    )
    assert {
        o.nodes[lifetime.begin]: sorted(o.nodes[end] for end in lifetime.ends)
        for each in blocks
        for lifetime in each.all
    } == {a: sorted(frees) for a, frees in ends.items()}
    for node in (t for t in range(n) if roles[t] == "access"):
        misuses = [m for each in blocks for m in each.misuses(o.steps[node], spans[node])]
        for lifetime, is_over in misuses:
            alloc = o.nodes[lifetime.begin]
            assert spans[alloc].meets(spans[node])
            if is_over:
                assert any(reach[end][node] for end in ends[alloc])
            else:
                assert reach[node][alloc]
        possible = [
            a
            for a in allocs
            if spans[a].meets(spans[node]) and not reach[node][a] and not any(reach[f][node] for f in ends[a])
        ]
        if not possible and any(spans[a].meets(spans[node]) for a in allocs):
            assert misuses
        if {o.nodes[lifetime.begin] for lifetime, _ in misuses} and len({addresses[a] for a in allocs}) == 1:
            assert not possible


def test_a_long_allocation_around_two_short_ones_is_found_behind_them():
    # Bytes 0..19, then after its end 8..11 and 12..19; the access to 14..15 is in the lifetime of the first.
    o = Order(range(6), [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)])
    (found,) = find_lifetimes(o, [(0, 20, 0), (8, 4, 3), (12, 8, 4)], [(0, 2)])
    assert list(found.misuses(1, Span(14, 2))) == []
    assert [(lifetime.begin, is_over) for lifetime, is_over in found.misuses(5, Span(2, 2))] == [(0, True)]
