# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: a definition can be changed until it is instantiated, and what was destroyed says so and keeps quiet."""

import pytest

import cuda_graphs as cg
from cuda_graphs.core.resources import boxes
from tests.graph_rig import ONE


@pytest.fixture
def g(device):
    return cg.GraphDef()


def test_a_destroyed_node_is_gone_with_its_edges(g):
    a = g.join()
    b = a.join()
    c = b.join()
    b.destroy()
    assert g.nodes() == {a, c}
    assert g.edges() == set()


def test_destroying_twice_does_nothing(g):
    a = g.join()
    a.destroy()
    a.destroy()
    assert g.nodes() == set()


def test_a_destroyed_node_has_no_handle_type_or_neighbours(g):
    a = g.join()
    key, before = {a: 1}, hash(a)
    a.destroy()
    assert not a.is_valid
    assert a.handle is None
    assert a.type is None
    assert a.pred == set() == a.succ
    assert key[a] == 1
    assert hash(a) == before
    assert a.graph == g
    assert repr(a) == "<EmptyNode destroyed>"


def test_a_destroyed_node_still_says_what_it_was(g, needs, kernels):
    node = g.memset(needs.target.ctypes.data, 7, 16)
    launch = g.launch(ONE, kernels.nothing)
    node.destroy()
    launch.destroy()
    assert (node.value, node.width, node.dptr) == (7, 16, needs.target.ctypes.data)
    assert launch.config == ONE


def test_a_destroyed_node_has_released_what_it_held(g, kernels, device):
    child = cg.GraphDef()
    nodes = {
        "kernel": g.launch(ONE, kernels.nothing),
        "event": g.record_event(device.create_event()),
        "callback_fn": g.callback(lambda: None),
        "child_graph": g.embed(child),
        "branches": g.if_then(g.create_condition(0)),
    }
    for name, node in nodes.items():
        getattr(node, name)
        node.destroy()
        with pytest.raises(RuntimeError, match="this node has been destroyed"):
            getattr(node, name)


def test_nothing_can_be_added_after_a_destroyed_node(g, needs, kernels):
    a = g.join()
    a.destroy()
    for use in (
        lambda: a.join(),
        lambda: a.launch(ONE, kernels.nothing),
        lambda: a.memset(needs.target.ctypes.data, 0, 1),
        lambda: g.join(a),
    ):
        with pytest.raises(RuntimeError, match="this node has been destroyed"):
            use()
    assert g.nodes() == set()


def test_destroying_a_conditional_node_invalidates_all_that_is_inside(g, kernels):
    outer = g.while_loop(g.create_condition(0))
    inner = outer.body.if_then(g.create_condition(0))
    body, leaf = inner.then, inner.then.launch(ONE, kernels.nothing)
    hashes = [hash(o) for o in (body, leaf, inner)]
    outer.destroy()
    assert not body.is_valid
    assert body.handle == 0
    assert not leaf.is_valid
    assert not inner.is_valid
    assert [hash(o) for o in (body, leaf, inner)] == hashes
    with pytest.raises(RuntimeError, match="GraphDef is no longer valid"):
        body.join()
    with pytest.raises(RuntimeError, match="GraphDef is no longer valid"):
        leaf.join()
    with pytest.raises(RuntimeError, match="GraphDef is no longer valid"):
        body.nodes()
    assert g.nodes() == set()


def test_destroying_a_child_node_invalidates_the_embedded_graph(g, kernels):
    child = cg.GraphDef()
    child.launch(ONE, kernels.nothing)
    node = g.embed(child)
    inside = node.child_graph
    (launch,) = inside.nodes()
    node.destroy()
    assert not inside.is_valid
    assert not launch.is_valid
    assert child.is_valid


def test_later_changes_of_an_embedded_definition_have_no_effect_but_changes_of_the_copy_do(
    g, kernels, pinned, run
):
    x = pinned([1], "u4")
    child = cg.GraphDef()
    child.launch(ONE, kernels.affine, x.ctypes.data, 2, 0)
    node = g.embed(child)
    child.launch(ONE, kernels.affine, x.ctypes.data, 1, 100)
    (first,) = node.child_graph.nodes()
    first.launch(ONE, kernels.affine, x.ctypes.data, 1, 5)
    run(g)
    assert x[0] == 7


def test_a_middle_node_can_be_taken_out_and_the_rest_joined_again(g, kernels, pinned, run):
    x = pinned([1], "u4")
    nodes = [g._entry]
    for b in range(1, 5):
        nodes.append(nodes[-1].launch(ONE, kernels.affine, x.ctypes.data, 3, b))
    nodes[2].destroy()
    nodes[1].succ.add(nodes[3])
    run(g)
    assert x[0] == ((1 * 3 + 1) * 3 + 3) * 3 + 4


def test_records_of_destroyed_nodes_are_used_again(g):
    g.join().destroy()
    before = boxes.live()["graph_node"]
    for _ in range(1000):
        g.join().destroy()
    assert boxes.live()["graph_node"] == before
