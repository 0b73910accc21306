# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: bodies of conditional nodes are captured like any graph, and run as often as their condition says."""

import gc

import numpy as np
import pytest

import cuda_graphs as cg
from cuda_graphs.graph.capture import builder_nodes
from tests.graph_rig import ONE


@pytest.fixture
def add(kernels):
    return lambda stream, x, index, amount: cg.launch(
        stream, ONE, kernels.add, x.ctypes.data + 4 * index, 1, amount
    )


def finish(builder, stream, times=1):
    graph = builder.end_building().complete() if builder.state == "capturing" else builder.complete()
    for _ in range(times):
        graph.launch(stream)
    stream.sync()
    return graph


def set_to(builder, kernels, condition, x, index):
    cg.launch(builder, ONE, kernels.set_from, condition, x.ctypes.data + 4 * index)


@pytest.mark.parametrize("value", [0, 1, 7])
def test_if(value, capturing, kernels, pinned, add, stream):
    x = pinned([value, 0, 0])
    condition = capturing.create_condition()
    set_to(capturing, kernels, condition, x, 0)
    with capturing.if_then(condition) as body:
        add(body, x, 1, 1)
    add(capturing, x, 2, x.size)
    finish(capturing, stream)
    assert list(x) == [value, int(value != 0), 3]


@pytest.mark.parametrize("value", [0, 1, 7])
def test_if_else(value, capturing, kernels, pinned, add, stream):
    x = pinned([value, 0])
    condition = capturing.create_condition()
    set_to(capturing, kernels, condition, x, 0)
    then, other = capturing.if_else(condition)
    with other:
        add(other, x, 1, 20)
    with then:
        add(then, x, 1, 10)
    finish(capturing, stream)
    assert x[1] == (10 if value else 20)


@pytest.mark.parametrize("value", [0, 1, 2, 3, 99])
@pytest.mark.parametrize("count", [1, 3])
def test_switch(value, count, capturing, kernels, pinned, add, stream):
    x = pinned([value, 0, 0, 0])
    condition = capturing.create_condition()
    set_to(capturing, kernels, condition, x, 0)
    for i, body in enumerate(capturing.switch(condition, count)):
        with body:
            add(body, x, 1 + i, 5)
    finish(capturing, stream)
    assert list(x[1:]) == [5 * (value == i and i < count) for i in range(3)]


@pytest.mark.parametrize(("default", "runs"), [(1, 10), (True, 10), (0, 0), (False, 0)])
def test_while(default, runs, capturing, kernels, pinned, add, stream):
    x = pinned([10, 0])
    condition = capturing.create_condition(default)
    with capturing.while_loop(condition) as body:
        add(body, x, 1, 2)
        cg.launch(body, ONE, kernels.count_down, condition, x.ctypes.data)
    finish(capturing, stream)
    assert x[1] == 2 * runs


def test_a_default_counts_at_each_launch(capturing, kernels, pinned, add, stream):
    x = pinned([0])
    condition = capturing.create_condition(1)
    with capturing.if_then(condition) as body:
        add(body, x, 0, 1)
        cg.launch(body, ONE, kernels.set, condition, 0)
    finish(capturing, stream, times=3)
    assert x[0] == 3


def test_bodies_nest(capturing, kernels, pinned, add, stream):
    x = pinned([3, 0])
    outer = capturing.create_condition(1)
    with capturing.while_loop(outer) as loop:
        inner = loop.create_condition(1)
        cg.launch(loop, ONE, kernels.set, inner, 1)
        with loop.if_then(inner) as body:
            add(body, x, 1, 7)
        cg.launch(loop, ONE, kernels.count_down, outer, x.ctypes.data)
    finish(capturing, stream)
    assert x[1] == 21


def test_a_body_may_be_explicit_or_captured_or_both(capturing, kernels, pinned, add, stream):
    x = pinned([0, 0, 0])
    explicit, mixed = capturing.if_else(capturing.create_condition(1))
    explicit.graph_definition.launch(ONE, kernels.add, x.ctypes.data, 1, 1)
    assert len(explicit.graph_definition.nodes()) == 1
    mixed.graph_definition.launch(ONE, kernels.add, x.ctypes.data + 4, 1, 1)
    with mixed:
        add(mixed, x, 2, 1)
    captured = [n for n in mixed.graph_definition.nodes() if n.source and "test_conditions" in n.source]
    assert len(mixed.graph_definition.nodes()) == len(captured) == 2
    assert all(not n.pred for n in captured)  # what is captured does not depend on what was there
    finish(capturing, stream)
    assert list(x) == [1, 0, 0]


def test_explicit_nodes_go_on_from_captured_ones(capturing, kernels, pinned, add, stream):
    x = pinned([1], "u4")
    cg.launch(capturing, ONE, kernels.affine, x.ctypes.data, 3, 1)
    capturing.end_building()
    (node,) = capturing.graph_definition.nodes()
    assert type(node) is cg.KernelNode
    assert node.kernel == kernels.affine
    node.launch(ONE, kernels.affine, x.ctypes.data, 5, 2)
    finish(capturing, stream)
    assert x[0] == (1 * 3 + 1) * 5 + 2


def test_bodies_begin_and_end_in_any_order(capturing, kernels, pinned, add, stream):
    x = pinned([0, 0, 0])
    bodies = capturing.switch(capturing.create_condition(2), 3)
    for body in bodies:
        body.begin_building()
    for i in (2, 0, 1):
        add(bodies[i], x, i, 1)
    capturing.end_building()
    with pytest.raises(RuntimeError, match="still being captured"):
        capturing.complete()
    for i in (1, 2, 0):
        bodies[i].end_building()
    finish(capturing, stream)
    assert list(x) == [0, 0, 1]


