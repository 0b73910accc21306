# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: a call of a graph kernel on a capturing stream adds its work to the capture, including control flow between
tasks. This holds in every mode and in captures that foreign code began. The graph keeps the objects that it needs."""

import ctypes
import gc
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

import cuda_graphs as cg
from cuda_graphs.core.resources import boxes
from tests.conftest import wait_until
from tests.kernels.graph_kernels import (
    array,
    checked,
    count_down,
    i32_0d,
    i32_1d,
    on_the_host,
    seed,
    two,
)
from tests.nested_flow import nested_flow, nested_flow_in_python

MODES = ("global", "thread_local", "relaxed")
nested = cg.kernel(nested_flow, graph=True)


@pytest.fixture
def others(driver):
    """The driver's library itself: what code outside of this package calls."""
    host = next(Path(cg.__file__).parent.glob("hostdriver/*.so"))
    library = ctypes.CDLL("libcuda.so.1" if driver.kind == "cuda" else str(host))

    def call(name, *arguments):
        assert getattr(library, name)(*arguments) == 0, name

    return call


class ForeignCapture:
    """A capture of a stream that this package does not know of, and the graph that it gave."""

    def __init__(self, call, stream):
        self.call, self.stream = call, ctypes.c_void_p(stream.handle)
        self.graph, self.exec = ctypes.c_void_p(), ctypes.c_void_p()

    @contextmanager
    def recording(self, mode):
        self.call("cuStreamBeginCapture_v2", self.stream, ctypes.c_int(MODES.index(mode)))
        try:
            yield self
        finally:
            self.call("cuStreamEndCapture", self.stream, ctypes.byref(self.graph))

    def launch(self):
        if not self.exec:
            self.call(
                "cuGraphInstantiateWithFlags", ctypes.byref(self.exec), self.graph, ctypes.c_ulonglong(0)
            )
        self.call("cuGraphLaunch", self.exec, self.stream)
        self.call("cuStreamSynchronize", self.stream)

    def destroy(self):
        if self.exec:
            self.call("cuGraphExecDestroy", self.exec)
        self.call("cuGraphDestroy", self.graph)


def kinds(definition):
    return sorted(type(node).__name__ for node in definition.nodes())


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kernel", [count_down, on_the_host, checked], ids=["conditional", "host", "debug"])
def test_a_loop_is_nodes_of_the_capture_and_runs_in_each_launch(stream, mode, kernel):
    x, c = array(np.zeros(50), cg.i32), array(0, cg.i32)
    builder = cg.Device(0).create_graph_builder().begin_building(mode)
    seed(c, 3, stream=builder)
    kernel(x, c, stream=builder)
    seed(c, 2, stream=builder)
    kernel(x, c, stream=builder)
    builder.end_building()
    definition = builder.graph_definition
    assert kinds(definition).count("WhileNode") == 2
    assert x.to_numpy().tolist() == [0] * 50  # nothing ran
    graph = builder.complete()
    for launches in (1, 2):
        graph.launch(stream)
        stream.sync()
        assert x.to_numpy().tolist() == [5 * launches] * 50


@pytest.mark.parametrize("mode", MODES)
def test_all_control_flow_between_tasks_is_captured(stream, mode):
    for rounds in (1, 4):
        x, c, d = array([0, 0, 0], cg.i32), array(rounds, cg.i32), array(0, cg.i32)
        builder = cg.Device(0).create_graph_builder().begin_building(mode)
        nested(x, c, d, stream=builder)
        builder.end_building().complete().launch(stream)
        stream.sync()
        assert x.to_numpy().tolist() == nested_flow_in_python(rounds)


def test_the_nodes_of_a_call_are_after_what_was_captured_and_before_what_follows(stream):
    x, y, n, c = array([1, 2]), array([0, 0]), array([0], cg.i32), array(2, cg.i32)
    with cg.Device(0).create_graph_builder() as builder:
        two(2.0, x, y, stream=builder)
        count_down(n, c, stream=builder)
        two(2.0, x, y, stream=builder)
    definition = builder.graph_definition
    assert len(definition.edges()) == len(definition.nodes()) - 1  # a chain
    loop = next(node for node in definition.nodes() if isinstance(node, cg.WhileNode))
    assert len(loop.pred) == len(loop.succ) == 1
    builder.complete().launch(stream)
    stream.sync()
    assert n.to_numpy().tolist() == [2]
    assert y.to_numpy().tolist() == [2 + 2 * 3, 4 + 2 * 5]


