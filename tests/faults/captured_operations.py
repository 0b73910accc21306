# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Operations of captures, streams and buffers (operations.py says what an operation is)."""

import ctypes
import warnings

import cuda_graphs as cg
from tests.faults.operations import OPERATIONS, abs_of_nothing, operation, result, shape, zeros
from tests.graph_rig import ONE

# Captures: a builder on a stream of its own, which is ended and run afterwards.


def captures(name, do):
    def capturing(world):
        builder = world.device.create_graph_builder().begin_building()
        launch_on(world, builder, 0)
        kept = []
        yield lambda: kept.append(do(world, builder))
        assert builder.is_building
        builder.end_building()
        g = builder.graph_definition
        yield shape(g), result(world, builder.complete())

    OPERATIONS[name] = capturing


def launch_on(world, place, i):
    cg.launch(place, ONE, world.kernels.add, world.at(i), 1, 1)


def split_and_join(world, builder):
    _, fork = builder.split(2)
    launch_on(world, fork, 1)
    cg.GraphBuilder.join(builder, fork)


def fill_captured(world, builder):
    zeros(world).fill(3, stream=builder)


def copy_captured(world, builder):
    zeros(world).copy_to(zeros(world), stream=builder)


def embedded_child(world):
    with world.device.create_graph_builder() as child:
        launch_on(world, child, 4)
    return child


captures("capture_kernel", lambda w, b: launch_on(w, b, 1))
captures("capture_fill", fill_captured)
captures("capture_copy", copy_captured)
captures("capture_callback", lambda w, b: b.callback(abs_of_nothing, name="host"))


@operation
def capture_embed(world):
    builder, inner = world.device.create_graph_builder().begin_building(), embedded_child(world)
    launch_on(world, builder, 0)
    yield lambda: builder.embed(inner, name="inside")
    builder.end_building()
    yield shape(builder.graph_definition), result(world, builder.complete())


def end_empty(builder):
    """End a capture that may be empty."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cg.CaptureWarning)
        builder.end_building()


@operation
def begin_building(world):
    stream = world.device.create_stream()
    builder = stream.create_graph_builder()
    yield lambda: builder.begin_building("thread_local")
    state = builder.state
    if state == "capturing":
        end_empty(builder)
    yield state, builder.close()


@operation
def end_building(world):
    builder = world.device.create_graph_builder().begin_building()
    launch_on(world, builder, 0)
    yield lambda: builder.end_building()
    state = builder.state
    if state == "capturing":
        end_empty(builder)
    yield state, result(world, builder.complete())


@operation
def end_building_of_a_body(world):
    with world.device.create_graph_builder() as builder:
        body = builder.if_then(builder.create_condition(1)).begin_building()
        launch_on(world, body, 0)
        yield lambda: body.end_building()
        if body.state == "capturing":
            body.end_building()
    yield result(world, builder.complete())


@operation
def end_building_round_a_body(world):
    """A body may be ended before or after what is around it."""
    builder = world.device.create_graph_builder().begin_building()
    body = builder.if_then(builder.create_condition(1)).begin_building()
    launch_on(world, body, 0)
    yield lambda: builder.end_building()
    body.end_building()
    if builder.state == "capturing":
        builder.end_building()
    yield result(world, builder.complete())


@operation
def complete(world):
    with world.device.create_graph_builder() as builder:
        launch_on(world, builder, 0)
    made = []
    yield lambda: made.append(builder.complete())
    yield shape(builder.graph_definition), [result(world, graph) for graph in made]


@operation
def split(world):
    builder = world.device.create_graph_builder().begin_building()
    launch_on(world, builder, 0)
    made = []
    yield lambda: made.append(builder.split(3))
    if made:
        cg.GraphBuilder.join(*made[0])
    builder.end_building()
    yield shape(builder.graph_definition), len(made)


@operation
def work_on_a_stream(world):
    """Uses the ordinary operations of a stream, and its queries."""
    stream, other = world.device.create_stream(), world.device.create_stream()
    start = stream.record(options={"timing_enabled": True})
    seen = []

    def work():
        launch_on(world, stream, 0)
        stop = stream.record(options={"timing_enabled": True})
        other.wait(stop)
        other.sync()
        seen.append((stop - start >= 0, stop.is_done, stream.priority, stream.is_nonblocking, stream.device))

    world.x[:] = 0
    yield work
    stream.sync()
    yield len(seen), bool(seen) and world.x[0] > 0


@operation
def memory_of_a_capture(world):
    memory = cg.GraphMemoryResource(world.device)
    builder = world.device.create_graph_builder().begin_building()
    made = []
    yield lambda: made.append(memory.allocate(64, stream=builder))
    for buffer in made:
        buffer.fill(3, stream=builder)
        buffer.close()
    end_empty(builder)
    yield shape(builder.graph_definition), len(made)


@operation
def close_memory_of_a_capture(world):
    memory = cg.GraphMemoryResource(world.device)
    builder = world.device.create_graph_builder().begin_building()
    buffer = memory.allocate(64, stream=builder)
    yield lambda: buffer.close()
    closed = buffer.is_closed
    buffer.close()
    builder.end_building()
    yield shape(builder.graph_definition), closed


@operation
def graph_memory_attributes(world):
    memory, seen = cg.GraphMemoryResource(world.device), []

    def look():
        attributes = memory.attributes
        attributes.used_mem_high = attributes.reserved_mem_high = 0
        memory.trim()
        seen.append((attributes.used_mem_current, attributes.reserved_mem_current))

    yield look
    yield len(seen)


@operation
def buffers_tell_what_they_are(world):
    stream = world.device.create_stream()
    buffer, seen = world.device.allocate(64, stream=stream), []

    def look():
        seen.append(
            (buffer.is_device_accessible, buffer.is_host_accessible, buffer.is_managed, buffer.device_id,
             buffer.__dlpack_device__())
        )  # fmt: skip

    yield look
    yield len(seen)


@operation
def streams_by_number(world):
    library = ctypes.CDLL(cg.driver_info().path)
    raw, made = ctypes.c_void_p(), []
    library.cuStreamCreate(ctypes.byref(raw), ctypes.c_uint(1))

    def work():
        stream = cg.Stream.from_handle(raw.value)
        launch_on(world, stream, 0)
        stream.sync()
        made.append(stream)

    yield work
    number = len(made)
    made.clear()
    library.cuStreamDestroy_v2(raw)
    yield number
