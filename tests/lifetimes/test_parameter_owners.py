# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: the memory behind a parameter lives as long as it is the value of an executable or of a launch in flight. The
next call for that executable releases it. Small arrays are released within 64 launches."""

import ctypes
import gc
import weakref

import pytest

import cuda_graphs as cg
from cuda_graphs.core.resources import boxes
from tests.graph_rig import ONE


class Owner:
    """The owner of the memory of one Buffer."""


@pytest.fixture
def buffers(pinned, eventually):
    """buffers.make() is a Buffer whose memory has an owner; how many owners are alive is counted."""

    class Buffers:
        def __init__(self):
            self.memory, self.owners = pinned(256), []

        def make(self, value=0):
            """A Buffer of one number, in memory that no Buffer had before."""
            place, owner = len(self.owners), Owner()
            self.memory[place] = value
            self.owners.append(weakref.ref(owner))
            return cg.Buffer.from_handle(self.memory.ctypes.data + 4 * place, 4, owner=owner)

        def alive(self):
            return sum(owner() is not None for owner in self.owners)

        def exactly(self, count):
            gc.collect()
            boxes.drain()
            assert self.alive() == count

        def soon(self, count):
            eventually(lambda: self.alive() == count)

    return Buffers()


@pytest.fixture
def adder(kernels):
    """An executable that adds 1 to `where`; its first launch, if asked, waits for the latch."""

    def make(latch=None):
        g = cg.GraphDef()
        node = g if latch is None else g.launch(ONE, kernels.wait_for, g.param("latch", cg.pointer, latch))
        node.launch(ONE, kernels.add, g.param("where", cg.pointer), 1, 1)
        return g.instantiate()

    return make


def test_a_value_is_kept_and_given_back_when_another_one_comes(adder, buffers, stream):
    graph, buffer = adder(), buffers.make()
    graph.set(where=buffer)
    buffer.close()
    del buffer
    graph.launch(stream)
    stream.sync()
    assert buffers.memory[0] == 1
    buffers.exactly(1)
    graph.set(where=buffers.make())
    buffers.exactly(1)
    graph.set(where=0)
    buffers.exactly(0)


def test_an_array_is_kept_itself(adder, pinned, stream, eventually):
    graph, array = adder(), pinned([5])[:]  # an object of its own
    alive, memory = weakref.ref(array), array.ctypes.data
    graph.launch(stream, where=array)
    del array
    gc.collect()
    assert alive() is not None
    assert graph.params["where"].value == memory
    stream.sync()
    assert alive()[0] == 6
    graph.close()
    eventually(lambda: alive() is None)


def test_the_same_address_with_another_owner_changes_the_owner(adder, buffers):
    graph, buffer = adder(), buffers.make()
    graph.set(where=buffer.handle)
    graph.set(where=buffer)
    del buffer
    buffers.exactly(1)
    graph.set(where=graph.params["where"].value)
    buffers.exactly(0)


def test_a_closed_buffer_is_no_value(adder, buffers):
    graph, buffer = adder(), buffers.make()
    buffer.close()
    with pytest.raises(ValueError, match="where is a closed Buffer"):
        graph.set(where=buffer)
    assert graph.params["where"].value is None


def test_refused_buffer_is_not_kept(adder, buffers, kernels, pinned):
    g, x = cg.GraphDef(), pinned([0, 0])
    g.launch(ONE, kernels.add, g.param("where", cg.pointer), 1, 1).memset(
        x.ctypes.data, 0, g.param("count", cg.u64, default=1)
    )
    graph, first = g.instantiate(), buffers.make()
    graph.set(where=first)
    for bad in ({"count": -1}, {"count": 1 << 40}, {"other": 3}):
        with pytest.raises((TypeError, ValueError, OverflowError, cg.CUDAError)):
            graph.set(where=buffers.make(), **bad)
    buffers.exactly(1)
    assert graph.params["where"].value == first.handle


def test_values_go_with_the_executable(adder, buffers, stream):
    graph = adder()
    graph.launch(stream, where=buffers.make())
    stream.sync()
    buffers.exactly(1)
    graph.close()
    buffers.exactly(0)


def test_each_executable_keeps_its_own(kernels, buffers):
    g = cg.GraphDef()
    g.launch(ONE, kernels.add, g.param("where", cg.pointer), 1, 1)
    one, two, buffer = g.instantiate(), g.instantiate(), buffers.make()
    one.set(where=buffer)
    two.set(where=buffer)
    del buffer
    one.close()
    buffers.exactly(1)
    two.close()
    buffers.exactly(0)


def test_a_default_is_kept_by_the_definition_and_its_executables(kernels, buffers, stream):
    g = cg.GraphDef()
    p = g.param("where", cg.pointer, default=buffers.make())
    first = g.launch(ONE, kernels.add, p, 1, 1)
    first.memset(p, 0, 4)
    del p, first
    graph = g.instantiate()
    del g
    buffers.exactly(1)
    graph.launch(stream)
    stream.sync()
    graph.close()
    buffers.exactly(0)


def test_the_places_of_missing_memory_go_with_definition_and_executable(device, eventually):
    start = boxes.live()["pointer"]
    g = cg.GraphDef()
    g.memcpy(g.param("to", cg.pointer), g.param("source", cg.pointer), 1 << 30).memset(
        g.param("to", cg.pointer), 0, 3, height=5, pitch=16
    )
    assert boxes.live()["pointer"] == start + 3
    graph = g.instantiate()
    del g
    gc.collect()
    assert boxes.live()["pointer"] == start + 3
    graph.close()
    eventually(lambda: boxes.live()["pointer"] == start)


def test_update_of_another_field_keeps_the_place_of_missing_memory(device, driver_table):
    """The driver would refuse to instantiate a node whose memory has been freed."""
    g = cg.GraphDef()
    fill = g.memset(g.param("to", cg.pointer), 1, 4)
    params = (ctypes.c_uint64 * 16)()
    size = ctypes.c_uint64()
    for value in (2, 3):
        fill.update(value=value)
        assert driver_table.original("cuGraphMemsetNodeGetParams")(fill.handle, ctypes.addressof(params)) == 0
        assert driver_table.original("cuMemGetAddressRange")(None, ctypes.addressof(size), params[0]) == 0
        assert size.value >= 4


@pytest.mark.parametrize(("megabytes", "launches"), [(1, 63), (64, 0)], ids=["small", "large"])
def test_array_of_an_earlier_launch_is_released_within_64_launches_and_a_large_one_by_the_next(
    megabytes, launches, stream
):
    """`launches`: how many more launches may keep it."""

    @cg.kernel
    def touch(x: cg.types.ndarray(cg.i8, ndim=1)):
        for _ in range(1):
            x[0] = 1

    def array():
        return cg.ndarray(cg.i8, megabytes << 20)

    g = cg.GraphDef()
    g.call(touch, g.param("x", cg.types.ndarray(cg.i8, ndim=1), default=array()))
    graph = g.instantiate()
    start = boxes.live()["pointer"]
    graph.launch(stream, x=array())
    stream.sync()
    for _ in range(160):
        graph.launch(stream, x=array())
        stream.sync()
        assert boxes.live()["pointer"] <= start + 1 + launches
    same = array()
    for _ in range(160):
        graph.launch(stream, x=same)
    stream.sync()
    assert boxes.live()["pointer"] <= start + 1 + launches
    for _ in range(64):
        graph.launch(stream, x=same)
        graph.launch(stream)
        stream.sync()
    assert boxes.live()["pointer"] <= start + 1


def test_a_launch_in_flight_keeps_the_value_that_it_got(adder, buffers, latch, device):
    stream = device.create_stream()
    graph, first, second = adder(latch.ctypes.data), buffers.make(10), buffers.make(20)
    graph.upload(stream)
    graph.launch(stream, where=first)
    graph.set(where=second)
    graph.set(where=first.handle)
    del first, second
    buffers.exactly(2)
    latch[0] = 1
    stream.sync()
    assert list(buffers.memory[:2]) == [11, 20]
    graph.set(where=0)
    buffers.soon(0)


@pytest.mark.parametrize("which", [0, 2], ids=["legacy", "per_thread"])
def test_launch_on_a_default_stream_keeps_the_value_that_it_got(which, adder, buffers, latch, device):
    stream = cg.Stream.from_handle(which)
    graph, first = adder(latch.ctypes.data), buffers.make(10)
    graph.launch(stream, where=first)
    del first
    graph.set(where=buffers.make(20))
    buffers.exactly(2)
    latch[0] = 1
    device.sync()
    assert buffers.memory[0] == 11
    graph.launch(stream)
    buffers.soon(1)
    device.sync()
    graph.close()
    buffers.soon(0)


def test_an_executable_that_goes_in_flight_leaves_its_values_to_the_launch(adder, buffers, latch, device):
    stream = device.create_stream()
    graph, first = adder(latch.ctypes.data), buffers.make(10)
    graph.upload(stream)
    graph.launch(stream, where=first)
    graph.set(where=buffers.make(20))
    del first
    graph.close()
    del graph
    buffers.exactly(2)
    latch[0] = 1
    device.sync()
    assert buffers.memory[0] == 11
    buffers.soon(0)


def test_values_of_many_launches_are_given_back_while_more_are_on_their_way(adder, buffers, device):
    """A stream that is never idle does not make the executable keep all that it ever had."""
    stream, other = device.create_stream(), device.create_stream()
    graph = adder()
    most = 0
    for turn in range(200):
        graph.launch(stream, where=buffers.make(turn))
        if turn % 20 == 19:
            event = stream.record()
            graph.launch(other)  # behind all launches before
            event.sync()
        most = max(most, buffers.alive())
    assert most <= 42
    device.sync()
    graph.close()
    buffers.soon(0)


def test_a_set_during_a_capture_of_the_stream_does_not_disturb_it(raw, adder, buffers, device):
    stream = device.create_stream()
    graph = adder()
    graph.launch(stream, where=buffers.make())
    captured = ctypes.c_void_p()
    raw("cuStreamBeginCapture_v2", ctypes.c_void_p(stream.handle), ctypes.c_int(2))
    graph.set(where=buffers.make())
    raw("cuStreamEndCapture", ctypes.c_void_p(stream.handle), ctypes.byref(captured))
    raw("cuGraphDestroy", captured)
    stream.sync()
    graph.set(where=0)
    buffers.soon(0)
