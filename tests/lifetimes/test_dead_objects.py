# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: what was destroyed or closed says so in every method and wherever it is passed, and nothing is changed by it."""

from functools import partial

import pytest

import cuda_graphs as cg
from cuda_graphs.core.resources import boxes
from tests.graph.calls import BUILDERS, GOOD, call, needs
from tests.graph.graph_specs import SPECS
from tests.graph_rig import ONE
from tests.thread_rig import side_by_side

__all__ = ["needs"]

OF_DEFINITIONS = [name for name in GOOD if name not in BUILDERS] + ["nodes", "edges"]
GONE = "GraphDef is no longer valid: the node around it has been destroyed"


def use(place, method, needs):
    if method in GOOD:
        return call(place, method, needs)
    return getattr(place, method)()


@pytest.mark.parametrize("method", BUILDERS)
def test_nothing_is_added_after_a_destroyed_node(method, needs):
    other = cg.GraphDef()
    node = other.join()
    node.destroy()
    needs.node, needs.memory = other.join(), other.alloc(64)
    before = other.nodes()
    with pytest.raises(RuntimeError, match=r"has been destroyed"):
        use(node, method, needs)
    assert other.nodes() == before


@pytest.fixture
def inside(device):
    """A body and a node in it, of a conditional node that was destroyed; and the same of an embedded graph."""
    g, child = cg.GraphDef(), cg.GraphDef()
    child.join()
    loop, embedded = g.while_loop(g.create_condition(0)), g.embed(child)
    body, copy = loop.body, embedded.child_graph
    nodes = [body.join(), *copy.nodes()]
    loop.destroy()
    embedded.destroy()
    return [body, copy], nodes


@pytest.mark.parametrize("method", BUILDERS + OF_DEFINITIONS)
def test_every_method_of_a_graph_that_was_destroyed_with_its_node_says_so(method, inside, needs):
    for graph in inside[0]:
        with pytest.raises(RuntimeError, match=GONE):
            use(graph, method, needs)


@pytest.mark.parametrize("method", BUILDERS)
def test_every_method_of_a_node_in_a_destroyed_graph_says_so(method, inside, needs):
    for node in inside[1]:
        with pytest.raises(RuntimeError, match=GONE):
            use(node, method, needs)


def test_properties_of_destroyed_objects_raise_nothing(inside):
    graphs, nodes = inside
    for graph in graphs:
        assert (graph.handle, graph.is_valid) == (0, False)
        assert graph == graph
        assert hash(graph) == hash(graph)
        assert graph._entry.pred == set() == graph._entry.succ
        assert isinstance(repr(graph), str)
    for node in nodes:
        assert (node.handle, node.type, node.is_valid) == (None, None, False)
        assert node.pred == set() == node.succ
        assert node.graph in graphs
        assert isinstance(repr(node), str)
        node.destroy()
        assert {node: 1}[node] == 1


NOT_IN_BODIES = (
    cg.AllocNode,
    cg.FreeNode,
    cg.EventRecordNode,
    cg.EventWaitNode,
    cg.HostCallbackNode,
)  # a rule of CUDA


@pytest.mark.parametrize("spec", [s for s in SPECS if s.cls not in NOT_IN_BODIES], ids=lambda spec: spec.name)
def test_every_property_of_a_node_that_went_with_its_graph_is_an_answer_or_says_so(spec, spec_needs):
    outer = spec_needs.definition.while_loop(spec_needs.condition())
    node = spec.make(outer.body, spec_needs)
    outer.destroy()
    answers = {"type", "graph", "handle", "is_valid", "pred", "succ", "name", "source", "reads", "writes"}
    for name in dir(type(node)):
        if name.startswith("_") or callable(getattr(type(node), name)):
            continue
        if name in answers:
            getattr(node, name)
        else:
            with pytest.raises(RuntimeError, match=GONE):
                getattr(node, name)


EDGE_CHANGES = {
    "add": lambda dead, other, direction: getattr(dead, direction).add(other),
    "update": lambda dead, other, direction: getattr(dead, direction).update([other]),
    "assign": lambda dead, other, direction: setattr(dead, direction, [other]),
    "of_the_other": lambda dead, other, direction: getattr(other, direction).add(dead),
}


@pytest.mark.parametrize("change", EDGE_CHANGES)
@pytest.mark.parametrize("direction", ["pred", "succ"])
def test_a_destroyed_node_has_no_edges_to_change(change, direction, device):
    g = cg.GraphDef()
    dead, other, third = g.join(), g.join(), g.join()
    third.pred = [other]
    dead.destroy()
    with pytest.raises(cg.CUDAError, match="CUDA_ERROR_INVALID_VALUE"):
        EDGE_CHANGES[change](dead, other, direction)
    getattr(other, direction).discard(dead)
    assert dead not in getattr(other, direction)
    assert g.edges() == {(other, third)}


