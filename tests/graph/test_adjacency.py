# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: `pred` and `succ` are sets that show the edges of the graph and change them."""

from collections.abc import MutableSet

import pytest

import cuda_graphs as cg
from tests.graph_rig import ONE


@pytest.fixture
def g(device):
    return cg.GraphDef()


@pytest.fixture
def nodes(g):
    return [g.join() for _ in range(5)]


def test_views_are_mutable_sets(nodes):
    assert isinstance(nodes[0].pred, MutableSet)
    assert isinstance(nodes[0].succ, MutableSet)


def test_adding_to_succ_is_adding_to_pred_of_the_other(g, nodes):
    a, b, *_ = nodes
    a.succ.add(b)
    assert b.pred == {a}
    assert g.edges() == {(a, b)}


def test_a_view_is_live(nodes):
    a, b, c, *_ = nodes
    view = a.succ
    assert len(view) == 0
    a.succ.add(b)
    c.pred.add(a)
    assert set(view) == {b, c}
    assert b in view
    assert a not in view
    assert "b" not in view


def test_adding_what_is_there_changes_nothing(g, nodes):
    a, b, *_ = nodes
    a.succ.add(b)
    a.succ.add(b)
    a.succ.update([b, b], b)
    assert g.edges() == {(a, b)}


def test_discard_of_what_is_not_there_is_silent_and_remove_is_a_key_error(nodes):
    a, b, *_ = nodes
    a.succ.discard(b)
    a.succ.discard(7)
    with pytest.raises(KeyError):
        a.succ.remove(b)


def test_remove_pop_and_clear(g, nodes):
    a, b, c, d, _ = nodes
    a.succ.update(b, [c, d])
    a.succ.remove(b)
    assert a.succ == {c, d}
    popped = a.succ.pop()
    assert a.succ == {c, d} - {popped}
    a.succ.clear()
    assert g.edges() == set()
    with pytest.raises(KeyError):
        a.succ.pop()


def test_operators_in_place_change_edges(nodes):
    a, b, c, d, e = nodes
    view = a.succ
    view |= {b, c}
    assert a.succ == {b, c}
    view &= {c, d}
    assert a.succ == {c}
    view ^= {c, d, e}
    assert a.succ == {d, e}
    view -= {e}
    assert a.succ == {d}
    a.succ |= {b}
    assert a.succ == {b, d}


def test_other_operators_make_plain_sets(nodes):
    a, b, c, *_ = nodes
    a.succ.add(b)
    assert type(a.succ | {c}) is set
    assert a.succ | {c} == {b, c}
    assert a.succ - {b} == set()
    assert a.succ <= {b, c}
    assert a.succ.isdisjoint({c})
    assert a.succ == {b}


def test_assignment_replaces_all_edges(g, nodes):
    a, b, c, d, _ = nodes
    a.succ = [b, c]
    a.succ = {c, d}
    assert a.succ == {c, d}
    d.pred = ()
    assert g.edges() == {(a, c)}


def test_neighbour_that_is_no_node_is_a_type_error(nodes):
    for wrong in (7, None, "ab", cg.GraphDef()):
        with pytest.raises(TypeError, match="expected GraphNode"):
            nodes[0].succ.add(wrong)


def test_edges_that_cannot_be_are_cuda_errors(g, nodes):
    a, b, c, *_ = nodes
    c.destroy()
    for wrong in (cg.GraphDef().join(), a, c, g._entry):
        with pytest.raises(cg.CUDAError):
            a.succ.add(wrong)
    for wrong in (c, g._entry):
        with pytest.raises(cg.CUDAError):
            wrong.succ.add(b)
    assert g.edges() == set()


def test_an_edge_that_fails_leaves_the_others_as_they_were(g, nodes):
    a, b, *_ = nodes
    for wrong in (a, cg.GraphDef().join()):
        with pytest.raises(cg.CUDAError):
            a.succ = [b, wrong]
        assert g.edges() == set()


def test_an_assignment_that_the_driver_refuses_changes_nothing(g, nodes):
    """A graph that allocates keeps its edges: new ones are not added when old ones cannot go."""
    a, b, c, d, _ = nodes
    g.alloc(4)
    a.succ = [b]
    edges = g.edges()
    for change in (lambda: setattr(a, "succ", [c, d]), lambda: a.succ.__ixor__([b, c])):
        with pytest.raises(cg.CUDAError):
            change()
        assert g.edges() == edges


def test_an_alloc_node_is_one_node(g):
    """It is iterable as an array as well."""
    first, memory, array = g.join(), g.alloc(4), g.alloc(shape=(2, 8), dtype=cg.f32)
    first.succ.update(memory, array)
    assert set(first.succ) == {memory, array}


def test_edges_decide_the_order(g, kernels, pinned, run):
    x = pinned([1], "u4")
    steps = [g.launch(ONE, kernels.affine, x.ctypes.data, 3, b) for b in (1, 5, 7)]
    steps[2].succ.add(steps[0])
    steps[0].succ.add(steps[1])
    run(g)
    assert x[0] == ((1 * 3 + 7) * 3 + 1) * 3 + 5
