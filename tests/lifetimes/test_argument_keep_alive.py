# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: if memory of arrays is freed in the order of the default stream, the arguments of a call on another stream are
kept until its work is done, and no longer. The cost for a call is negligible."""

import dataclasses
import sys
import threading
from functools import partial

import numpy as np
import pytest

import cuda_graphs as cg
from cuda_graphs import testing
from cuda_graphs.kernels.arrays import keep_alive
from cuda_graphs.kernels.specialisation import loader
from tests.kernels.graph_kernels import array, i32_1d

PATIENCE_S = 60


@pytest.fixture(autouse=True)
def may_release_during_work(monkeypatch):
    """Releases memory as on a GPU; the host driver itself keeps memory that work uses."""
    monkeypatch.setattr(loader, "may_release_during_work", lambda: True)


def add_one(x: i32_1d):
    for i in x:
        x[i] += 1


@pytest.fixture(params=[False, True], ids=["plain", "graph"])
def kernel(request):
    return cg.kernel(add_one, graph=request.param)


def closed_gate(stream):
    """Has the stream wait; what it gives opens the gate."""
    gate, definition = threading.Event(), cg.GraphDef()
    definition.callback(partial(gate.wait, PATIENCE_S))
    graph = definition.instantiate()
    graph.launch(stream)

    def open_it():
        gate.set()
        stream.sync()
        return graph

    return open_it


def test_arguments_stay_until_the_work_is_done(kernel, stream):
    x = array([0, 0], cg.i32)
    kernel(x)
    cg.Device(0).sync()
    before = sys.getrefcount(x)
    open_it = closed_gate(stream)
    for _ in range(3):
        kernel(x, stream=stream)
    keep_alive.release_finished()
    assert sys.getrefcount(x) == before + 3
    kernel(x, stream=stream)
    keep_alive.release_finished()  # which has marked those of before, and marks this one too
    assert sys.getrefcount(x) == before + 4
    open_it()
    keep_alive.release_finished()
    assert sys.getrefcount(x) == before
    assert x.to_numpy().tolist() == [5, 5]


def test_a_new_array_looks(kernel, stream):
    x = array([0], cg.i32)
    before = sys.getrefcount(x)
    kernel(x, stream=stream)
    stream.sync()
    assert sys.getrefcount(x) == before + 1
    array([1])
    assert sys.getrefcount(x) == before


def test_arguments_of_finished_work_are_released_while_the_stream_works_on(kernel, stream):
    first, second = array([0], cg.i32), array([0], cg.i32)
    kernel(first)
    before = sys.getrefcount(first)
    open_one = closed_gate(stream)
    kernel(first, stream=stream)
    keep_alive.release_finished()  # an event behind it
    marked, definition = threading.Event(), cg.GraphDef()
    definition.callback(partial(marked.wait, PATIENCE_S))
    graph = definition.instantiate()
    graph.launch(stream)
    kernel(second, stream=stream)
    threading.Thread(target=open_one).start()
    while sys.getrefcount(first) > before:  # until the event is over; the second gate is closed still
        keep_alive.release_finished()
    marked.set()
    stream.sync()
    keep_alive.release_finished()
    assert (first[0], second[0]) == (2, 1)


def test_calls_make_no_event_each(kernel, stream, driver):
    """One for many, where the stream has not done them."""
    if driver.kind != "host":
        pytest.skip("only the host driver counts calls")
    x = array(np.zeros(3), cg.i32)
    kernel(x, stream=stream)
    stream.sync()
    keep_alive.release_finished()
    open_it = closed_gate(stream)
    with testing.calls() as made:
        for _ in range(70):
            kernel(x, stream=stream)
    assert made["cuEventCreate"] == 1
    open_it()
    keep_alive.release_finished()
    assert x.to_numpy().tolist() == [71] * 3


@pytest.mark.parametrize("which", ["per thread", "borrowed by its number"])
def test_streams_that_cannot_be_asked_later_are_marked_at_once(kernel, device, which):
    own = device.create_stream()
    stream = cg.PER_THREAD_DEFAULT_STREAM if which == "per thread" else cg.Stream.from_handle(own.handle)
    x = array([0], cg.i32)
    before = sys.getrefcount(x)
    for _ in range(3):
        kernel(x, stream=stream)
    assert sys.getrefcount(x) >= before
    stream.sync()
    device.sync()
    keep_alive.release_finished()
    assert sys.getrefcount(x) == before
    assert x[0] == 3


def test_a_stream_may_be_closed_while_it_works(kernel, device):
    stream, x = device.create_stream(), array([0], cg.i32)
    kernel(x)  # code is not loaded while a gate is closed: libcuda may wait for what runs
    device.sync()
    before = sys.getrefcount(x)
    open_it = closed_gate(stream)
    kernel(x, stream=stream)
    stream.close()
    keep_alive.release_finished()
    assert sys.getrefcount(x) == before + 1
    with pytest.raises(RuntimeError, match="closed"):
        open_it()
    device.sync()
    keep_alive.release_finished()
    assert (sys.getrefcount(x), x[0]) == (before, 2)


@dataclasses.dataclass
class Pair:
    x: i32_1d
    step: cg.i32


def add_step(pair: Pair):
    for i in pair.x:
        pair.x[i] += pair.step


@pytest.mark.parametrize("graph", [False, True])
def test_member_of_an_argument_is_kept_until_the_work_is_done(graph, stream):
    kernel, pair = cg.kernel(add_step, graph=graph), Pair(array([0], cg.i32), 2)
    kernel(pair)
    x, before = pair.x, sys.getrefcount(pair.x)
    other = array([0], cg.i32)
    cg.Device(0).sync()
    open_it = closed_gate(stream)
    kernel(pair, stream=stream)
    pair.x = other
    keep_alive.release_finished()
    assert sys.getrefcount(x) > before - 1
    open_it()
    keep_alive.release_finished()
    assert (sys.getrefcount(x), x[0]) == (before - 1, 4)


def test_a_stream_that_is_being_captured_is_left_alone(kernel, stream):
    """Nothing is recorded in it and nothing is asked of it; what it had to do before is found later."""
    x, y = array([0], cg.i32), array([0], cg.i32)
    before = sys.getrefcount(x)
    kernel(x, stream=stream)
    builder = stream.create_graph_builder()
    builder.begin_building()
    kernel(y, stream=builder)
    keep_alive.release_finished()
    builder.end_building()
    graph = builder.complete()
    assert len(graph.definition.nodes() if hasattr(graph, "definition") else [1]) == 1
    stream.sync()
    keep_alive.release_finished()
    assert (sys.getrefcount(x), x[0], y[0]) == (before, 1, 0)