@pytest.mark.parametrize(
    "use",
    [
        lambda g, n: g.join(n.dead),
        lambda g, n: n.dead.join(),
        lambda g, n: g.embed(n.dead_graph),
        lambda g, n: n.dead_graph.instantiate(),
    ],
)
def test_destroyed_object_is_refused_as_an_argument(use, inside, device):
    class Dead:
        dead_graph = inside[0][0]

    g = cg.GraphDef()
    Dead.dead = g.join()
    Dead.dead.destroy()
    with pytest.raises(RuntimeError, match="destroyed"):
        use(g, Dead)
    assert g.nodes() == set()


def test_a_condition_of_a_definition_that_is_gone_is_refused(device):
    condition = cg.GraphDef().create_condition(0)
    g = cg.GraphDef()
    with pytest.raises(cg.CUDAError):
        g.if_then(condition)
    assert g.nodes() == set()


# What was closed.

CLOSED = {
    "record_event": (lambda g, n: g.record_event(n.event), RuntimeError, "Event has been closed"),
    "wait_event": (lambda g, n: g.wait_event(n.event), RuntimeError, "Event has been closed"),
    "memset": (lambda g, n: g.memset(n.buffer, 0, 1), ValueError, "dst .*no active allocation"),
    "memcpy_to": (lambda g, n: g.memcpy(n.buffer, n.address, 1), ValueError, "dst .*no active allocation"),
    "memcpy_from": (lambda g, n: g.memcpy(n.address, n.buffer, 1), ValueError, "src .*no active allocation"),
    "launch": (
        lambda g, n: g.launch(ONE, n.kernels.affine, n.buffer, 1, 1),
        cg.ClosedBufferError,
        "parameter 0 of kernel 'affine' .*no active allocation",
    ),
    "upload_stream": (
        lambda g, n: g.instantiate(upload_stream=n.stream),
        RuntimeError,
        "Stream has been closed",
    ),
}


@pytest.mark.parametrize("case", CLOSED)
def test_closed_object_is_refused_as_an_argument(case, needs, device):
    use, error, message = CLOSED[case]
    needs.buffer, needs.stream = device.allocate(64), device.create_stream()
    for thing in (needs.event, needs.buffer, needs.stream):
        thing.close()
    g = cg.GraphDef()
    before = boxes.live()
    with pytest.raises(error, match=message):
        use(g, needs)
    assert g.nodes() == set()
    assert boxes.live() == before


def test_a_closed_executable_says_so_in_every_method(stream, device):
    graph = cg.GraphDef().instantiate()
    graph.close()
    graph.close()
    assert (graph.is_closed, graph.handle, bool(graph)) == (True, 0, True)
    for method in (graph.launch, graph.upload):
        with pytest.raises(RuntimeError, match="Graph has been closed"):
            method(stream)
    assert graph == graph
    assert repr(graph) == "<Graph handle=0x0>"


@pytest.mark.parametrize("method", ["launch", "upload"])
def test_a_closed_stream_is_refused_by_executables(method, device):
    stream, graph = device.create_stream(), cg.GraphDef().instantiate()
    stream.close()
    with pytest.raises(RuntimeError, match="Stream has been closed"):
        getattr(graph, method)(stream)


# Threads.


def test_different_graphs_are_instantiated_and_launched_side_by_side(kernels, pinned):
    x = pinned(8, "u4")
    definitions = [cg.GraphDef() for _ in range(8)]
    for i, g in enumerate(definitions):
        node = g._entry
        for _ in range(5):
            node = node.launch(ONE, kernels.affine, x[i:].ctypes.data, 1, i + 1)

    def work(i):
        stream = cg.Device(0).create_stream()
        for _ in range(10):
            graph = definitions[i].instantiate()
            graph.launch(stream)
            graph.launch(stream)
            graph.close()
        stream.sync()

    side_by_side(*(partial(work, i) for i in range(8)))
    assert x.tolist() == [100 * (i + 1) for i in range(8)]


def test_launches_of_an_executable_by_many_threads_do_not_overlap(kernels, pinned):
    """Each adds one to the same number, which would lose some if two ran at once."""
    x = pinned(1, "u4")
    g = cg.GraphDef()
    g.launch(ONE, kernels.affine, x.ctypes.data, 1, 1)
    graph = g.instantiate()

    def work(i):
        stream = cg.Device(0).create_stream()
        for _ in range(50):
            graph.launch(stream)
        stream.sync()

    side_by_side(*(partial(work, i) for i in range(8)))
    assert x[0] == 400


def test_closing_while_others_launch_is_a_launch_or_a_clear_error(kernels, pinned):
    x, launches, refusals = pinned(1, "u4"), [], set()
    g = cg.GraphDef()
    g.launch(ONE, kernels.affine, x.ctypes.data, 1, 1)
    for _ in range(10):
        graph = g.instantiate()

        def work(i, graph=graph):
            stream = cg.Device(0).create_stream()
            if i == 0:
                graph.close()
                return
            try:
                for _ in range(20):
                    graph.launch(stream)
                    launches.append(1)
            except RuntimeError as error:  # whether it is raised is chance
                refusals.add(str(error))
            stream.sync()

        side_by_side(*(partial(work, i) for i in range(4)))
    assert x[0] == len(launches)
    assert refusals <= {"Graph has been closed"}