def test_branches_and_bodies_of_a_capture_take_graph_kernels(stream):
    x, y, c, d, e = *(array([0], cg.i32) for _ in range(2)), *(array(0, cg.i32) for _ in range(3))

    with cg.Device(0).create_graph_builder() as builder:
        first, second = builder.split(2)
        seed(c, 3, stream=first)
        count_down(x, c, stream=first)
        seed(d, 4, stream=second)
        count_down(y, d, stream=second)
        both = cg.GraphBuilder.join(first, second)
        body = both.if_then(both.create_condition(default_value=1))
        with body:
            seed(e, 5, stream=body)
            count_down(x, e, stream=body)
    builder.complete().launch(stream)
    stream.sync()
    assert (x.to_numpy()[0], y.to_numpy()[0]) == (8, 4)


def test_a_captured_graph_keeps_what_a_call_needs(stream):
    x = array([0, 0], cg.i32)

    def capture():
        @cg.kernel(graph=True)
        def add(x: i32_1d, amounts: i32_1d, c: i32_0d):
            total = 0
            while cg.graph_do_while(c):
                for i in amounts:
                    total += amounts[i]
                for i in x:
                    x[i] += total
                c[()] -= 1

        amounts, c = array([1, 2, 3], cg.i32), array(2, cg.i32)
        with cg.Device(0).create_graph_builder() as builder:
            add(x, amounts, c, stream=builder)
        return builder.complete()

    graph = capture()
    gc.collect()
    graph.launch(stream)
    stream.sync()
    assert x.to_numpy().tolist() == [6 + 12] * 2


@pytest.mark.parametrize("mode", MODES)
def test_captures_that_others_began_take_graph_kernels(others, stream, mode):
    """The driver's graph keeps the objects that the kernels need, when no other object of this package is alive."""
    before, x = boxes.live(), array(np.zeros(5), cg.i32)
    foreign = ForeignCapture(others, stream)

    def capture(x):
        @cg.kernel(graph=True)
        def add(x: i32_1d, amounts: i32_1d, c: i32_0d):
            left = c[()]
            while cg.graph_while(left > 0):
                for i in amounts:
                    x[i] += amounts[i]
                left -= 1

        c, amounts = array(3, cg.i32), array(np.arange(5), cg.i32)
        with foreign.recording(mode):
            add(x, amounts, c, stream=stream)
            add(x, amounts, c, stream=stream)
        assert not add.graph_stats.replayed

    capture(x)
    gc.collect()
    for launches in (1, 2):
        foreign.launch()
        np.testing.assert_array_equal(x.to_numpy(), 6 * launches * np.arange(5))
    foreign.destroy()
    del x
    gc.collect()
    cg.Device(0).sync()  # a driver ends what graphs owned in a thread of its own
    assert wait_until(
        lambda: all(n <= before[kind] for kind, n in boxes.live().items() if kind != "context")
    ), boxes.live()


@pytest.mark.parametrize("kernel", [count_down, on_the_host, checked], ids=["conditional", "host", "debug"])
def test_captures_of_others_take_every_lowering(others, stream, kernel):
    x, c = array([0], cg.i32), array(1, cg.i32)
    kernel(x, c, stream=stream)  # as it is used before
    stream.sync()
    foreign = ForeignCapture(others, stream)
    with foreign.recording("global"):
        seed(c, 4, stream=stream)
        kernel(x, c, stream=stream)
    foreign.launch()
    foreign.destroy()
    assert x.to_numpy().tolist() == [5]
    c.fill(2)
    kernel(x, c, stream=stream)  # and after
    stream.sync()
    assert x.to_numpy().tolist() == [7]
    del foreign


