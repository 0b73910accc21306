# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: `capture_call` adds the work of a function as one node, whose launches do what a call does. The graph and its
executables keep what the function needs. The stream of the call lives longer than these, because libraries remember it.
A refused call adds nothing."""

import gc
import itertools
import weakref

import numpy as np
import pytest

import cuda_graphs as cg
from cuda_graphs.core.resources import boxes
from cuda_graphs.graph.capture import call_streams

Floats = cg.Array1[cg.f32]


@cg.kernel
def add(x: Floats, amount: cg.f32):
    for i in x:
        x[i] += amount


@pytest.fixture(scope="module", autouse=True)
def loaded():
    """The code of the kernel, which stays until the process ends."""
    cg.Device().set_current()
    add(cg.ndarray(cg.f32, 1), 1.0)
    cg.Device().sync()


@pytest.fixture
def x(device):
    return cg.array(np.zeros(4, np.float32))


def launched(definition, stream, times=1):
    graph = definition.instantiate()
    for _ in range(times):
        graph.launch(stream)
    stream.sync()
    return graph


def test_a_launch_does_the_work_of_the_call_and_the_first_call_warms_up(x, stream):
    calls = []

    def library(x, *, amount):
        calls.append(cg.current_stream())
        add(x, amount)
        add(x, amount)
        return x

    g = cg.GraphDef()
    node, result = g.capture_call(library, x, amount=2.0, name="library")
    assert len(calls) == 2 and calls[0] == calls[1]  # one stream: what a library keeps for a stream is there
    assert result is x and x.to_numpy().tolist() == [4] * 4
    assert (node.name, len(g.nodes()), len(node.child_graph.nodes())) == ("library", 1, 2)
    launched(g, stream, times=3)
    assert x.to_numpy().tolist() == [16] * 4


def test_nodes_follow_each_other(x, stream):
    g = cg.GraphDef()
    first = g.memset(x, 1.0)
    node, _ = first.capture_call(lambda: add(x, 1.0), warm_up=False)
    node.call(add, x, 5.0)
    assert list(node.pred) == [first]
    launched(g, stream)
    assert x.to_numpy().tolist() == [7] * 4


def test_a_body_of_a_loop_holds_calls(x, stream):
    g = cg.GraphDef()
    loop = g.while_loop(lambda x: x[0] < 10, args=(x,))
    loop.body.capture_call(lambda: add(x, 3.0), warm_up=False)
    launched(g, stream)
    assert x.to_numpy().tolist() == [12] * 4


class Workspace:
    """What a library keeps for its calls."""


def test_the_function_and_its_result_live_as_long_as_an_executable(x, stream, eventually):
    plan, result = Workspace(), Workspace()

    def library(plan, given):
        add(x, 1.0)
        return given

    g = cg.GraphDef()
    node, made = g.capture_call(library, plan, result, warm_up=False)
    graph = g.instantiate()
    kept = [weakref.ref(each) for each in (plan, result, library)]
    del g, node, made, plan, result, library
    gc.collect()
    assert all(each() is not None for each in kept)
    graph.launch(stream)
    stream.sync()
    del graph
    eventually(lambda: [each() for each in kept] == [None] * 3)
    assert x.to_numpy().tolist() == [1] * 4


class Plan:
    """A plan of a library. It frees memory in the order of the stream of its last call. It keeps the handle alone."""

    def __init__(self, x):
        self.x, self.handle, self.freed = x, 0, cg.ndarray(cg.f32, 4)

    def execute(self):
        self.handle = cg.current_stream().handle
        add(self.x, 1.0)

    def free(self):
        stream = cg.Stream.from_handle(self.handle)
        with cg.stream(stream):
            self.freed.fill(7.0)
        stream.sync()


@pytest.mark.parametrize(
    "order", list(itertools.permutations(["free", "definition", "executable"])), ids="-".join
)
@pytest.mark.parametrize("warm_up", [True, False])
def test_a_library_waits_for_the_stream_of_its_call_before_and_after_the_graph_dies(
    order, warm_up, x, stream
):
    plan = Plan(x)
    alive = {"definition": cg.GraphDef()}
    alive["definition"].capture_call(plan.execute, warm_up=warm_up)
    alive["executable"] = launched(alive["definition"], stream)
    for each in order:
        if each == "free":
            plan.free()
        else:
            del alive[each]
            gc.collect()
            boxes.drain()
    assert plan.freed.to_numpy().tolist() == [7] * 4
    assert x.to_numpy().tolist() == [1 + warm_up] * 4


def test_calls_of_graphs_that_live_have_streams_of_their_own(x, stream, eventually):
    """They share nothing that a library keeps for a stream. Dead graphs leave their streams to later calls."""
    plans = [Plan(x) for _ in range(3)]
    g = cg.GraphDef()
    for plan in plans:
        g.capture_call(plan.execute)
    used = {plan.handle for plan in plans}
    assert len(used) == 3
    del g
    gc.collect()
    eventually(lambda: call_streams.count_idle() >= 3)
    before = call_streams.count_idle()
    for plan in plans * 3:
        g = cg.GraphDef()
        g.capture_call(plan.execute)
        graph = g.instantiate()
        del g
        gc.collect()
        assert call_streams.count_idle() == before - 1  # the executable keeps it
        del graph
        eventually(lambda: call_streams.count_idle() == before)


def test_a_stream_that_a_function_has_left_in_a_capture_is_not_used_again(x, stream):
    left = []

    def leaves():
        left.append(cg.current_stream().create_graph_builder().begin_building())

    def idle_handles():
        return {each.handle for streams in call_streams.idle.values() for each in streams}

    g = cg.GraphDef()
    with pytest.raises(cg.CUDAError):
        g.capture_call(leaves)
    gc.collect()
    plan, bad = Plan(x), left[0].__cuda_stream__()[1]
    assert bad in idle_handles()
    g.capture_call(plan.execute)
    assert plan.handle != bad and bad not in idle_handles()
    left.clear()


def test_a_call_that_fails_adds_nothing(x, stream):
    def library():
        add(x, 1.0)
        raise KeyError("plan")

    g = cg.GraphDef()
    for warm_up in (True, False):
        with pytest.raises(KeyError, match="plan"):
            g.capture_call(library, warm_up=warm_up)
    with pytest.raises(TypeError, match="capture_call takes a function, got int"):
        g.capture_call(3)
    with pytest.raises(TypeError, match="warm_up must be a bool"):
        g.capture_call(library, warm_up=1)
    assert list(g.nodes()) == []
    add(x, 1.0)  # no capture is left on the thread
    stream.sync()


def test_a_wait_in_the_call_spoils_it_and_adds_nothing(x, stream):
    g = cg.GraphDef()

    def library():
        add(x, 1.0)
        cg.current_stream().sync()

    with pytest.raises(cg.CUDAError):
        g.capture_call(library, warm_up=False)
    assert list(g.nodes()) == []


def test_work_on_another_stream_is_no_node_and_warns(x, stream):
    g = cg.GraphDef()
    with pytest.warns(cg.CaptureWarning):
        g.capture_call(lambda: add(x, 1.0, stream=stream), warm_up=False)
    stream.sync()
