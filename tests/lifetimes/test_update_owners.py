# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: objects that an update gives a node are kept as long as a definition, executable or launch may use them;
replaced objects are released with their last user.

A library is unloaded when its last handle goes, so the count of loaded libraries shows which ones are kept.
"""

import gc
import threading
import weakref

import pytest

import cuda_graphs as cg
from cuda_graphs.core.resources import boxes
from tests.graph_rig import ONE


@pytest.fixture
def x(pinned):
    return pinned([1], "u4")


class Callable:
    """Something to call, of which one can see whether it lives."""

    def __init__(self, calls):
        self.calls = calls

    def __call__(self):
        self.calls.append(self)


def definition(kernel, *arguments):
    g = cg.GraphDef()
    return g, g.launch(ONE, kernel, *arguments)


def launch(graph, stream):
    graph.launch(stream)
    stream.sync()


# ---- definitions


def test_a_definition_lets_go_of_what_an_update_replaced(fresh_kernels, x, libraries, run):
    g, node = definition(fresh_kernels().affine, x.ctypes.data, 3, 1)
    libraries(1)
    node.update(kernel=fresh_kernels().affine, args=(x.ctypes.data, 5, 2))
    libraries(1)
    run(g)
    assert x[0] == 7


def test_an_executable_made_before_keeps_it(fresh_kernels, x, libraries, stream):
    g, node = definition(fresh_kernels().affine, x.ctypes.data, 3, 1)
    graph = g.instantiate()
    node.update(kernel=fresh_kernels().affine, args=(x.ctypes.data, 5, 2))
    libraries(2)
    launch(graph, stream)
    assert x[0] == 4
    graph.close()
    libraries(1)


def test_a_refused_update_keeps_the_old_and_drops_the_new(fresh_kernels, x, libraries, driver_table, run):
    g, node = definition(fresh_kernels().affine, x.ctypes.data, 3, 1)
    driver_table.refuse("cuGraphNodeSetParams", 46)
    with pytest.raises(cg.CUDAError):
        node.update(kernel=fresh_kernels().affine, args=(x.ctypes.data, 5, 2))
    driver_table.restore()
    libraries(1)
    run(g)
    assert x[0] == 4


def test_a_config_alone_keeps_kernel_and_arguments(fresh_kernels, x, libraries, stream, eventually, run):
    buffer = cg.PinnedMemoryResource().allocate(4, stream=stream)
    alive = weakref.ref(buffer)
    g, node = definition(fresh_kernels().affine, buffer, 3, 1)
    del buffer
    node.update(config=cg.LaunchConfig(grid=1, block=1, shmem_size=16))
    gc.collect()
    assert alive() is not None
    libraries(1)
    run(g)
    node.update(args=(x.ctypes.data, 3, 1))
    eventually(lambda: alive() is None)
    run(g)
    assert x[0] == 4


def test_each_side_of_a_memcpy_is_kept_on_its_own(stream, eventually, run):
    resource = cg.PinnedMemoryResource()
    first, second, third = (resource.allocate(8, stream=stream) for _ in range(3))
    alive = [weakref.ref(buffer) for buffer in (first, second, third)]
    pointers = boxes.live()["pointer"]
    g = cg.GraphDef()
    node = g.memcpy(first, second, 8)
    node.update(src=third)
    del first, second, third
    eventually(lambda: boxes.live()["pointer"] == pointers - 1)
    node.update(dst=node.src + 4, size=4)
    eventually(lambda: boxes.live()["pointer"] == pointers - 2)
    assert [buffer() for buffer in alive] == [None] * 3  # memory is kept, not the object
    run(g)


def test_a_callback_goes_with_its_data_when_it_is_replaced(eventually, run):
    calls = []
    old, new = Callable(calls), Callable(calls)
    alive = weakref.ref(old)
    g = cg.GraphDef()
    node = g.callback(old)
    node.update(new)
    del old
    eventually(lambda: alive() is None)
    run(g)
    assert calls == [new]


def test_events_go_when_they_are_replaced(device, eventually):
    events = boxes.live()["event"]
    g = cg.GraphDef()
    node = g.record_event(device.create_event())
    node.update(device.create_event())
    eventually(lambda: boxes.live()["event"] == events + 1)


def test_an_embedded_graph_goes_with_its_owners_when_it_is_replaced(fresh_kernels, x, libraries, run):
    g = cg.GraphDef()
    node = g.embed(definition(fresh_kernels().affine, x.ctypes.data, 3, 1)[0])
    libraries(1)
    node.update(definition(fresh_kernels().affine, x.ctypes.data, 5, 2)[0])
    libraries(1)
    run(g)
    assert x[0] == 7


# ---- nodes of executables


def test_an_executable_keeps_what_a_node_was_set_to(kernels, fresh_kernels, x, libraries, stream):
    g, node = definition(kernels.affine, x.ctypes.data, 3, 1)
    graph = g.instantiate()
    graph[node].update(config=ONE, kernel=fresh_kernels().affine, args=(x.ctypes.data, 5, 2))
    libraries(1)
    del g, node
    launch(graph, stream)
    assert x[0] == 7
    graph.close()
    libraries(0)


def test_ten_updates_keep_ten_owners(kernels, fresh_kernels, x, libraries, stream):
    g, node = definition(kernels.affine, x.ctypes.data, 3, 1)
    graph = g.instantiate()
    for term in range(10):
        graph[node].update(config=ONE, kernel=fresh_kernels().affine, args=(x.ctypes.data, 2, term))
    libraries(10)
    launch(graph, stream)
    assert x[0] == 11
    graph.close()
    libraries(0)


def test_the_same_owner_is_kept_once(kernels, x, stream):
    g, node = definition(kernels.affine, x.ctypes.data, 3, 1)
    graph = g.instantiate()
    view = graph[node]
    view.update(config=ONE, kernel=kernels.affine, args=(x.ctypes.data, 2, 0))
    pages = boxes.live()["user_object"]
    for term in range(1000):
        view.update(config=ONE, kernel=kernels.affine, args=(x.ctypes.data, 2, term))
    assert boxes.live()["user_object"] == pages
    launch(graph, stream)
    assert x[0] == 2 + 999


def test_a_refused_setting_drops_its_owner(kernels, fresh_kernels, x, libraries, driver_table, stream):
    g, node = definition(kernels.affine, x.ctypes.data, 3, 1)
    graph = g.instantiate()
    driver_table.refuse("cuGraphExecNodeSetParams", 46)
    with pytest.raises(cg.CUDAError):
        graph[node].update(config=ONE, kernel=fresh_kernels().affine, args=(x.ctypes.data, 5, 2))
    driver_table.restore()
    libraries(0)
    launch(graph, stream)
    assert x[0] == 4


def test_an_executable_keeps_the_callback_of_a_node_that_was_destroyed(eventually, stream):
    calls = []
    callback = Callable(calls)
    alive = weakref.ref(callback)
    g = cg.GraphDef()
    node = g.callback(callback)
    graph = g.instantiate()
    node.destroy()
    del callback, node, g
    gc.collect()
    launch(graph, stream)
    assert calls == [alive()]
    calls.clear()
    graph.close()
    eventually(lambda: alive() is None)


def test_a_launch_in_flight_keeps_the_callback_that_it_was_launched_with(eventually, device):
    stream, begun, go_on, calls = device.create_stream(), threading.Event(), threading.Event(), []

    class Blocking(Callable):
        def __call__(self):
            begun.set()
            assert go_on.wait(30)
            super().__call__()

    first, second = Blocking(calls), Callable(calls)
    alive = weakref.ref(first)
    g = cg.GraphDef()
    node = g.callback(first)
    graph = g.instantiate()
    graph.launch(stream)
    assert begun.wait(30)
    graph[node].update(second)
    graph.update(g)
    node.update(second)
    graph.update(g)  # now neither definition nor executable use the first one
    name = id(first)
    del first
    gc.collect()
    boxes.drain()
    assert alive() is not None
    go_on.set()
    stream.sync()
    assert [id(call) for call in calls] == [name]
    calls.clear()
    eventually(lambda: alive() is None)
    launch(graph, stream)
    assert calls == [second]


def test_a_child_that_was_set_is_kept_with_its_owners(kernels, fresh_kernels, x, libraries, stream):
    g = cg.GraphDef()
    node = g.embed(definition(kernels.affine, x.ctypes.data, 3, 1)[0])
    graph = g.instantiate()
    graph[node].update(definition(fresh_kernels().affine, x.ctypes.data, 5, 2)[0])
    libraries(1)
    launch(graph, stream)
    assert x[0] == 7
    child, first = definition(fresh_kernels().affine, x.ctypes.data, 5, 2)
    first.join()
    with pytest.raises(cg.GraphUpdateError):
        graph[node].update(child)
    del child, first
    libraries(1)
    graph.close()
    libraries(0)


def test_a_view_keeps_executable_and_definition_as_long_as_it_lives(kernels, x, eventually):
    g, node = definition(kernels.affine, x.ctypes.data, 3, 1)
    before = boxes.live()
    graph = g.instantiate()
    view = graph[node]
    graph.close()
    del graph, g, node
    gc.collect()
    assert boxes.live()["graph_exec"] == before["graph_exec"] + 1
    assert boxes.live()["graph"] == before["graph"]
    assert view.is_enabled
    del view
    eventually(lambda: boxes.live()["graph_exec"] == before["graph_exec"])
    eventually(lambda: boxes.live()["graph"] == before["graph"] - 1)


# ---- whole updates


def test_a_whole_update_lets_go_of_all_that_was_there(kernels, fresh_kernels, x, libraries, stream):
    g, node = definition(fresh_kernels().affine, x.ctypes.data, 3, 1)
    graph = g.instantiate()
    graph[node].update(config=ONE, kernel=fresh_kernels().affine, args=(x.ctypes.data, 4, 4))
    launch(graph, stream)
    del g, node
    libraries(2)
    graph.update(definition(fresh_kernels().affine, x.ctypes.data, 5, 2)[0])
    libraries(1)
    x[0] = 1
    launch(graph, stream)
    assert x[0] == 7
    graph.close()
    libraries(0)


def test_replaced_kernel_is_released_after_the_last_launch_that_used_it(
    kernels, fresh_kernels, x, latch, libraries, device
):
    stream = device.create_stream()

    def make(kernel, factor):
        g = cg.GraphDef()
        wait = g.launch(ONE, kernels.wait_for, latch.ctypes.data)
        wait.launch(ONE, kernel, x.ctypes.data, factor, 1)
        return g

    first, second = make(fresh_kernels().affine, 3), make(fresh_kernels().affine, 5)
    latch[0] = 1
    for each in (first, second):  # loads their code, which a GPU does not do while a kernel waits
        each.instantiate().launch(stream)
    stream.sync()
    latch[0], x[0] = 0, 1
    graph = first.instantiate()
    del each, first
    graph.launch(stream)
    graph.update(second)
    del second
    libraries(2)
    latch[0] = 1
    stream.sync()
    assert x[0] == 4
    libraries(1)
    graph.launch(stream)
    stream.sync()
    assert x[0] == 21
    graph.close()
    libraries(0)


def test_a_refused_update_keeps_what_was_there(kernels, fresh_kernels, x, libraries, stream):
    g, node = definition(fresh_kernels().affine, x.ctypes.data, 3, 1)
    graph = g.instantiate()
    graph[node].update(config=ONE, kernel=fresh_kernels().affine, args=(x.ctypes.data, 5, 2))
    del g
    other, first = definition(fresh_kernels().affine, x.ctypes.data, 7, 7)
    first.join()
    libraries(3)
    with pytest.raises(cg.GraphUpdateError):
        graph.update(other)
    del other, first
    libraries(2)
    launch(graph, stream)
    assert x[0] == 7


def test_many_updates_leave_nothing_behind(kernels, x, eventually, stream):
    graph = definition(kernels.affine, x.ctypes.data, 3, 1)[0].instantiate()
    pages = boxes.live()["user_object"]
    for term in range(50):
        source = definition(kernels.affine, x.ctypes.data, 1, term)[0]
        graph.update(source)
        graph.launch(stream)
    stream.sync()
    del source
    assert x[0] == 1 + sum(range(50))
    # The driver destroys them when it has time for that (cuda.h, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC).
    eventually(lambda: boxes.live()["user_object"] <= pages + 1)


def test_graphs_inside_others_are_no_source_of_updates(kernels, fresh_kernels, x, libraries, stream):
    graph = definition(kernels.affine, x.ctypes.data, 3, 1)[0].instantiate()
    outer = cg.GraphDef()
    child = outer.embed(definition(fresh_kernels().affine, x.ctypes.data, 5, 2)[0])
    body = outer.if_then(outer.create_condition(1)).then
    body.launch(ONE, fresh_kernels().affine, x.ctypes.data, 7, 3)
    libraries(2)
    for source in (child.child_graph, body):
        with pytest.raises(cg.CUDAError, match="INVALID_VALUE"):
            graph.update(source)
        with pytest.raises(cg.CUDAError, match="NOT_SUPPORTED"):
            source.instantiate()
    del outer, child, body, source
    libraries(0)
    launch(graph, stream)
    assert x[0] == 4
    graph.close()
    libraries(0)


def test_an_executable_lives_on_with_what_it_got_from_its_definition_last(
    fresh_kernels, x, libraries, stream
):
    g, node = definition(fresh_kernels().affine, x.ctypes.data, 3, 1)
    graph = g.instantiate()
    graph.update(g)
    libraries(1)
    node.update(kernel=fresh_kernels().affine, args=(x.ctypes.data, 5, 2))
    libraries(2)
    for _ in range(2):
        graph.update(g)
        libraries(1)
    del g, node
    gc.collect()
    libraries(1)
    launch(graph, stream)
    assert x[0] == 7
    graph.close()
    libraries(0)