def test_straight_graph_kernels_go_into_captures_of_others_too(others, stream):
    foreign, x, y = ForeignCapture(others, stream), array([1, 2]), array([0, 0])
    with foreign.recording("thread_local"):
        two(2.0, x, y, stream=stream)
    foreign.launch()
    foreign.destroy()
    assert y.to_numpy().tolist() == [2, 4]


def test_a_capture_without_anything_yet_and_forks_of_others_take_loops(others, stream):
    """The nodes are after what the stream waits for, which may be several nodes."""
    x, y, z = (array([0], cg.i32) for _ in range(3))
    c, d, e = (array(0, cg.i32) for _ in range(3))
    other = cg.Device(0).create_stream()
    foreign = ForeignCapture(others, stream)
    with foreign.recording("relaxed"):
        seed(c, 1, stream=stream)
        other.wait(stream)
        seed(d, 2, stream=stream)
        count_down(x, d, stream=stream)
        seed(e, 3, stream=other)
        count_down(y, e, stream=other)
        stream.wait(other)
        count_down(z, c, stream=stream)
    for launches in (1, 2):
        foreign.launch()
        found = [int(each.to_numpy()[0]) for each in (x, y, z)]
        assert found == [2 * launches, 3 * launches, launches]
    foreign.destroy()


def test_a_refused_call_captures_nothing(stream):
    x, y, c = array([1, 2]), array([0, 0]), array(1, cg.i32)
    with cg.Device(0).create_graph_builder() as builder:
        with pytest.raises(TypeError):
            count_down(x, c, stream=builder)  # x is of f32
        two(1.0, x, y, stream=builder)
    assert kinds(builder.graph_definition) == ["KernelNode"] * 2


def test_a_spoiled_capture_is_told_and_nothing_is_left(others, stream):
    x, c = array([0], cg.i32), array(1, cg.i32)
    before = boxes.live()
    builder = stream.create_graph_builder().begin_building()
    count_down(x, c, stream=builder)
    with pytest.raises(cg.CaptureError):
        stream.sync()
    with pytest.raises(cg.CaptureError):
        count_down(x, c, stream=builder)
    with pytest.raises(cg.CaptureError):
        builder.close()
    count_down.forget()
    count_down(x, c, stream=stream)
    stream.sync()
    assert x.to_numpy().tolist() == [1]
    count_down.forget()
    gc.collect()
    boxes.drain()
    assert boxes.live()["graph"] <= before["graph"]


def test_arrays_of_the_host_are_refused_where_they_would_have_to_be_copied(driver, stream):
    if driver.kind == "host":
        pytest.skip("the host driver uses them where they are")
    x = np.zeros(2, "f4")
    with cg.Device(0).create_graph_builder() as builder, pytest.raises((TypeError, ValueError), match="x"):
        two(1.0, x, x, stream=builder)


def test_a_call_in_a_definition_may_be_in_every_kind_of_body(stream):
    """In bodies of while, if, else and switch nodes, and in bodies of these."""
    x, c = array([0, 0], cg.i32), array(0, cg.i32)
    g = cg.GraphDef()
    branches = g.if_else(g.create_condition(default_value=1))
    cases = branches.then.switch(g.create_condition(default_value=1), 2)
    inner = cases.branches[1].if_then(g.create_condition(default_value=1))
    inner.then.call(seed, c, 3).call(count_down, x, c)
    branches.else_.call(seed, c, 100).call(count_down, x, c)
    cases.branches[0].call(seed, c, 1000).call(count_down, x, c)
    graph = g.instantiate()
    for launches in (1, 2):
        graph.launch(stream)
        stream.sync()
        assert x.to_numpy().tolist() == [3 * launches] * 2


def test_a_call_without_loops_may_be_in_an_embedded_graph(stream):
    x, y = array([1, 2]), array([0, 0])
    child = cg.GraphDef()
    child.call(two, 2.0, x, y)
    g = cg.GraphDef()
    g.embed(child).call(two, 2.0, x, y)
    g.instantiate().launch(stream)
    stream.sync()
    assert y.to_numpy().tolist() == [2 + 2 * 3, 4 + 2 * 5]
