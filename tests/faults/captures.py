# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Scenarios of graphs that are captured, and of the objects round them."""

import copy
import ctypes

import cuda_graphs as cg
from tests.faults.definitions import fresh_kernels
from tests.faults.rig import refused, scenario
from tests.graph_rig import ONE


def add(world, stream, i, amount=1):
    cg.launch(stream, ONE, world.kernels.add, world.at(i), 1, amount)


def run(world, builder, times=1):
    stream = world.device.create_stream()
    graph = builder.complete()
    for _ in range(times):
        graph.launch(stream)
    stream.sync()
    return graph


def usable(world, stream):
    """Ordinary work on a stream that was in a capture."""
    before = world.x[63]
    add(world, stream, 63)
    stream.sync()
    assert world.x[63] == before + 1


@scenario
def a_capture_of_kernels(world):
    builder = world.device.create_graph_builder()
    builder.begin_building("thread_local")
    assert builder.is_building
    add(world, builder, 0)
    cg.launch(builder, ONE, fresh_kernels(world).add, world.at(0), 1, 2)
    builder.end_building()
    graph, other = run(world, builder, times=2), builder.complete()
    builder.debug_dot_print("/dev/null")
    builder.close()
    assert graph.handle != other.handle
    assert world.x[0] == 6


@scenario
def captures_of_a_stream_in_each_mode(world):
    stream = world.device.create_stream()
    for mode in ("global", "thread_local", "relaxed"):
        builder = stream.create_graph_builder().begin_building(mode)
        add(world, stream, 0)
        with refused(RuntimeError, "capturing already"):
            builder.begin_building()
        run_after = builder.end_building().complete()
        run_after.launch(stream)
        stream.sync()
        builder.close()
    usable(world, stream)
    assert world.x[0] == 3


@scenario
def forks_and_joins(world):
    with world.device.create_graph_builder() as builder:
        add(world, builder, 0)
        _, left, right = builder.split(3)
        inner = right.split(2)
        for i, branch in enumerate((left, *inner)):
            add(world, branch, 1 + i)
        assert cg.GraphBuilder.join(*inner) is right
        assert cg.GraphBuilder.join(left, right, builder) is builder
        add(world, builder, 0)
    run(world, builder)
    assert list(world.x[:4]) == [2, 1, 1, 1]


@scenario
def a_fork_that_is_not_joined(world):
    builder = world.device.create_graph_builder().begin_building()
    _, fork = builder.split(2)
    add(world, fork, 0)
    with refused(cg.CaptureError, "UNJOINED"):
        builder.end_building()
    fork.close()
    usable(world, builder.stream)


@scenario
def builders_of_two_captures_cannot_be_joined(world):
    with world.device.create_graph_builder() as one, world.device.create_graph_builder() as two:
        _, fork = two.split(2)
        with refused(cg.CaptureError, "MERGE"):
            cg.GraphBuilder.join(one, fork)
        cg.GraphBuilder.join(two, fork)
        add(world, two, 0)
        add(world, one, 0)
    run(world, one)
    assert world.x[0] == 1


@scenario
def conditional_bodies_by_capture(world):
    with world.device.create_graph_builder() as builder:
        count = builder.create_condition(1)
        cg.launch(builder, ONE, world.kernels.add, world.at(0), 1, 3)
        with builder.while_loop(count) as body:
            add(world, body, 1)
            inner = body.create_condition(2)
            for i, branch in enumerate(body.switch(inner, 3)):
                with branch:
                    add(world, branch, 2 + i)
            cg.launch(body, ONE, world.kernels.count_down, count, world.at(0))
        _, otherwise = builder.if_else(builder.create_condition(0))
        with otherwise:
            one, fork = otherwise.split(2)
            add(world, fork, 5)
            cg.GraphBuilder.join(one, fork)
        with builder.if_then(builder.create_condition(1)) as body:
            add(world, body, 7)
    run(world, builder)
    assert list(world.x[:8]) == [0, 3, 0, 0, 3, 1, 0, 1]


@scenario
def bodies_by_definition_and_capture(world):
    with world.device.create_graph_builder() as builder:
        body = builder.if_then(builder.create_condition(1))
        node = body.graph_definition.launch(ONE, world.kernels.add, world.at(0), 1, 1)
        with body:
            add(world, body, 1)
        node.launch(ONE, world.kernels.add, world.at(2), 1, 1)
        assert len(body.graph_definition.nodes()) == 3
    definition = builder.graph_definition
    definition.launch(ONE, world.kernels.add, world.at(3), 1, 1)
    definition.debug_dot_print("/dev/null")
    run(world, builder)
    assert list(world.x[:4]) == [1, 1, 1, 1]


@scenario
def copies_fills_and_callbacks_in_a_capture(world):
    called = []

    @ctypes.CFUNCTYPE(None, ctypes.c_void_p)
    def note(pointer):
        called.append(ctypes.c_int.from_address(pointer).value)

    stream = world.device.create_stream()
    source, middle = world.pinned.allocate(64), world.device.allocate(64, stream=stream)
    target = world.pinned.allocate(64)
    stream.sync()
    with world.device.create_graph_builder() as builder:
        source.fill(7, stream=builder)
        middle.copy_from(source, stream=builder)
        middle.copy_to(target, stream=builder)
        builder.callback(lambda: called.append("python"))
        builder.callback(note, user_data=b"\x2a\0\0\0")
    del source, middle
    nodes = builder.graph_definition.nodes()
    assert sorted(type(node).__name__ for node in nodes) == [
        "HostCallbackNode", "HostCallbackNode", "MemcpyNode", "MemcpyNode", "MemsetNode",
    ]  # fmt: skip
    graph = run(world, builder, times=2)
    builder.close()
    assert called == ["python", 42] * 2
    del graph, nodes


