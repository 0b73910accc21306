# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: threads may capture, allocate, launch and collect garbage side by side, in each mode. A graph holds the work of
its own capture and nothing else. test_modes.py says which single operations are allowed."""

import gc
import threading

import pytest

import cuda_graphs as cg
from tests.conftest import wait_until
from tests.graph_rig import ONE
from tests.thread_rig import in_step, no_collector, side_by_side

MODES = ("global", "thread_local", "relaxed")
THREADS, ROUNDS = 4, 10


def test_steps_are_steps():
    log = []

    def work(i):
        for step in range(50):
            log.append(step)
            yield

    in_step(*map(work, range(3)))
    assert log == sorted(log)
    with pytest.raises(ZeroDivisionError):
        in_step(work(0), (1 // 0 for _ in range(1)))


# One captures, others work.


@pytest.mark.parametrize("mode", MODES)
def test_a_capture_holds_its_own_work_whatever_other_threads_do_meanwhile(mode, stream, kernels, pinned):
    x, captured = pinned([0] * THREADS), pinned([1], "u4")
    builder = stream.create_graph_builder()

    def capture():
        builder.begin_building(mode)
        yield
        for _ in range(ROUNDS):
            cg.launch(builder, ONE, kernels.affine, captured.ctypes.data, 2, 1)
            yield
        assert builder.is_building
        builder.end_building()
        yield

    def work(i):
        own, add = cg.Device(0).create_stream(), (ONE, kernels.add, x[i:].ctypes.data, 1)
        pinned_memory, held = cg.PinnedMemoryResource(), []
        yield
        for _ in range(ROUNDS):
            held.append((cg.Device(0).allocate(64, stream=own), pinned_memory.allocate(64)))
            cg.launch(own, *add, 1)
            g = cg.GraphDef()
            g.launch(*add, 10)
            graph = g.instantiate()
            graph.launch(own)
            inner = own.create_graph_builder().begin_building("relaxed")
            cg.launch(inner, *add, 100)
            inner.end_building()
            graph.update(inner)
            graph.launch(own)
            own.wait(cg.Device(0).create_stream())
            memory, staging = held.pop()
            memory.close(stream=own)
            staging.close()
            yield
        yield

    in_step(capture(), *map(work, range(THREADS)))
    nodes = builder.graph_definition.nodes()
    assert [type(node) for node in nodes] == [cg.KernelNode] * ROUNDS
    cg.Device(0).sync()
    assert captured[0] == 1  # nothing has run
    builder.complete().launch(stream)
    stream.sync()
    assert captured[0] == 2 ** (ROUNDS + 1) - 1
    assert x.tolist() == [111 * ROUNDS] * THREADS


@pytest.mark.parametrize("theirs", MODES)
@pytest.mark.parametrize("ours", MODES)
@pytest.mark.parametrize("waits", [False, True])
def test_two_threads_capture_at_once(waits, ours, theirs, device, kernels, pinned):
    """Then the first waits for a third stream. h200.json: capture_modes/*_captures_of_two_threads, two_captures."""
    x, idle = pinned([0, 0]), device.create_stream()
    modes, builders, codes = (ours, theirs), [device.create_graph_builder() for _ in range(2)], [None] * 2

    def capture(i):
        def launch():
            cg.launch(builders[i], ONE, kernels.add, x[i:].ctypes.data, 1, 1)

        builders[i].begin_building(modes[i])
        yield
        for _ in range(ROUNDS - 1):
            launch()
        device.allocate(64, stream=idle).close(stream=idle)
        yield
        if waits and i == 0:
            try:
                idle.sync()
            except cg.CaptureError as refused:
                codes[i] = refused.code
        yield
        try:
            launch()
            builders[i].end_building()
        except cg.CaptureError as spoiled:
            with pytest.raises(cg.CaptureError):
                builders[i].end_building()
            codes[i] = spoiled.code
        yield

    in_step(capture(0), capture(1))
    ours_forbids, theirs_forbids = waits and ours != "relaxed", waits and theirs == "global"
    if theirs_forbids and not ours_forbids:
        assert codes == [900, 901]  # refused, but not for our own sake
    else:
        assert codes == [901 if ours_forbids else None, 901 if theirs_forbids else None]
    expected = [0, 0]
    for i, forbids in enumerate((ours_forbids, theirs_forbids)):
        if forbids:
            builders[i].close()
            continue
        assert len(builders[i].graph_definition.nodes()) == ROUNDS
        builders[i].complete().launch(idle)
        expected[i] = ROUNDS
    idle.sync()
    assert x.tolist() == expected


def launcher_of(i, kernels, address):
    """launch(builder, amount), on a line of the source that only thread i has."""
    names = {"cg": cg, "ONE": ONE, "add": kernels.add, "address": address}
    exec(compile("def launch(b, n): cg.launch(b, ONE, add, address, 1, n)", f"thread{i}.py", "exec"), names)
    return names["launch"]


@pytest.mark.parametrize("mode", MODES)
def test_threads_that_capture_on_one_stream_keep_their_nodes_apart(mode, builder, stream, kernels, pinned):
    x = pinned([0])
    builder.begin_building(mode)

    def capture(i):
        launch = launcher_of(i, kernels, x.ctypes.data)
        for _ in range(10 * ROUNDS):
            launch(builder, 100**i)

    side_by_side(*[lambda i=i: capture(i) for i in range(THREADS)])
    builder.end_building()
    nodes = builder.graph_definition.nodes()
    assert len(nodes) == THREADS * 10 * ROUNDS
    sources = [node.source for node in nodes]
    assert {source: sources.count(source) for source in sources} == {
        f"thread{i}.py:1": 10 * ROUNDS for i in range(THREADS)
    }
    assert len(builder.graph_definition.edges()) == len(nodes) - 1
    builder.complete().launch(stream)
    stream.sync()
    assert x[0] == 10 * ROUNDS * sum(100**i for i in range(THREADS))


@pytest.mark.parametrize("mode", MODES)
def test_each_branch_may_be_captured_by_a_thread_of_its_own(mode, builder, stream, kernels, pinned):
    x = pinned([0] * THREADS)
    builder.begin_building(mode)
    branches = builder.split(THREADS)

    def capture(i):
        for _ in range(ROUNDS):
            cg.launch(branches[i], ONE, kernels.add, x[i:].ctypes.data, 1, 10**i)

    side_by_side(*[lambda i=i: capture(i) for i in range(THREADS)])
    cg.GraphBuilder.join(*branches).end_building()
    definition = builder.graph_definition
    assert len(definition.nodes()) == THREADS * ROUNDS
    assert len(definition.edges()) == THREADS * (ROUNDS - 1)  # chains, side by side
    builder.complete().launch(stream)
    stream.sync()
    assert x.tolist() == [ROUNDS * 10**i for i in range(THREADS)]


def test_a_relaxed_builder_goes_from_thread_to_thread(builder, stream, kernels, pinned):
    x, held = pinned([0] * 3), {}

    def launch(where, amount, cell=0):
        cg.launch(where, ONE, kernels.add, x[cell:].ctypes.data, 1, amount)

    def body():
        with builder.if_then(builder.create_condition(1)) as inner:
            launch(inner, 1000)

    steps = [
        builder.begin_building,
        lambda: launch(builder, 1),
        lambda: held.update(forks=builder.split(3)),
        lambda: launch(held["forks"][1], 10, 1),
        lambda: launch(held["forks"][2], 100, 2),
        lambda: cg.GraphBuilder.join(*held["forks"]),
        body,
        builder.end_building,
        lambda: held.update(graph=builder.complete()),
        lambda: held["graph"].launch(stream),
        builder.close,
        stream.sync,
        lambda: held["graph"].close(),
    ]

    for step in steps:
        side_by_side(step)
    assert x.tolist() == [1001, 10, 100]


# Garbage, collected by another thread.


@pytest.mark.parametrize("what", ["primary", "fork", "body"])
@pytest.mark.parametrize("mode", MODES)
def test_a_builder_is_collected_mid_capture_by_another_thread(mode, what, driver_table, kernels, pinned):
    """It is that thread that asks the driver to end the capture, whichever mode; the stream is of use afterwards."""
    x, held, asked = pinned([0]), {}, driver_table.watch("cuStreamEndCapture")
    stream = cg.Device(0).create_stream()

    def drop():
        ring = [stream.create_graph_builder().begin_building(mode)]
        cg.launch(ring[0], ONE, kernels.nothing)
        if what == "fork":
            ring.append(ring[0].split(2)[1])
        if what == "body":
            ring.append(ring[0].if_then(ring[0].create_condition(1)).begin_building("relaxed"))
        ring.append(ring)
        held.update(thread=threading.get_ident())
        yield
        del ring
        yield
        yield

    def collect():
        yield
        yield
        assert not asked
        gc.collect()
        assert len(asked) == (2 if what == "body" else 1)
        assert {call.thread for call in asked} == {threading.get_ident()} != {held["thread"]}
        yield

    with no_collector():
        in_step(drop(), collect())
    cg.launch(stream, ONE, kernels.add, x.ctypes.data, 1, 1)
    stream.sync()
    assert x[0] == 1


def test_the_strict_capture_of_a_body_waits_for_its_own_thread(builder, driver_table, kernels):
    """The driver would not survive an end that it refuses (core/capture/capture_end.cpp)."""
    asked = driver_table.watch("cuStreamEndCapture")
    builder.begin_building("relaxed")

    def drop():
        ring = [builder.if_then(builder.create_condition(1)).begin_building("thread_local")]
        cg.launch(ring[0], ONE, kernels.nothing)
        ring.append(ring)
        yield
        del ring
        yield
        yield
        # The next creation drains first. The main thread may be trying the same, and then puts the end back.
        assert wait_until(lambda: bool(cg.Device(0).create_event() and asked))
        assert [(call.thread, call.status) for call in asked] == [(threading.get_ident(), 0)]
        yield

    def collect():
        yield
        yield
        gc.collect()
        assert not asked
        yield
        yield

    with no_collector():
        in_step(drop(), collect())
    assert builder.is_building
    builder.end_building()
    assert len(builder.graph_definition.nodes()) == 1


@pytest.mark.parametrize("mode", MODES)
def test_garbage_of_all_kinds_that_another_thread_collects_spoils_no_capture(
    mode, builder, stream, fresh_kernels, kernels, pinned
):
    x = pinned([0])

    def capture():
        builder.begin_building(mode)
        yield
        for _ in range(2):
            cg.launch(builder, ONE, kernels.add, x.ctypes.data, 1, 1)
            yield
        builder.end_building()
        yield

    def litter():
        device, own, code = cg.Device(0), cg.Device(0).create_stream(), fresh_kernels()
        g = cg.GraphDef()
        g.launch(ONE, code.add, x.ctypes.data, 1, 10)
        graph = g.instantiate()
        graph.launch(own)
        ring = [device, code, g, graph, own.record(), own.create_graph_builder().begin_building(mode)]
        ring += [
            device.allocate(64),
            cg.PinnedMemoryResource().allocate(64),
            cg.SynchronousMemoryResource(0).allocate(64),
        ]
        ring += [cg.DeviceMemoryResource(0, cg.DeviceMemoryResourceOptions()), device.create_stream()]
        ring.append(ring)
        yield
        del device, own, code, g, graph, ring
        yield
        yield
        yield

    def collect():
        yield
        yield
        gc.collect()
        yield
        yield

    with no_collector():
        in_step(capture(), litter(), collect())
    builder.complete().launch(stream)
    cg.Device(0).sync()
    assert x[0] == 12
