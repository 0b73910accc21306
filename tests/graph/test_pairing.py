# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: a whole update pairs nodes in the order in which they were made, whatever was done to edges in between.

Drivers pair by the order in which nodes lost their last dependent and edges were added, which users cannot see.
"""

from random import Random

import pytest

import cuda_graphs as cg
from tests.graph_rig import ONE


@pytest.fixture
def make(kernels, pinned):
    """make(count, edges): a definition whose node i adds 1 to words[i], its nodes, and the words."""
    words = pinned(8)

    def make(count, edges):
        g = cg.GraphDef()
        nodes = [g.launch(ONE, kernels.add, words.ctypes.data + 4 * i, 1, 1) for i in range(count)]
        for before, after in edges:
            nodes[after].pred.add(nodes[before])
        return g, nodes, words

    return make


@pytest.fixture
def pairs(stream):
    """pairs(graph, nodes, words): for each node of the definition, whose work its node of the executable does."""

    def pairs(graph, nodes, words):
        found = []
        for node in nodes:
            graph[node].disable()
            words[:] = 0
            graph.launch(stream)
            stream.sync()
            graph[node].enable()
            found.append([i for i in range(len(nodes)) if words[i] == 0])
        return found

    return pairs


def put(nodes, before, after):
    nodes[after].pred.add(nodes[before])


def take(nodes, before, after):
    nodes[after].pred.remove(nodes[before])


def passing_dependent(nodes, before, after):
    nodes[before].join(nodes[after]).destroy()


EDITS = {
    "an edge came and went": (3, [], [(put, 0, 1), (take, 0, 1)]),
    "an edge went and came": (4, [(0, 3), (1, 3), (2, 3)], [(take, 0, 3), (put, 0, 3)]),
    "a dependent came and went": (3, [(0, 1)], [(passing_dependent, 1, 2)]),
    "a circle came and went": (3, [(0, 1)], [(put, 1, 0), (take, 1, 0)]),
}


@pytest.mark.parametrize("edit", EDITS)
@pytest.mark.parametrize("when", ["before the update", "before the graph is made"])
def test_nodes_pair_as_they_were_made(edit, when, make, pairs):
    count, edges, steps = EDITS[edit]
    g, nodes, words = make(count, edges)
    other = g if when == "before the update" else make(count, edges)[0]
    graph = g.instantiate() if other is g else None
    for step, *ends in steps:
        step(nodes, *ends)
    graph = graph or g.instantiate()
    graph.update(other)
    assert pairs(graph, nodes, words) == [[i] for i in range(count)]


def test_nodes_pair_as_they_were_made_after_any_edits(make, pairs):
    random = Random(3)
    for _ in range(60):
        count = random.randint(2, 6)
        possible = [(a, b) for b in range(count) for a in range(b)]
        edges = random.sample(possible, random.randint(0, len(possible)))
        g, nodes, words = make(count, edges)
        graph = g.instantiate()
        for _ in range(random.randint(1, 4)):
            ends = random.choice(possible)
            for step in (take, put) if ends in edges else (put, take):
                step(nodes, *ends)
        graph.update(random.choice([g, make(count, random.sample(edges, len(edges)))[0]]))
        assert pairs(graph, nodes, words) == [[i] for i in range(count)]


def test_nodes_of_embedded_graphs_pair_as_they_were_made(make, pairs):
    child, inner, words = make(3, [])
    put(inner, 0, 1)
    take(inner, 0, 1)
    g = cg.GraphDef()
    node = g.embed(child)
    graph = g.instantiate()
    nodes = sorted(node.child_graph.nodes(), key=lambda n: inner_number(graph, n, pairs, words))
    put(nodes, 2, 0)
    take(nodes, 2, 0)
    put(nodes, 0, 1)
    take(nodes, 0, 1)
    graph.update(g)
    assert pairs(graph, nodes, words) == [[0], [1], [2]]


def inner_number(graph, node, pairs, words):
    (found,) = pairs(graph, [node] * 3, words)[:1]
    return found[0]


def test_a_parameter_stays_with_its_node_when_edges_came_and_went(device, kernels, pinned, stream):
    words = pinned(2)
    g = cg.GraphDef()
    p = g.param("n", cg.i32, default=1)
    first = g.launch(ONE, kernels.add, words.ctypes.data, 1, p)
    second = g.launch(ONE, kernels.add, words.ctypes.data + 4, 1, 10)
    graph = g.instantiate()
    first.succ.add(second)
    first.succ.clear()
    graph.update(g)
    graph.launch(stream, n=5)
    stream.sync()
    assert words.tolist() == [5, 10]


def test_a_graph_that_allocates_keeps_its_edges_as_they_are(device, kernels, pinned, stream):
    words = pinned(2)
    g = cg.GraphDef()
    memory = g.alloc(4)
    late = g.launch(ONE, kernels.add, words.ctypes.data, 1, 1)
    freed = memory.free(memory.dptr)
    freed.join(late, memory)
    late.pred.add(memory)
    g.instantiate().launch(stream)
    stream.sync()
    assert words.tolist() == [1, 0]


@pytest.fixture
def turned(device, kernels, pinned):
    """turned(): a definition `first -> second`, edited into `second -> first` after it was instantiated."""

    def turned():
        words = pinned(2)
        g = cg.GraphDef()
        p = g.param("n", cg.i32, default=1)
        first = g.launch(ONE, kernels.add, words.ctypes.data, 1, p)
        second = first.launch(ONE, kernels.add, words.ctypes.data + 4, 1, 10)
        graph = g.instantiate()
        first.succ.clear()
        second.succ.add(first)
        return g, graph, first, second, words

    return turned


def test_a_definition_of_another_shape_tells_no_parameter_where_it_goes(turned, stream):
    g, graph, _first, _second, words = turned()
    with pytest.raises(cg.GraphUpdateError, match="Instantiate the definition again"):
        graph.update(g)
    graph.launch(stream, n=5)
    stream.sync()
    assert words.tolist() == [5, 10]


def test_other_definitions_update_nothing_while_the_definition_is_turned(turned, kernels, stream):
    _g, graph, first, second, words = turned()
    other = cg.GraphDef()
    p = other.param("n", cg.i32)
    other.launch(ONE, kernels.add, words.ctypes.data, 1, p).launch(
        ONE, kernels.add, words.ctypes.data + 4, 1, 20
    )
    with pytest.raises(cg.GraphUpdateError, match="Instantiate the definition again"):
        graph.update(other)
    second.succ.clear()
    first.succ.add(second)
    graph.update(other)
    graph.launch(stream, n=5)
    stream.sync()
    assert words.tolist() == [5, 20]


def test_a_node_destroyed_and_made_again_is_another_shape(device, kernels, pinned, stream):
    words = pinned(2)
    g = cg.GraphDef()
    p = g.param("n", cg.i32, default=1)
    first = g.launch(ONE, kernels.add, words.ctypes.data, 1, 10)
    g.launch(ONE, kernels.add, words.ctypes.data + 4, 1, p)
    graph = g.instantiate()
    first.destroy()
    g.launch(ONE, kernels.add, words.ctypes.data, 1, 10)
    with pytest.raises(cg.GraphUpdateError, match="Instantiate the definition again"):
        graph.update(g)
    graph.launch(stream, n=5)
    stream.sync()
    assert words.tolist() == [10, 5]


@pytest.fixture
def turn(make):
    """turn(): a definition `first -> second` without parameters, turned round after it was instantiated."""

    def turn():
        g, (first, second), words = make(2, [(0, 1)])
        graph = g.instantiate()
        first.succ.clear()
        second.succ.add(first)
        return g, graph, first, second, words

    return turn


def test_without_parameters_a_turned_definition_is_one_like_any_other(turn, stream):
    g, graph, _first, _second, words = turn()
    graph.update(g)
    graph.launch(stream)
    stream.sync()
    assert words.tolist()[:2] == [1, 1]


def test_nodes_of_a_turned_definition_name_no_node_of_the_executable(turn, pairs):
    g, graph, first, second, words = turn()
    view = graph[first]
    assert pairs(graph, (first, second), words) == [[0], [1]]  # as they were made
    graph.update(g)
    for use in (lambda: graph[second], view.disable, lambda: view.is_enabled):
        with pytest.raises(ValueError, match="Instantiate the definition again"):
            use()
    second.succ.clear()
    first.succ.add(second)
    graph.update(g)
    assert pairs(graph, (first, second), words) == [[0], [1]]


def test_nodes_name_those_of_the_executable_after_an_update_from_another_definition(turn, make, pairs):
    _g, graph, first, second, words = turn()
    graph.update(make(2, [(0, 1)])[0])
    assert pairs(graph, (first, second), words) == [[0], [1]]


def test_a_node_that_came_and_went_changes_no_names(make, pairs):
    g, nodes, words = make(3, [(0, 1)])
    graph = g.instantiate()
    nodes[1].join(nodes[2]).destroy()
    g.join().destroy()
    graph.update(g)
    assert pairs(graph, nodes, words) == [[0], [1], [2]]


def test_nodes_in_bodies_and_embedded_graphs_are_of_the_shape_too(device, kernels, pinned):
    words = pinned(2)
    g = cg.GraphDef()
    inner = cg.GraphDef()
    inner.launch(ONE, kernels.add, words.ctypes.data, 1, 1).launch(ONE, kernels.add, words.ctypes.data, 1, 1)
    embedded = g.embed(inner).child_graph
    body = g.if_then(g.create_condition(default_value=1)).then
    body.launch(ONE, kernels.add, words.ctypes.data, 1, 1).launch(ONE, kernels.add, words.ctypes.data, 1, 1)
    for place in (embedded, body):
        graph = g.instantiate()
        ((first, second),) = place.edges()
        assert graph[first].is_enabled
        first.succ.clear()
        second.succ.add(first)
        graph.update(g)
        with pytest.raises(ValueError, match="Instantiate the definition again"):
            graph[first]
        graph.close()


@pytest.mark.parametrize("answer", ["of the driver", "no"])
def test_a_child_that_takes_its_own_turned_graph_has_no_names_and_one_that_does_not_is_as_it_was(
    answer, make, pairs, stream, driver_table
):
    inner, _, words = make(2, [(0, 1)])
    g = cg.GraphDef()
    child = g.embed(inner)
    graph = g.instantiate()
    ((first, second),) = child.child_graph.edges()
    graph[child].update(child.child_graph)
    assert graph[first].is_enabled
    first.succ.clear()
    second.succ.add(first)
    if answer == "no":
        driver_table.refuse_once("cuGraphExecNodeSetParams", 910)  # GRAPH_EXEC_UPDATE_FAILURE
    try:
        graph[child].update(child.child_graph)
        is_taken = True
    except cg.GraphUpdateError:  # as libcuda answers
        is_taken = False
    assert not (is_taken and answer == "no")
    if is_taken:
        for node in (first, second):
            with pytest.raises(ValueError, match="Instantiate the definition again"):
                graph[node]
    else:
        assert pairs(graph, (first, second), words) == [[0], [1]]
        second.succ.clear()
        first.succ.add(second)
        graph[child].update(child.child_graph)
        assert pairs(graph, (first, second), words) == [[0], [1]]
    words[:] = 0
    graph.launch(stream)
    stream.sync()
    assert words.tolist()[:2] == [1, 1]


def test_a_memset_of_which_nothing_is_known_is_not_switched_off(device, pinned, stream):
    words = pinned(4)

    def chain(value):
        g = cg.GraphDef()
        return g, g.memset(words.ctypes.data, value, 4), g.memset(words.ctypes.data + 4, value, 4)

    g, first, second = chain(1)
    first.succ.add(second)
    graph = g.instantiate()
    first.succ.clear()
    second.succ.add(first)
    other, before, after = chain(2)
    before.succ.add(after)
    graph.update(other)
    with pytest.raises(cg.CUDAError, match=r"update\(\) of the node first"):
        graph[first].disable()
    graph[first].update(dst=words.ctypes.data, value=3, width=4)
    graph[first].disable()
    graph.launch(stream)
    stream.sync()
    assert words.view("u1")[:8].tolist() == [0] * 4 + [2] * 4
    graph[first].enable()
    graph.launch(stream)
    stream.sync()
    assert words.view("u1")[:8].tolist() == [3] * 4 + [2] * 4
