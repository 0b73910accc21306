# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: graphs inside one another work in every way to a depth of 1024, and no call makes a deeper one: that is a
RecursionError which says the depth, and changes nothing."""

import threading

import pytest

import cuda_graphs as cg

LIMIT, DEEP = 1024, 1000


@pytest.fixture
def byte(pinned):
    """A byte of pinned memory."""
    return pinned([0], "u1")


def write(place, byte, value):
    return place.memset(byte.ctypes.data, value, 1)


def bodies(depth, innermost):
    g = place = cg.GraphDef()
    for _ in range(depth):
        place = place.if_then(place.create_condition(1)).then
    innermost(place)
    return g


def embedded(depth, innermost):
    """By halves: an embedding copies all levels."""
    if depth == 0:
        g = cg.GraphDef()
        innermost(g)
        return g
    g = embedded((depth - 1) // 2, lambda place: None)
    inside(g)[-1].embed(embedded(depth // 2, innermost))
    return g


def captured(depth, innermost):
    builder = cg.Device().create_graph_builder().begin_building()
    levels = [builder]
    for _ in range(depth - 1):
        levels.append(levels[-1].if_then(levels[-1].create_condition(1)).begin_building())
    body = levels[-1].if_then(levels[-1].create_condition(1))
    innermost(body.graph_definition)
    while levels:
        levels.pop().end_building()
    return builder.graph_definition


MAKERS = {"bodies": bodies, "embedded": embedded, "captured": captured}
maker = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)


def inside(g):
    """The graphs from the outermost to the innermost."""
    graphs = [g]
    for graph in graphs:
        for node in graph.nodes():
            graphs += node._inner_graphs()
    return graphs


@maker
def test_graphs_nested_a_thousand_deep_run(make, byte, run):
    run(make(DEEP, lambda place: write(place, byte, 5)))
    assert byte[0] == 5


@maker
def test_graphs_nested_a_thousand_deep_run_on_another_thread(make, byte):
    def work():
        cg.Device().set_current()
        stream = cg.Device().create_stream()
        make(DEEP, lambda place: write(place, byte, 6)).instantiate().launch(stream)
        stream.sync()

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert byte[0] == 6


@maker
def test_graphs_nested_a_thousand_deep_are_walked_named_and_checked(make, byte, tmp_path):
    g = make(DEEP, lambda place: write(place, byte, 5))
    graphs = inside(g)
    assert len(graphs) == DEEP + 1
    for text in (repr(graphs[-1]), *map(repr, graphs[-1].nodes()), graphs[-1]._identify()):
        assert 0 < len(text) < 2000
    assert not g.check()
    path = tmp_path / "deep.dot"
    g.debug_dot_print(path)
    assert path.read_text().count("subgraph") == DEEP + 1


@maker
def test_check_finds_what_a_thousand_levels_apart_is_unordered(make, byte):
    g = make(DEEP, lambda place: write(place, byte, 5))
    write(g, byte, 6)
    (finding,) = g.check()
    assert finding.kind == "unordered"


@maker
def test_executables_of_graphs_nested_a_thousand_deep_are_updated(make, byte, stream):
    g = make(DEEP, lambda place: write(place, byte, 5))
    graph = g.instantiate()
    like = make(DEEP, lambda place: write(place, byte, 7))  # the refusal says in what it differs
    graph.update(like)
    graph.launch(stream)
    stream.sync()
    assert byte[0] == 7

    def more(place):
        write(place, byte, 8).memset(byte.ctypes.data, 9, 1)

    with pytest.raises(cg.GraphUpdateError, match="made of 1") as refused:
        graph.update(make(DEEP, more))
    assert len(str(refused.value)) < 5000


@pytest.mark.parametrize("make", [bodies, embedded])
def test_parameters_a_thousand_levels_inside_are_set(make, byte, stream):
    g = make(DEEP, lambda place: write(place, byte, place.param("value", cg.u8, 3)))
    graph = g.instantiate()
    graph.launch(stream, value=4)
    stream.sync()
    assert byte[0] == 4


@maker
def test_outermost_node_is_destroyed_with_a_thousand_levels_inside(make, byte):
    g = make(DEEP, lambda place: write(place, byte, 5))
    graphs = inside(g)
    (node,) = g.nodes()
    node.destroy()
    assert g.nodes() == set()
    with pytest.raises(RuntimeError, match="no longer valid"):
        graphs[-1].nodes()


def deepest(byte):
    """A definition of bodies that is as deep as can be, and its innermost graph."""
    found = []
    g = bodies(LIMIT, found.append)
    return g, found[0]


def in_body(add):
    def attempt(byte):
        g, body = deepest(byte)
        before = len(inside(g))
        with pytest.raises(RecursionError, match=r"nested 1024 deep.*depth 1025"):
            add(body)
        assert (len(inside(g)), body.nodes()) == (before, set())

    return attempt


def in_embedded(byte):
    child, g = embedded(LIMIT, lambda place: write(place, byte, 1)), cg.GraphDef()
    with pytest.raises(RecursionError, match=r"nested 1024 deep.*depth 1025"):
        g.embed(child)
    assert g.nodes() == set()
    node = g.embed(embedded(LIMIT - 1, lambda place: write(place, byte, 1)))
    with pytest.raises(RecursionError, match="depth 1025"):
        node.update(child)
    assert len(inside(g)) == LIMIT + 1


def in_the_middle(byte):
    child = embedded(600, lambda place: write(place, byte, 1))
    g = embedded(600, lambda place: write(place, byte, 1))
    graphs = inside(g)
    with pytest.raises(RecursionError, match="depth 1201"):
        graphs[-1].embed(child)
    graphs[400].embed(child)


def in_capture(byte):
    found = []
    levels = [cg.Device().create_graph_builder().begin_building()]
    for _ in range(LIMIT):
        levels.append(levels[-1].if_then(levels[-1].create_condition(1)).begin_building())
    condition = levels[-1].create_condition(1)
    for add in (levels[-1].if_then, levels[-1].while_loop, lambda c: levels[-1].switch(c, 3)):
        with pytest.raises(RecursionError, match=r"nested 1024 deep.*depth 1025"):
            found.append(add(condition))
    while levels:
        levels.pop().close()
    assert found == []


def embedded_in_capture(byte):
    child = cg.Device().create_graph_builder().begin_building().end_building()
    child.graph_definition.embed(embedded(LIMIT - 1, lambda place: write(place, byte, 1)))
    builder = cg.Device().create_graph_builder().begin_building()
    with pytest.raises(RecursionError, match="depth 1025"):
        builder.embed(child)
    builder.end_building()
    assert builder.graph_definition.nodes() == set()


WAYS = {
    "if_then": in_body(lambda body: body.if_then(body.create_condition())),
    "if_else": in_body(lambda body: body.if_else(body.create_condition())),
    "while_loop": in_body(lambda body: body.while_loop(body.create_condition())),
    "switch": in_body(lambda body: body.switch(body.create_condition(), 3)),
    "embed_in_body": in_body(lambda body: body.embed(cg.GraphDef())),
    "embed": in_embedded,
    "embed_in_the_middle": in_the_middle,
    "capture": in_capture,
    "embed_in_capture": embedded_in_capture,
}


@pytest.mark.parametrize("way", WAYS)
def test_deeper_graph_is_a_recursion_error(way, byte, device):
    WAYS[way](byte)


def test_destroyed_levels_no_longer_count(byte, device):
    child, g = embedded(LIMIT, lambda place: write(place, byte, 1)), cg.GraphDef()
    (node,) = inside(child)[1].nodes()
    node.destroy()
    g.embed(child)
    assert len(inside(g)) == 3
