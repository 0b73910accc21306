# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: an executable keeps the objects of its nodes until it is gone and its last launch is over, and no longer.
Instantiation does not change the objects that a definition keeps."""

import ctypes
import gc
import threading
import weakref

import pytest

import cuda_graphs as cg
from cuda_graphs.core.resources import boxes
from tests.graph_rig import ONE


def open_while_it_ends(driver, flag):
    """libcuda may let the end of an executable wait for its launch, so there another thread opens the latch."""
    if driver.kind == "cuda":
        threading.Timer(0.5, flag.__setitem__, (0, 1)).start()


def definition(kernels, *arguments):
    g = cg.GraphDef()
    g.launch(ONE, kernels.affine, *arguments)
    return g


def waiting(kernels, latch, fresh, *arguments):
    """Returns a definition that waits for the latch and then runs a kernel that no other object keeps."""
    g = cg.GraphDef()
    g.launch(ONE, kernels.wait_for, latch.ctypes.data).launch(ONE, fresh.affine, *arguments)
    return g


def test_a_launch_in_flight_keeps_kernel_and_buffer_when_all_objects_are_gone(
    device, kernels, fresh_kernels, latch, libraries
):
    stream = device.create_stream()
    buffer = cg.PinnedMemoryResource().allocate(4, stream=stream)
    pointers = boxes.live()["pointer"]
    g = waiting(kernels, latch, fresh_kernels(), buffer, 3, 1)
    alive = weakref.ref(buffer)
    graph = g.instantiate()
    graph.launch(stream)
    graph.close()
    stream.close()
    del graph, g, buffer, stream
    gc.collect()
    boxes.drain()
    assert alive() is not None
    assert boxes.live()["pointer"] == pointers
    libraries(1)
    latch[0] = 1
    device.sync()
    libraries(0)
    assert alive() is None


@pytest.mark.parametrize("which", [0, 2], ids=["legacy", "per_thread"])
def test_launch_on_a_default_stream_keeps_the_kernel(
    which, device, kernels, fresh_kernels, pinned, latch, libraries
):
    x = pinned([1], "u4")
    graph = waiting(kernels, latch, fresh_kernels(), x.ctypes.data, 3, 1).instantiate()
    graph.launch(cg.Stream.from_handle(which))
    graph.close()
    libraries(1)
    latch[0] = 1
    device.sync()
    assert x[0] == 4
    libraries(0)


def test_launch_on_a_foreign_stream_that_was_destroyed_keeps_the_kernel(
    raw, device, kernels, fresh_kernels, pinned, latch, libraries
):
    x, theirs = pinned([1], "u4"), ctypes.c_void_p()
    raw("cuStreamCreate", ctypes.byref(theirs), ctypes.c_uint(1))
    graph = waiting(kernels, latch, fresh_kernels(), x.ctypes.data, 3, 1).instantiate()
    graph.launch(cg.Stream.from_handle(theirs.value))
    raw("cuStreamDestroy_v2", theirs)
    graph.close()
    libraries(1)
    latch[0] = 1
    device.sync()
    assert x[0] == 4
    libraries(0)


def test_dropped_while_idle_it_releases_them_at_once(fresh_kernels, pinned, run):
    x, libraries = pinned([1], "u4"), boxes.live()["library"]
    graph = run(definition(fresh_kernels(), x.ctypes.data, 3, 1))
    gc.collect()
    assert boxes.live()["library"] == libraries + 1
    graph.close()
    boxes.drain()
    assert boxes.live()["library"] == libraries


@pytest.mark.parametrize("busy_first", [True, False])
def test_executable_waits_for_the_busy_one_of_two_streams(
    busy_first, device, kernels, fresh_kernels, pinned, latch, libraries
):
    x = pinned([1], "u4")
    idle, busy = device.create_stream(), device.create_stream()
    graph = definition(fresh_kernels(), x.ctypes.data, 3, 1).instantiate()
    wait = cg.GraphDef()
    wait.launch(ONE, kernels.wait_for, latch.ctypes.data)
    wait = wait.instantiate()
    if not busy_first:
        graph.launch(idle)
        idle.sync()
    wait.launch(busy)
    graph.launch(busy)
    if busy_first:
        graph.launch(idle)  # behind the launch before, on whatever stream that was
    graph.close()
    libraries(1)
    latch[0] = 1
    device.sync()
    assert x[0] == (1 * 3 + 1) * 3 + 1
    libraries(0)


def test_an_upload_is_waited_for(driver, device, kernels, fresh_kernels, pinned, latch, libraries):
    x, stream = pinned([1], "u4"), device.create_stream()
    wait = cg.GraphDef()
    wait.launch(ONE, kernels.wait_for, latch.ctypes.data)
    # All code is loaded before a kernel waits: loading may wait for the device.
    graph = definition(fresh_kernels(), x.ctypes.data, 3, 1).instantiate()
    wait.instantiate().launch(stream)
    open_while_it_ends(driver, latch)
    graph.upload(stream)
    graph.close()
    if driver.kind == "host":
        libraries(1)
        latch[0] = 1
    stream.sync()
    libraries(0)


def test_executable_can_be_launched_many_times_without_its_definition(
    fresh_kernels, pinned, stream, libraries
):
    x = pinned([0], "u4")
    graph = definition(fresh_kernels(), x.ctypes.data, 1, 1).instantiate()
    for turn in range(1, 4):
        gc.collect()
        graph.launch(stream)
        stream.sync()
        assert x[0] == turn
    libraries(1)
    graph.close()
    libraries(0)


def test_a_definition_keeps_them_when_its_executables_are_gone(fresh_kernels, pinned, run, libraries):
    x = pinned([0], "u4")
    g, one = cg.GraphDef(), fresh_kernels()
    node = g._entry
    for _ in range(70):  # full pages, and one that instantiation seals
        node = node.launch(ONE, one.affine, x.ctypes.data, 1, 1)
    del one
    for turn in range(1, 4):
        run(g).close()
        libraries(1)
        assert x[0] == 70 * turn
    node.destroy()
    run(g).close()
    libraries(1)
    assert x[0] == 70 * 3 + 69
    del g, node
    libraries(0)


def test_a_definition_keeps_them_when_it_cannot_be_instantiated(
    fresh_kernels, kernels, pinned, run, libraries
):
    x = pinned([1], "u4")
    g = definition(fresh_kernels(), x.ctypes.data, 3, 1)
    callback = g.callback(int)
    with pytest.raises(cg.CUDAError):
        g.instantiate(device_launch=True)  # not with a host node in it
    libraries(1)
    callback.destroy()
    run(g).close()
    assert x[0] == 4
    del g, callback
    libraries(0)


def test_a_clone_of_an_instantiated_definition_keeps_them(raw, fresh_kernels, pinned, stream, libraries):
    x = pinned([1], "u4")
    clone, graph = ctypes.c_void_p(), ctypes.c_void_p()
    g = definition(fresh_kernels(), x.ctypes.data, 3, 1)
    g.instantiate().close()
    raw("cuGraphClone", ctypes.byref(clone), ctypes.c_void_p(g.handle))
    del g
    libraries(1)
    raw("cuGraphInstantiateWithFlags", ctypes.byref(graph), clone, ctypes.c_ulonglong(0))
    raw("cuGraphLaunch", graph, ctypes.c_void_p(stream.handle))
    stream.sync()
    assert x[0] == 4
    raw("cuGraphExecDestroy", graph)
    raw("cuGraphDestroy", clone)
    libraries(0)


def test_bodies_and_embedded_graphs_are_kept_in_flight(
    driver, kernels, fresh_kernels, pinned, stream, latch, libraries
):
    x = pinned([1], "u4")
    child = definition(fresh_kernels(), x.ctypes.data, 5, 2)
    g = cg.GraphDef()
    branch = g.launch(ONE, kernels.wait_for, latch.ctypes.data).if_then(g.create_condition(1))
    branch.then.launch(ONE, fresh_kernels().affine, x.ctypes.data, 3, 1)
    branch.embed(child)
    graph = g.instantiate()
    graph.launch(stream)
    open_while_it_ends(driver, latch)
    graph.close()
    del g, branch, child
    if driver.kind == "host":
        libraries(2)
        latch[0] = 1
    stream.sync()
    assert x[0] == (1 * 3 + 1) * 5 + 2
    libraries(0)


def test_dropped_inside_a_host_function_it_goes_later(fresh_kernels, pinned, run, stream, libraries):
    """No driver call is allowed there, so its end waits for the next occasion."""
    x = pinned([1], "u4")
    held = [definition(fresh_kernels(), x.ctypes.data, 3, 1).instantiate()]
    held[0].launch(stream)
    g = cg.GraphDef()
    g.callback(held.clear)
    run(g).close()
    assert held == []
    assert x[0] == 4
    del g
    libraries(0)


def test_deferred_objects_are_not_destroyed_inside_a_host_function(run, eventually):
    """The driver may not be called there, so what was deferred could not be destroyed."""

    class Marked:
        def __del__(self):
            gone.append(1)

    gone, seen = [], []

    def callback():
        boxes.defer(Marked())
        boxes.drain()
        for _ in range(1000):  # pending calls of the interpreter run between these
            seen.append(len(gone))

    g = cg.GraphDef()
    g.callback(callback)
    run(g).close()
    assert set(seen) == {0}
    eventually(lambda: gone == [1])


@pytest.mark.cuda
def test_a_launch_into_a_capture_is_refused_and_nothing_is_lost(
    raw, device, fresh_kernels, pinned, stream, libraries
):
    x, source = pinned([1], "u4"), device.create_stream()
    ours = definition(fresh_kernels(), x.ctypes.data, 3, 1).instantiate()
    captured = ctypes.c_void_p()
    raw("cuStreamBeginCapture_v2", ctypes.c_void_p(source.handle), ctypes.c_int(2))
    with pytest.raises(cg.CaptureError):
        ours.launch(source)
    raw("cuStreamEndCapture", ctypes.c_void_p(source.handle), ctypes.byref(captured))
    raw("cuGraphDestroy", captured)
    ours.launch(source)
    source.sync()
    assert x[0] == 4
    ours.close()
    libraries(0)
