# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: nodes(), edges(), pred and succ say what was built."""

import itertools

import pytest

import cuda_graphs as cg


def empty(g):
    return [], set()


def single(g):
    return [g.join()], set()


def chain(g):
    a = g.join()
    b = a.join()
    c = b.join()
    return [a, b, c], {(a, b), (b, c)}


def fan_out(g):
    a = g.join()
    leaves = [a.join() for _ in range(3)]
    return [a, *leaves], {(a, leaf) for leaf in leaves}


def fan_in(g):
    roots = [g.join() for _ in range(3)]
    last = g.join(*roots)
    return [*roots, last], {(root, last) for root in roots}


def diamond(g):
    a = g.join()
    b, c = a.join(), a.join()
    d = b.join(c)
    return [a, b, c, d], {(a, b), (a, c), (b, d), (c, d)}


def disconnected(g):
    a, b = g.join(), g.join()
    c, d = a.join(), b.join()
    return [a, b, c, d], {(a, c), (b, d)}


@pytest.mark.parametrize("build", [empty, single, chain, fan_out, fan_in, diamond, disconnected])
def test_the_structure_is_what_was_built(build, device):
    g = cg.GraphDef()
    nodes, edges = build(g)
    assert g.nodes() == set(nodes)
    assert g.edges() == edges
    for node in nodes:
        assert node.graph == g
        assert node.pred == {a for a, b in edges if b is node}
        assert node.succ == {b for a, b in edges if a is node}


@pytest.mark.parametrize("count", [2, 3, 5])
def test_a_join_depends_on_its_receiver_and_all_given_nodes(count, device):
    g = cg.GraphDef()
    nodes = [g.join() for _ in range(count)]
    assert nodes[0].join(*nodes[1:]).pred == set(nodes)


@pytest.mark.parametrize("counts", [(0, 1), (3, 4, 5), (4, 0, 4), (8, 9, 100)])
def test_all_edges_of_nodes_with_any_number_of_predecessors_are_there(counts, device):
    g = cg.GraphDef()
    wanted = set()
    for count in counts:
        before = [g.join() for _ in range(count)]
        after = g.join(*before)
        wanted |= {(node, after) for node in before}
    assert g.edges() == wanted


def test_a_join_of_nothing_is_a_root(device):
    g = cg.GraphDef()
    assert g.join().pred == set()
    assert len(g.nodes()) == 1


def test_the_entry_is_no_node_of_the_graph(device):
    g = cg.GraphDef()
    entry = g._entry
    node = entry.join()
    assert type(entry) is cg.GraphNode
    assert entry is g._entry
    assert entry.type is None
    assert entry.handle is None
    assert entry.pred == set() == entry.succ
    assert entry.graph == g
    assert entry.is_valid
    assert repr(entry) == "<GraphNode entry>"
    assert g.nodes() == {node}
    assert node.pred == set()
    assert g.join(entry).pred == set()


def test_a_chained_launch_depends_on_the_node_before_it_only(kernels, device):
    g = cg.GraphDef()
    one = cg.LaunchConfig(grid=1, block=1)
    a = g.launch(one, kernels.nothing)
    b = a.launch(one, kernels.nothing)
    c = b.launch(one, kernels.nothing)
    assert c.pred == {b}
    assert b.pred == {a}


def test_bodies_and_children_are_graphs_of_their_own(kernels, device):
    g = cg.GraphDef()
    loop = g.while_loop(g.create_condition(0))
    inside = loop.body.join().join()
    assert g.nodes() == {loop}
    assert len(loop.body.nodes()) == 2
    assert inside.graph == loop.body != g


def test_a_thousand_nodes_come_back_as_the_same_objects(kernels, device):
    g = cg.GraphDef()
    nodes = [g.join()]
    for _ in range(999):
        nodes.append(nodes[-1].join())
    assert g.nodes() == set(nodes)
    assert g.edges() == set(itertools.pairwise(nodes))
