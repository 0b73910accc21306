# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: one cause has one message. An error explains the cause that there is, and its remedy fits the state."""

import copy
import pickle
import re

import pytest

import cuda_graphs as cg
from cuda_graphs.errors.table import TABLE
from tests.graph_rig import ONE

HERE = r"\(\S*test_causes\.py:\d+\)"


def refused(match, use, *args, **options):
    """Return the CUDAError of a refused call. Explanation and remedy are not those of the status."""
    with pytest.raises(cg.CUDAError) as caught:
        use(*args, **options)
    error = caught.value
    row = TABLE[error.code]
    assert re.search(match, error.explanation), error.explanation
    assert error.explanation != row.explanation and error.remedy not in ("", row.remedy)
    assert row.explanation not in str(error) and row.remedy not in str(error)
    assert error.attempt
    return error


@pytest.fixture
def g(device):
    return cg.GraphDef()


CONDITIONAL = {
    "if_then": lambda p, c: p.if_then(c),
    "if_else": lambda p, c: p.if_else(c),
    "while_loop": lambda p, c: p.while_loop(c),
    "switch": lambda p, c: p.switch(c, 2),
}


@pytest.fixture(params=["definition", "node", "body", "builder", "split builder", "builder of a body"])
def place(request, device, g):
    """A place where conditional nodes are added, of each kind, and its graph's `create_condition`."""
    if "builder" not in request.param:
        made = {"definition": g, "node": g.join(), "body": g.if_then(g.create_condition(0)).then}[
            request.param
        ]
        yield made, g.create_condition
        return
    builder = device.create_graph_builder().begin_building()
    fork = body = None
    made = builder
    if request.param == "split builder":
        _, made = _, fork = builder.split(2)
    if request.param == "builder of a body":
        made = body = builder.if_then(builder.create_condition(0)).begin_building()
    yield made, made.create_condition
    if body is not None:
        body.end_building()
    if fork is not None:
        cg.GraphBuilder.join(builder, fork)
    builder.end_building()


@pytest.mark.parametrize("add", CONDITIONAL)
def test_a_condition_that_is_used_already_names_its_node(add, place):
    there, create = place
    condition = create(0)
    there.while_loop(condition, name="first user")
    error = refused(
        rf"^WhileNode 'first user' {HERE}.* uses the condition 0x", CONDITIONAL[add], there, condition
    )
    assert f"{condition.handle:#x}" in error.explanation
    assert "create_condition()" in error.remedy
    CONDITIONAL[add](there, create(0))


@pytest.mark.parametrize("add", CONDITIONAL)
def test_a_condition_of_another_graph_is_refused_as_such(add, place):
    there, create = place
    other = cg.GraphDef().create_condition(0)
    error = refused(
        f"^The condition {other.handle:#x} was created for another graph", CONDITIONAL[add], there, other
    )
    assert "create_condition() of this graph" in error.remedy
    CONDITIONAL[add](there, create(0))


def test_a_used_condition_of_another_graph_is_one_of_another_graph(g):
    other = cg.GraphDef()
    condition = other.create_condition(0)
    other.if_then(condition)
    refused("was created for another graph", g.if_then, condition)


def test_the_condition_of_a_destroyed_node_is_free_again(g):
    condition = g.create_condition(0)
    g.if_then(condition, name="gone").destroy()
    for _ in range(3):  # new nodes may take the record of the destroyed node
        g.join()
    g.while_loop(condition, name="next")
    refused(r"^WhileNode 'next'", g.if_then, condition)


def test_a_switch_without_bodies_says_so(place):
    there, create = place
    error = refused("^A SwitchNode needs a body", there.switch, create(0), 0)
    assert "count of 1 or more" in error.remedy


EDGES = {
    "join": lambda a, b: a.join(b),
    "succ.add": lambda a, b: a.succ.add(b),
    "pred.add": lambda a, b: a.pred.add(b),
    "pred =": lambda a, b: setattr(a, "pred", [b]),
    "succ |=": lambda a, b: a.succ.__ior__([b]),
}


