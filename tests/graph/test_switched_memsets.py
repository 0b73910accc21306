# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: a disabled memset node does nothing but keeps its place in the order; enabled again, it uses its last
parameters.

libcuda loses the order through a memset node that it disables, so this package never disables one in libcuda.
"""

import numpy as np
import pytest

import cuda_graphs as cg
from tests.graph_rig import ONE

SLOW = r"""
extern "C" __global__ void slow(volatile int* x, int value) {
    unsigned y = value;
    for (int i = 0; i < 1000000; ++i) y = y * 1664525u + 1013904223u;
    *x = y == 0xdeadbeef ? 0 : value;
}
extern "C" __global__ void take(volatile int* to, const volatile int* from) { *to = *from; }
"""


@pytest.fixture(scope="module")
def slow_kernels(session_device):
    module = cg.Program(SLOW, code_type="c++").compile("cubin")
    return {name: module.get_kernel(name) for name in ("slow", "take")}


@pytest.fixture
def g(device):
    return cg.GraphDef()


@pytest.fixture
def launch(stream):
    def launch(graph, **values):
        graph.launch(stream, **values)
        stream.sync()

    return launch


FORMS = {
    "flat": lambda place, x: place.memset(x[:8], np.int32(7)),
    "bytes": lambda place, x: place.memset(x.ctypes.data, 7, 1),
    "rows": lambda place, x: place.memset(x.reshape(4, 8)[:, :3], np.int32(7)),
}


def filled(form, count=32):
    """Returns the array that a memset of `form` makes of zeros."""
    x = np.zeros(count, np.int32)
    if form == "flat":
        x[:8] = 7
    if form == "bytes":
        x.view(np.uint8)[:1] = 7
    if form == "rows":
        x.reshape(4, 8)[:, :3] = 7
    return x.tolist()


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("behind", ["kernel", "memcpy", "callback", "end"])
def test_node_behind_a_disabled_memset_waits_for_the_node_before_it(
    form, behind, g, slow_kernels, pinned, launch
):
    x, early, late = pinned(32), pinned([3]), pinned([0])
    before = g.launch(ONE, slow_kernels["slow"], early, 5)
    fill = FORMS[form](before, x)
    if behind == "kernel":
        fill.launch(ONE, slow_kernels["take"], late, early)
    if behind == "memcpy":
        fill.memcpy(late, early)
    if behind == "callback":
        fill.callback(lambda: late.__setitem__(0, early[0]))
    graph = g.instantiate()
    graph[fill].disable()
    launch(graph)
    assert early[0] == 5
    assert behind == "end" or late[0] == 5
    assert x.tolist() == [0] * 32


@pytest.mark.parametrize("form", FORMS)
def test_a_memset_is_off_and_on_again(form, g, pinned, launch):
    x = pinned(32)
    fill = FORMS[form](g, x)
    graph = g.instantiate()
    for _ in range(2):
        view = graph[fill]
        view.disable()
        view.disable()
        assert not graph[fill].is_enabled
        launch(graph)
        assert x.tolist() == [0] * 32
        view.enable()
        view.enable()
        assert graph[fill].is_enabled
        launch(graph)
        assert x.tolist() == filled(form)
        x[:] = 0


def test_update_of_a_disabled_memset_counts_when_it_is_enabled(g, pinned, launch):
    x, y = pinned(4), pinned(4)
    fill = g.memset(x, np.int32(1))
    graph = g.instantiate()
    graph[fill].disable()
    graph[fill].update(dst=y, value=np.int32(2))
    assert not graph[fill].is_enabled
    launch(graph)
    assert x.tolist() == y.tolist() == [0] * 4
    graph[fill].enable()
    launch(graph)
    assert (x.tolist(), y.tolist()) == ([0] * 4, [2] * 4)


def test_a_refused_change_of_a_memset_that_is_off_changes_nothing(g, pinned, launch):
    x = pinned(8)
    fill = g.memset(x.reshape(2, 4)[:, :2], np.int32(3))
    graph = g.instantiate()
    graph[fill].disable()
    with pytest.raises(cg.CUDAError):
        graph[fill].update(dst=x, value=np.int32(4))
    launch(graph)
    assert x.tolist() == [0] * 8
    graph[fill].enable()
    launch(graph)
    assert x.tolist() == [3, 3, 0, 0] * 2


def test_change_of_the_definition_does_not_reach_a_disabled_memset(g, pinned, launch):
    x = pinned(4)
    fill = g.memset(x, np.int32(1))
    graph = g.instantiate()
    fill.update(value=np.int32(9))
    graph[fill].disable()
    graph[fill].enable()
    launch(graph)
    assert x.tolist() == [1] * 4


@pytest.mark.parametrize("source", ["itself", "another", "another, of which nobody knows"])
def test_disabled_memset_stays_off_in_a_whole_update_and_takes_its_values(source, g, pinned, launch):
    x, y = pinned(4), pinned(4)

    def build(definition, value):
        first = definition.memset(y, np.int32(value + 10))
        return first.memset(x, np.int32(value))

    fill = build(g, 1)
    graph = g.instantiate()
    graph[fill].disable()
    other = g
    if source == "itself":
        fill.update(value=np.int32(2))
        next(iter(fill.pred)).update(value=np.int32(12))
    else:
        other = cg.GraphDef()
        build(other, 2)
    graph.update(other)
    if source == "another, of which nobody knows":
        del other
    assert not graph[fill].is_enabled
    launch(graph)
    assert (x.tolist(), y.tolist()) == ([0] * 4, [12] * 4)
    graph[fill].enable()
    launch(graph)
    assert x.tolist() == [2] * 4


def test_a_refused_update_leaves_it_off(g, pinned, launch):
    x = pinned(4)
    fill = g.memset(x, np.int32(1))
    graph = g.instantiate()
    graph[fill].disable()
    other = cg.GraphDef()
    other.memset(x, np.int32(2)).join()
    with pytest.raises(cg.GraphUpdateError):
        graph.update(other)
    assert not graph[fill].is_enabled
    launch(graph)
    assert x.tolist() == [0] * 4


def test_a_parameter_that_is_set_while_it_is_off_counts_when_it_is_on(g, pinned, launch):
    x, y = pinned(4), pinned(4)
    fill = g.memset(g.param("x", cg.pointer, default=x.ctypes.data), np.int32(6), 4)
    graph = g.instantiate()
    graph[fill].disable()
    launch(graph, x=y.ctypes.data)
    assert x.tolist() == y.tolist() == [0] * 4
    graph.set(x=x.ctypes.data)
    launch(graph)
    assert x.tolist() == [0] * 4
    graph[fill].enable()
    launch(graph)
    assert (x.tolist(), y.tolist()) == ([6] * 4, [0] * 4)


def inside_a_body(g):
    return g.if_then(g.create_condition(1)).then


def inside_two(g):
    return g.switch(g.create_condition(1), 2).branches[1].while_loop(g.create_condition(0)).graph


@pytest.mark.parametrize("place", [inside_a_body, inside_two])
def test_memset_is_disabled_inside_of_bodies(place, g, pinned, launch):
    x = pinned(4)
    fill = place(g).memset(x, np.int32(1))
    graph = g.instantiate()
    graph[fill].disable()
    launch(graph)
    assert x.tolist() == [0] * 4
    graph[fill].enable()
    launch(graph)
    assert x.tolist() == [1] * 4


def test_memset_of_an_embedded_graph_stays_disabled_when_that_is_updated(g, pinned, launch):
    x = pinned(4)
    child = cg.GraphDef()
    child.memset(x, np.int32(1))
    middle = cg.GraphDef()
    middle.embed(child)
    node = g.embed(middle)
    graph = g.instantiate()
    (inner,) = node.child_graph.nodes()
    (fill,) = inner.child_graph.nodes()
    graph[fill].disable()
    launch(graph)
    assert x.tolist() == [0] * 4

    other = cg.GraphDef()
    other.memset(x, np.int32(2))
    graph[inner].update(other)
    assert not graph[fill].is_enabled
    launch(graph)
    assert x.tolist() == [0] * 4
    graph[fill].enable()
    launch(graph)
    assert x.tolist() == [2] * 4


def test_memset_of_a_captured_graph_is_disabled(device, pinned, launch):
    x = pinned(4)
    memory = cg.Buffer.from_handle(x.ctypes.data, 16, owner=x)
    builder = device.create_graph_builder().begin_building()
    memory.fill(5, stream=builder)
    graph = builder.end_building().complete()
    (fill,) = builder.graph_definition.nodes()
    graph[fill].disable()
    launch(graph)
    assert x.tolist() == [0] * 4
    graph[fill].enable()
    launch(graph)
    assert x.tolist() == [0x05050505] * 4


def test_a_memset_of_another_definition_is_refused(g, pinned):
    x = pinned(4)
    g.memset(x, 1)
    graph = g.instantiate()
    late = g.memset(x, 2)
    for node in (late, cg.GraphDef().memset(x, 2)):
        for use in (graph[node].disable, graph[node].enable, lambda view=graph[node]: view.is_enabled):
            with pytest.raises(cg.CUDAError):
                use()


def test_the_memory_that_it_fills_meanwhile_is_there_while_a_launch_is_in_flight(
    g, slow_kernels, pinned, stream
):
    x, early = pinned(4), pinned(1)
    fill = g.launch(ONE, slow_kernels["slow"], early, 5).memset(x, np.int32(1))
    graph = g.instantiate()
    graph[fill].disable()
    for _ in range(3):
        graph.launch(stream)
    graph.update(g)
    graph.launch(stream)
    graph.close()
    del graph, g, fill
    stream.sync()
    assert (early[0], x.tolist()) == (5, [0] * 4)