def test_an_empty_body_does_nothing(capturing, kernels, pinned, stream):
    x = pinned([1], "u4")
    cg.launch(capturing, ONE, kernels.affine, x.ctypes.data, 3, 1)
    capturing.if_then(capturing.create_condition(1))
    cg.launch(capturing, ONE, kernels.affine, x.ctypes.data, 5, 2)
    finish(capturing, stream)
    assert x[0] == (1 * 3 + 1) * 5 + 2


def test_a_definition_of_a_builder_is_no_copy_and_outlives_it(capturing, kernels, stream):
    body = capturing.while_loop(capturing.create_condition(0))
    capturing.end_building()
    definition, inner = capturing.graph_definition, body.graph_definition
    assert definition == capturing.graph_definition
    assert inner == body.graph_definition
    capturing.close()
    body.close()
    inner.launch(ONE, kernels.nothing)
    (loop,) = definition.nodes()
    assert type(loop) is cg.WhileNode
    assert loop.body == inner
    del definition, loop, capturing, body
    gc.collect()
    assert len(inner.nodes()) == 1  # it keeps the graph that it is in


def test_a_body_of_a_fork_keeps_the_whole_graph(device, kernels, stream):
    primary = device.create_graph_builder().begin_building()
    _, fork = primary.split(2)
    bodies = [
        fork.if_then(fork.create_condition(0)),
        fork.while_loop(fork.create_condition(0)),
        *fork.switch(fork.create_condition(0), 2),
    ]
    with bodies[0]:
        cg.launch(bodies[0], ONE, kernels.nothing)
    cg.GraphBuilder.join(primary, fork).end_building()
    graph = primary.complete()
    primary.close()
    del primary, fork
    gc.collect()
    assert [len(body.graph_definition.nodes()) for body in bodies] == [1, 0, 0, 0]
    graph.launch(stream)
    stream.sync()


def test_a_condition_of_another_graph_is_refused_by_the_driver(capturing, device, driver):
    other = device.create_graph_builder().begin_building()
    condition = other.create_condition()
    with pytest.raises(cg.CUDAError):
        capturing.if_then(condition)
    other.if_then(condition)
    with pytest.raises(cg.CUDAError):
        other.while_loop(condition)  # it has a node already


def test_a_condition_without_a_node_is_reported_by_the_instantiation(capturing):
    capturing.create_condition()
    capturing.end_building()
    with pytest.raises(cg.GraphInstantiateError, match="belongs to no conditional node"):
        capturing.complete()


def test_a_switch_of_no_bodies_is_refused(capturing):
    with pytest.raises(cg.CUDAError):
        capturing.switch(capturing.create_condition(), 0)


@pytest.mark.parametrize("count", ["1", 1.5, None])
def test_the_count_of_a_switch_is_an_int(count, capturing):
    with pytest.raises(TypeError, match="count must be an int"):
        capturing.switch(capturing.create_condition(), count)


OLD = [
    ("create_condition", (12, 2), "conditional handles", lambda b, c: b.create_condition()),
    ("if_then", (12, 2), "conditional if", lambda b, c: b.if_then(c)),
    ("if_else", (12, 7), "conditional if-else", lambda b, c: b.if_else(c)),
    ("while_loop", (12, 2), "conditional while loop", lambda b, c: b.while_loop(c)),
    ("switch", (12, 7), "conditional switch", lambda b, c: b.switch(c, 2)),
]


@pytest.mark.parametrize(("member", "version", "what", "call"), OLD, ids=[row[0] for row in OLD])
def test_a_driver_that_is_too_old_is_named(member, version, what, call, capturing, monkeypatch):
    condition = capturing.create_condition()
    monkeypatch.setattr(builder_nodes, "driver_version", lambda: version)
    text = rf"^Driver version {version[0]}\.{version[1]} does not support {what}$"
    with pytest.raises(RuntimeError, match=text):
        call(capturing, condition)


def test_an_exception_in_a_body_spoils_the_graph_and_nothing_else(capturing, kernels, stream):
    body = capturing.if_then(capturing.create_condition(1))

    def fail():
        with body:
            cg.launch(body, ONE, kernels.nothing)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert body.is_closed
    cg.launch(capturing, ONE, kernels.nothing)
    capturing.end_building()
    with pytest.raises(RuntimeError, match=r"a capture into the body .* was abandoned or invalidated"):
        capturing.complete()
    np.testing.assert_equal(len(capturing.graph_definition.nodes()), 2)


class Ending:
    """A number that ends the capture when it is looked at."""

    def __init__(self, end):
        self.end = end

    def __index__(self):
        self.end()
        return 2


@pytest.mark.parametrize("end", ["close", "end_building"])
@pytest.mark.parametrize(
    ("method", "before"), [("switch", True), ("create_condition", False), ("split", False)], ids=str
)
def test_an_argument_that_ends_the_capture_is_too_late_for_it(method, before, end, capturing):
    arguments = [capturing.create_condition(0)] if before else []
    with pytest.raises(RuntimeError, match=r"captur|has been closed"):
        getattr(capturing, method)(*arguments, Ending(getattr(capturing, end)))
    assert capturing.state == {"close": "closed", "end_building": "ended"}[end]