@pytest.mark.parametrize("connect", EDGES)
def test_an_edge_to_another_definition_names_both_nodes(connect, g):
    a, b = g.join(name="ours"), cg.GraphDef().join(name="theirs")
    error = refused("^The two nodes belong to different definitions", EDGES[connect], a, b)
    assert re.search(r"EmptyNode 'ours' .*EmptyNode 'theirs' .*of another graph", error.attempt)
    assert "embed()" in error.remedy
    assert (a.pred, a.succ, b.pred, b.succ) == (set(),) * 4


@pytest.mark.parametrize("connect", EDGES)
def test_an_edge_across_the_border_of_a_body_says_what_to_connect(connect, g):
    loop = g.while_loop(g.create_condition(0))
    a, b = g.join(), loop.body.join()
    for ours, theirs in ((a, b), (b, a)):
        error = refused(
            "^The two nodes are in different graphs of one definition", EDGES[connect], ours, theirs
        )
        assert "the node that holds the inner graph" in error.remedy
    assert a.pred == a.succ == set()


def test_edges_that_cannot_be_say_why(g):
    a, gone = g.join(), g.join()
    gone.destroy()
    refused("^A node cannot depend on itself", a.succ.add, a)
    refused("^The node was destroyed", a.succ.add, gone)
    refused("^The entry node is virtual", a.pred.add, g._entry)
    refused("^A node is given twice", a.join, a)
    refused("^A node is given twice", g.join, a, a)


def test_a_view_of_another_definition_says_so(g, kernels, stream, pinned):
    node, other = g.launch(ONE, kernels.nothing), cg.GraphDef().launch(ONE, kernels.nothing)
    graph = g.instantiate()
    changes = (
        lambda: graph[other].update(config=ONE, kernel=kernels.nothing, args=()),
        lambda: graph[other].disable(),
        lambda: graph[other].is_enabled,
    )
    for change in changes:
        error = refused("^The node belongs to another definition than the one", change)
        assert "the definition that the Graph was made from" in error.remedy
    graph[node].update(config=ONE, kernel=kernels.nothing, args=())
    graph.launch(stream)
    stream.sync()


def test_memory_errors_name_the_address_or_the_size(g):
    memory = g.alloc(64, name="memory")
    refused("^An AllocNode of 0 bytes", g.alloc, 0)
    refused(
        rf"^{memory.dptr + 4:#x} is inside the memory of AllocNode 'memory' {HERE}",
        memory.free,
        memory.dptr + 4,
    )
    error = refused("^No AllocNode of this definition has the address 0x1000", memory.free, 0x1000)
    assert "`dptr`" in error.remedy
    memory.free(memory.dptr, name="end")
    refused(
        rf"^AllocNode 'memory' {HERE} allocates .* FreeNode 'end' {HERE} frees it", memory.free, memory.dptr
    )


def test_removals_from_a_graph_that_allocates_name_the_node(g):
    memory = g.alloc(64, name="memory")
    last = memory.join()
    for remove in (last.destroy, last.pred.clear):
        error = refused(rf"cannot be removed, and the graph holds AllocNode 'memory' {HERE}", remove)
        assert "again" in error.remedy


def test_embedding_names_the_node_that_forbids_it(g):
    child = cg.GraphDef()
    child.join().if_then(child.create_condition(0), name="maybe")
    around = cg.GraphDef().embed(cg.GraphDef())
    for embed in (g.embed, around.update):
        error = refused(rf"^IfNode 'maybe' {HERE} cannot be embedded", embed, child)
        assert "directly" in error.remedy
    refused("cannot hold a copy of itself", around.update, around.graph)


def test_embedding_in_a_capture_names_the_node_that_forbids_it(device):
    with device.create_graph_builder() as child:
        child.if_then(child.create_condition(0), name="maybe")
    with device.create_graph_builder() as parent:
        refused(rf"^IfNode 'maybe' {HERE} cannot be embedded", parent.embed, child)


