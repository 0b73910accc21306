# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: a node that the body of a conditional node may not hold is refused when it is added. The error names the node,
its line, the conditional node and what to do; the graph does not change."""

import pytest

import cuda_graphs as cg
from tests.graph_rig import ONE


class Rig:
    def __init__(self, device, kernels, pinned):
        self.device, self.event, self.kernels, self.x = device, device.create_event(), kernels, pinned([0])


@pytest.fixture
def rig(device, kernels, pinned):
    return Rig(device, kernels, pinned)


# Kind -> (adds the node, the beginning of the remedy).
REFUSED = {
    "AllocNode": (lambda p, rig, **name: p.alloc(4, **name), "Allocate the memory before"),
    "FreeNode": (lambda p, rig, **name: p.free(1 << 20, **name), "Free the memory after"),
    "HostCallbackNode": (lambda p, rig, **name: p.callback(int, **name), "Call the function before or after"),
    "EventRecordNode": (
        lambda p, rig, **name: p.record_event(rig.event, **name),
        "Record the event before or after",
    ),
    "EventWaitNode": (
        lambda p, rig, **name: p.wait_event(rig.event, **name),
        "Wait for the event before or after",
    ),
}

BODIES = {
    "IfNode": lambda g: g.if_then(g.create_condition(0), name="decides").then,
    "IfElseNode": lambda g: g.if_else(g.create_condition(0), name="decides").else_,
    "WhileNode": lambda g: g.while_loop(g.create_condition(0), name="decides").body,
    "SwitchNode": lambda g: g.switch(g.create_condition(0), 2, name="decides").branches[1],
}


def assert_refused(error, kind, holder, name="bad"):
    text = str(error)
    assert text.startswith(f"{kind} {name!r} ({__file__}:" if name else f"{kind} ({__file__}:")
    assert f" cannot be in a body of {holder} 'decides' ({__file__}:" in text
    assert "bodies hold kernel, empty, memset, memcpy, child graph and conditional nodes only" in text
    assert f"{REFUSED[kind][1]} {holder} 'decides'" in text


@pytest.mark.parametrize("holder", BODIES)
@pytest.mark.parametrize("kind", REFUSED)
def test_a_node_is_refused_in_every_kind_of_body(kind, holder, rig):
    g = cg.GraphDef()
    body = BODIES[holder](g)
    first = body.join()
    for place in (body, first):
        with pytest.raises(ValueError, match=kind) as caught:
            REFUSED[kind][0](place, rig, name="bad")
        assert_refused(caught.value, kind, holder)
    assert body.nodes() == {first}
    g.instantiate()


def test_the_line_is_that_of_the_call(rig):
    body = BODIES["WhileNode"](cg.GraphDef())
    with pytest.raises(ValueError, match="AllocNode") as caught:
        body.alloc(4)
    where = f"{__file__}:{caught.traceback[0].lineno + 1}"
    assert str(caught.value).startswith(f"AllocNode ({where}) cannot be in a body of WhileNode")


@pytest.mark.parametrize("kind", REFUSED)
def test_the_remedy_names_the_outermost_conditional_node(kind, rig):
    g = cg.GraphDef()
    outer = g.if_then(g.create_condition(0), name="outer")
    inner = outer.then.while_loop(g.create_condition(0), name="inner")
    with pytest.raises(ValueError, match="cannot be in a body of WhileNode 'inner'") as caught:
        REFUSED[kind][0](inner.body, rig)
    assert f"{REFUSED[kind][1]} IfNode 'outer'" in str(caught.value)
    assert inner.body.nodes() == set()


@pytest.mark.parametrize("kind", REFUSED)
def test_a_graph_that_is_embedded_in_a_body_is_like_the_body(kind, rig):
    g = cg.GraphDef()
    child = cg.GraphDef()
    child.join()
    inner = BODIES["WhileNode"](g).embed(child).child_graph
    with pytest.raises(ValueError, match=kind) as caught:
        REFUSED[kind][0](inner, rig, name="bad")
    assert_refused(caught.value, kind, "WhileNode")
    assert len(inner.nodes()) == 1
    child.callback(int)  # the source is a definition of its own


HOST_KINDS = ("HostCallbackNode", "EventRecordNode", "EventWaitNode")


@pytest.mark.parametrize("levels", [0, 2])
@pytest.mark.parametrize("kind", HOST_KINDS)
def test_a_copy_that_holds_such_a_node_is_refused(kind, levels, rig):
    child = cg.GraphDef()
    REFUSED[kind][0](child, rig, name="bad")
    for _ in range(levels):
        around = cg.GraphDef()
        around.embed(child)
        child = around
    g = cg.GraphDef()
    body = BODIES["IfNode"](g)
    good = cg.GraphDef()
    good.join()
    node = body.embed(good)
    for embed in (body.embed, node.embed, node.update):
        with pytest.raises(
            ValueError, match=rf"it holds {kind} 'bad' \(.*test_body_rules\.py:\d+\)"
        ) as caught:
            embed(child)
        assert "cannot be embedded in a body of IfNode 'decides'" in str(caught.value)
        assert "Move that node before or after IfNode 'decides'" in str(caught.value)
    assert body.nodes() == {node}
    assert len(node.child_graph.nodes()) == 1
    assert g.embed(child).is_valid  # outside of bodies


def test_allowed_kinds_are_added_and_run(rig, stream):
    g = cg.GraphDef()
    body = g.if_then(g.create_condition(1)).then
    child = cg.GraphDef()
    child.launch(ONE, rig.kernels.add, rig.x.ctypes.data, 1, 2)
    last = body.memset(rig.x.ctypes.data, 1, 4).join().embed(child)
    last.if_then(g.create_condition(1)).then.launch(ONE, rig.kernels.add, rig.x.ctypes.data, 1, 5)
    g.instantiate().launch(stream)
    stream.sync()
    assert rig.x[0] == 0x01010101 + 7


# Captures into bodies.


@pytest.fixture
def bodies(device):
    """A builder of a body that captures, a builder that was split from it, and the builder of the whole."""
    builder = device.create_graph_builder().begin_building()
    body = builder.while_loop(builder.create_condition(0), name="decides").begin_building()
    return *body.split(2), builder


CAPTURED = {
    "HostCallbackNode": lambda b, rig: b.callback(int),
    "AllocNode": lambda b, rig: cg.GraphMemoryResource(rig.device).allocate(4, stream=b),
}


@pytest.mark.parametrize("kind", CAPTURED)
def test_a_captured_node_is_refused_and_the_capture_goes_on(kind, bodies, rig, stream):
    body, fork, builder = bodies
    for each in (body, fork):
        with pytest.raises(ValueError, match=kind) as caught:
            CAPTURED[kind](each, rig)
        assert_refused(caught.value, kind, "WhileNode", None)
    cg.launch(body, ONE, rig.kernels.nothing)
    cg.GraphBuilder.join(body, fork).end_building()
    assert len(body.graph_definition.nodes()) == 1
    builder.end_building().complete().launch(stream)
    stream.sync()


def test_a_captured_callback_is_refused_with_its_name(bodies, rig):
    with pytest.raises(ValueError, match=r"^HostCallbackNode 'bad' \(.*test_body_rules\.py:\d+\) cannot be"):
        bodies[0].callback(int, name="bad")
    cg.GraphBuilder.join(*bodies[:2]).end_building()
    bodies[2].end_building()


def test_a_captured_free_is_refused_and_the_buffer_stays(device, rig, stream):
    with device.create_graph_builder() as builder:
        buffer = cg.GraphMemoryResource(device).allocate(4, stream=builder)
        with builder.if_then(builder.create_condition(1), name="decides") as body:
            with pytest.raises(ValueError, match="FreeNode") as caught:
                buffer.close(stream=body)
            assert_refused(caught.value, "FreeNode", "IfNode", None)
            assert not buffer.is_closed
            cg.launch(body, ONE, rig.kernels.add, buffer, 1, 1)
        buffer.close(stream=builder)
    builder.complete().launch(stream)
    stream.sync()


def test_a_builder_with_such_a_node_is_not_embedded_in_a_body(bodies, device):
    with device.create_graph_builder() as child:
        child.callback(int, name="bad")
    with pytest.raises(ValueError, match=r"it holds HostCallbackNode 'bad' \(.*test_body_rules\.py:\d+\)"):
        bodies[0].embed(child)
    assert bodies[0].is_building
    cg.GraphBuilder.join(*bodies[:2]).end_building()
    bodies[2].embed(child)
    assert len(bodies[2].end_building().graph_definition.nodes()) == 2


def test_the_explicit_graph_of_a_captured_body_is_a_body(device, rig):
    with device.create_graph_builder() as builder:
        body = builder.if_then(builder.create_condition(0), name="decides")
        with pytest.raises(ValueError, match="AllocNode") as caught:
            body.graph_definition.alloc(4)
        assert_refused(caught.value, "AllocNode", "IfNode", None)