@scenario
def builders_in_builders_and_updates_from_them(world):
    def captured(amount):
        with world.device.create_graph_builder() as builder:
            add(world, builder, 0, amount)
        return builder

    child = captured(1)
    with world.device.create_graph_builder() as builder:
        builder.embed(child)
        builder.embed(child)
    child.close()
    run(world, builder)
    assert world.x[0] == 2
    graph = captured(1).complete()
    graph.update(captured(10))
    stream = world.device.create_stream()
    graph.launch(stream)
    stream.sync()
    assert world.x[0] == 12
    with refused(cg.GraphUpdateError):
        graph.update(builder)


class Stop(Exception):
    pass


@scenario
def captures_given_up_by_an_exception(world):
    stream = world.device.create_stream()
    with refused(Stop), stream.create_graph_builder() as builder:
        add(world, builder, 0)
        body = builder.while_loop(builder.create_condition(1))
        with body:
            _, fork = body.split(2)
            add(world, fork, 1)
            raise Stop
    usable(world, stream)
    assert list(world.x[:2]) == [0, 0]


@scenario
def captures_closed_and_dropped(world):
    stream = world.device.create_stream()
    builder = stream.create_graph_builder().begin_building()
    add(world, builder, 0)
    builder.close()
    builder.close()
    usable(world, stream)
    builder = stream.create_graph_builder().begin_building()
    _, fork = builder.split(2)
    cg.launch(fork, ONE, fresh_kernels(world).add, world.at(0), 1, 2)
    body = builder.if_then(builder.create_condition(1)).begin_building()
    add(world, body, 1)
    del _, builder, fork, body
    usable(world, stream)
    assert list(world.x[:2]) == [0, 0]


@scenario
def a_spoiled_capture(world):
    stream = world.device.create_stream()
    builder = stream.create_graph_builder().begin_building()
    add(world, builder, 0)
    with refused(cg.CaptureError, "UNSUPPORTED"):
        stream.sync()
    with refused(RuntimeError, "invalidated"):
        _ = builder.is_building
    with refused(cg.CaptureError, "INVALIDATED"):
        builder.end_building()
    builder.close()
    usable(world, stream)


@scenario
def events_of_and_between_streams(world):
    one, two = world.device.create_stream(), world.device.create_stream(options={"priority": -1})
    start = one.record(options={"timing_enabled": True})
    add(world, one, 0)
    stop = one.record(options={"timing_enabled": True})
    two.wait(stop)
    two.wait(one)
    add(world, two, 0)
    done = two.record()
    done.sync()
    assert done.is_done
    assert stop - start >= 0
    with world.device.create_graph_builder() as builder:
        fork = world.device.create_stream()
        fork.wait(builder.stream)
        add(world, fork, 0)
        builder.stream.wait(fork)
    run(world, builder)
    assert world.x[0] == 3


@scenario
def streams_of_others(world):
    class Theirs:
        def __init__(self, stream):
            self.stream = stream

        def __cuda_stream__(self):
            return self.stream.__cuda_stream__()

    with world.device.create_graph_builder() as builder:
        theirs = Theirs(builder)
        add(world, theirs, 0)
        view = cg.Stream.from_handle(builder.stream.handle)
        add(world, view, 0)
        assert view == builder.stream
    stream = world.device.create_stream()
    graph = builder.complete()
    graph.launch(Theirs(stream))
    theirs = world.device.create_stream(Theirs(stream))
    assert theirs.handle == stream.handle
    stream.sync()
    assert world.x[0] == 2


@scenario
def buffers_of_each_resource(world):
    stream = world.device.create_stream()
    resources = [
        world.device.memory_resource, world.pinned, cg.SynchronousMemoryResource(world.device),
        cg.DeviceMemoryResource(world.device, {"max_size": 1 << 20}),
    ]  # fmt: skip
    for resource in resources:
        with resource.allocate(64, stream=stream) as buffer:
            buffer.fill(1, stream=stream)
            buffer.copy_to(world.pinned.allocate(64), stream=stream)
            stream.sync()
            assert buffer.is_device_accessible
            buffer.set_deallocation_stream(stream)
    stream.sync()


@scenario
def modules_and_kernels(world):
    module = copy.copy(world.compiled)
    kernel = module.get_kernel("add")
    assert kernel.num_arguments == 3
    assert kernel.attributes.max_threads_per_block > 0
    assert kernel.occupancy.max_active_blocks_per_multiprocessor(32, 0) > 0
    assert cg.Kernel.from_handle(kernel.handle).handle == kernel.handle
    with refused(cg.CUDAError, "NOT_FOUND"):
        module.get_kernel("no such kernel")
    stream = world.device.create_stream()
    cg.launch(stream, cg.LaunchConfig(grid=1, block=1, is_cooperative=True), kernel, world.at(0), 1, 3)
    stream.sync()
    assert world.x[0] == 3


@scenario
def memory_allocated_in_captures(world):
    memory = cg.GraphMemoryResource(world.device)
    stream = world.device.create_stream()
    for mode in ("global", "thread_local", "relaxed"):
        builder = stream.create_graph_builder().begin_building(mode)
        with memory.allocate(64, stream=builder) as buffer:
            buffer.fill(3, stream=builder)
            cg.launch(builder, ONE, world.kernels.add, buffer, 1, 1)
            world.device.create_stream()
        graph = builder.end_building().complete()
        graph.launch(stream)
        stream.sync()
        builder.close()
    assert memory.attributes.used_mem_high > 0
    memory.attributes.used_mem_high = 0
    memory.trim()