def test_errors_with_a_cause_can_be_copied_and_pickled(g):
    error = refused("another graph", g.if_then, cg.GraphDef().create_condition(0))
    for same in (copy.copy(error), pickle.loads(pickle.dumps(error))):
        assert (str(same), same.explanation, same.remedy) == (str(error), error.explanation, error.remedy)


# Objects of other types.


def test_an_object_in_place_of_another_names_both_types_and_what_to_do(device, g, stream):
    with device.create_graph_builder() as ended:
        pass
    graph = ended.complete()
    node = g.join()
    with device.create_graph_builder() as builder:
        cases = [
            (builder.embed, g, "child must be a GraphBuilder .*, got GraphDef: .* graph_definition"),
            (
                builder.embed,
                graph,
                "child must be a GraphBuilder .*, got Graph: an executable cannot be embedded",
            ),
            (builder.embed, node, "child must be a GraphBuilder .*, got EmptyNode"),
            (builder.embed, None, "child must be a GraphBuilder .*, got NoneType"),
            (
                builder.if_then,
                node,
                "condition must be a Condition, a flag or a predicate, got .*EmptyNode.*pass",
            ),
            (g.embed, ended, "child must be a GraphDef, got GraphBuilder: .* graph_definition"),
            (g.embed, graph, "child must be a GraphDef, got Graph: an executable cannot be embedded"),
            (g.embed, node, "child must be a GraphDef, got EmptyNode"),
            (
                g.if_then,
                g,
                "condition must be a Condition, a flag or a predicate, got .*GraphDef.*pass a flag",
            ),
            (g.while_loop, 1, "condition must be a Condition, a flag or a predicate, got 1.*pass a flag"),
            (g.join, g, "expected GraphNode, got GraphDef"),
            (g.record_event, stream, "event must be an Event, got Stream"),
            (graph.update, graph, "expected GraphBuilder or GraphDef, got Graph"),
            (graph.launch, g, "Stream or GraphBuilder expected, got GraphDef"),
        ]
        for use, value, match in cases:
            with pytest.raises(TypeError, match=match):
                use(value)
        assert builder.is_building
    assert g.nodes() == {node}


# Remedies for the state of captures.


def sync_error(stream):
    with pytest.raises(cg.CaptureError) as caught:
        stream.sync()
    assert caught.value.name == "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED"
    return caught.value


@pytest.mark.parametrize("mode", ["relaxed", "thread_local", "global"])
def test_relaxed_mode_is_advice_in_other_modes_only(mode, device, stream):
    builder = device.create_graph_builder().begin_building(mode)
    error = sync_error(builder.stream if mode == "relaxed" else stream)
    assert ("relaxed" in error.remedy) == (mode != "relaxed")
    assert "before the capture begins or after it ends" in error.remedy
    with pytest.raises(cg.CaptureError):
        builder.end_building()


def test_a_fork_by_events_is_joined_by_an_event(device, stream, kernels):
    builder = device.create_graph_builder().begin_building()
    stream.wait(builder.stream.record())
    cg.launch(stream, ONE, kernels.nothing)
    with pytest.raises(cg.CaptureError, match="UNJOINED") as caught:
        builder.end_building()
    assert "Record an event on the forked stream" in caught.value.remedy
    assert "Call GraphBuilder.join()" not in str(caught.value)
    assert "a stream that waited for an event of the capture" in caught.value.capture


def test_a_fork_by_an_event_that_is_joined_so_is_captured(device, stream, kernels):
    with device.create_graph_builder() as builder:
        stream.wait(builder.stream.record())
        cg.launch(stream, ONE, kernels.nothing)
        builder.stream.wait(stream.record())
    assert len(builder.graph_definition.nodes()) == 1


def test_a_builder_that_was_split_off_is_joined_by_join(device, kernels):
    builder = device.create_graph_builder().begin_building()
    _, fork = builder.split(2)
    cg.launch(fork, ONE, kernels.nothing)
    with pytest.raises(cg.CaptureError, match="UNJOINED") as caught:
        builder.end_building()
    assert "Call GraphBuilder.join()" in caught.value.remedy
    assert re.search(r"1 builder that split\(\) made at \S*test_causes\.py:\d+", caught.value.capture)
