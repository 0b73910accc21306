# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: the mode, the thread and the operation alone decide whether an operation is forbidden during a capture. An
allowed operation works as at any other time and leaves the capture as it is. A refused operation either spoils the
capture or leaves it as it is, and the tables below say which.

An operation is a generator. Up to the first `yield` it makes its objects, before the capture begins. Then it does its
work during the capture, in the thread under test. After the second `yield` it checks the effect. The answers of the
driver are those of an H200 (tests/conformance/driver/h200.json, capture_modes/*). docs/guide/capture-modes.md says that
this package allocates, frees, instantiates and unloads in every mode.
"""

import copy
import gc
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pytest

import cuda_graphs as cg
from tests.graph_rig import ONE

MODES = ("global", "thread_local", "relaxed")
PLACES = ("here", "elsewhere")
PINNED = cg.PinnedMemoryResource()


@pytest.fixture
def elsewhere():
    """elsewhere(work): runs it on another thread, always the same, and gives what it gives or raises."""
    with ThreadPoolExecutor(1, initializer=lambda: cg.Device(0).set_current()) as pool:
        yield lambda work: pool.submit(work).result()


@pytest.fixture
def world(device, stream, kernels, pinned):
    """The objects that operations work on. No capture uses `stream`."""
    x = pinned([0])
    return SimpleNamespace(
        device=device,
        stream=stream,
        kernels=kernels,
        x=x,
        address=x.ctypes.data,
        add=lambda where, amount=1: cg.launch(where, ONE, kernels.add, x.ctypes.data, 1, amount),
    )


def define(w, amount=1):
    g = cg.GraphDef()
    node = g.launch(ONE, w.kernels.add, w.address, 1, amount)
    return g, node


# Operations that every mode allows to every thread.


def launch_a_kernel(w):
    yield
    w.add(w.stream)
    yield
    assert w.x[0] == 1


def launch_on_the_default_stream(w):
    yield
    w.add(w.device.default_stream)
    yield
    assert w.x[0] == 1


def copy_and_fill(w):
    staging = PINNED.allocate(4)
    memory = w.device.allocate(4, stream=w.stream)
    w.stream.sync()
    yield
    memory.fill(7, stream=w.stream)
    memory.copy_to(staging, stream=w.stream)
    yield
    assert np.from_dlpack(staging).tolist() == [7] * 4


def record_and_wait_on_the_device(w):
    event = w.stream.record()
    w.stream.sync()
    yield
    w.stream.record(event)
    w.device.create_stream().wait(event)
    w.stream.wait(w.device.create_stream())
    yield
    assert event.is_done


def measure_time(w):
    early, late = (w.stream.record(options={"timing_enabled": True}) for _ in range(2))
    w.stream.sync()
    yield
    assert late - early >= 0
    yield


def make_and_close_streams_and_events(w):
    stream, event = w.device.create_stream(), w.device.create_event()
    yield
    stream.close()
    event.close()
    w.device.create_stream().close()
    w.device.create_event().close()
    yield


def allocate_from_the_pool(w):
    yield
    w.memory = w.device.allocate(64, stream=w.stream)
    w.memory.fill(1, stream=w.stream)
    yield
    assert w.memory.handle


def free_to_the_pool(w):
    memory = w.device.allocate(64, stream=w.stream)
    yield
    memory.close(stream=w.stream)
    yield
    assert memory.is_closed


def allocate_with_the_device_waiting(w):
    resource = cg.SynchronousMemoryResource(w.device)
    old = resource.allocate(64)
    yield
    old.close()
    resource.allocate(64).close()
    yield


def allocate_pinned(w):
    old = PINNED.allocate(64)
    yield
    old.close()
    new = PINNED.allocate(4)
    np.from_dlpack(new)[:] = 3
    new.close()
    yield


def allocate_managed(w):
    resource = cg.ManagedMemoryResource(w.device)
    old = resource.allocate(64)
    yield
    old.close()
    resource.allocate(64).close()
    yield


def make_and_drop_a_pool(w):
    yield
    resource = cg.DeviceMemoryResource(w.device, cg.DeviceMemoryResourceOptions())
    resource.allocate(64, stream=w.stream).close(stream=w.stream)
    del resource
    gc.collect()
    yield


def ask_graph_memory(w):
    resource = cg.GraphMemoryResource(w.device)
    yield
    assert resource.attributes.reserved_mem_current >= 0
    resource.trim()
    yield


def build_and_drop_a_definition(w):
    old = define(w)
    yield
    g, node = define(w)
    node.join(g.record_event(w.device.create_event()))
    assert len(g.nodes()) == 3
    g.alloc(64)
    w.copy = cg.GraphDef()
    w.copy.embed(define(w)[0])
    old = None
    gc.collect()
    yield
    w.copy.instantiate().launch(w.stream)
    w.stream.sync()
    assert (w.x[0], old) == (1, None)


def instantiate_launch_update_and_close(w):
    first, second = define(w, 1), define(w, 10)
    old = first[0].instantiate()
    yield
    old.upload(w.stream)
    old.launch(w.stream)
    old.update(second[0])
    old.launch(w.stream)
    old[first[1]].update(config=ONE, kernel=w.kernels.add, args=(w.address, 1, 100))
    old.launch(w.stream)
    old.close()
    new = first[0].instantiate()
    new.launch(w.stream)
    new.close()
    yield
    assert w.x[0] == 112


def set_a_parameter(w):
    g = cg.GraphDef()
    g.launch(ONE, w.kernels.add, w.address, 1, g.param("amount", cg.i32, default=1))
    graph = g.instantiate()
    yield
    graph.set(amount=2)
    graph.launch(w.stream)
    graph.launch(w.stream, amount=30)
    yield
    assert w.x[0] == 32


def capture_another_stream(w):
    yield
    inner = w.stream.create_graph_builder().begin_building("relaxed")
    w.add(inner)
    inner.end_building()
    graph = inner.complete()
    graph.launch(w.stream)
    inner.close()
    yield
    assert w.x[0] == 1


def give_a_capture_up(w):
    """The collector does the same (test_threads.py)."""
    yield
    w.device.create_graph_builder().begin_building("relaxed").close()
    yield


def load_and_unload_code(w):
    code = w.kernels.module
    old = copy.copy(code)
    kernel = old.get_kernel("add")
    yield
    cg.launch(w.stream, ONE, kernel, w.address, 1, 1)
    old = kernel = None
    gc.collect()
    new = copy.copy(code).get_kernel("add")
    assert new.num_arguments == 3
    cg.launch(w.stream, ONE, new, w.address, 1, 10)
    yield
    assert (w.x[0], old, kernel) == (11, None, None)


def ask_the_device_and_kernels(w):
    yield
    assert w.device.name
    assert w.device.properties.multiprocessor_count > 0
    assert w.kernels.add.attributes.max_threads_per_block > 0
    assert w.stream.priority <= 0
    assert w.stream.is_nonblocking
    yield


ALLOWED = [
    launch_a_kernel,
    launch_on_the_default_stream,
    copy_and_fill,
    record_and_wait_on_the_device,
    measure_time,
    make_and_close_streams_and_events,
    allocate_from_the_pool,
    free_to_the_pool,
    allocate_with_the_device_waiting,
    allocate_pinned,
    allocate_managed,
    make_and_drop_a_pool,
    ask_graph_memory,
    build_and_drop_a_definition,
    instantiate_launch_update_and_close,
    set_a_parameter,
    capture_another_stream,
    give_a_capture_up,
    load_and_unload_code,
    ask_the_device_and_kernels,
]

# Waits for the device, and queries whether it is done: forbidden to the threads that the mode names.


def wait_for_a_stream(w):
    yield
    w.stream.sync()


def wait_for_the_default_stream(w):
    yield
    w.device.default_stream.sync()


def wait_for_an_event(w):
    event = w.stream.record()
    w.stream.sync()
    yield
    event.sync()


def ask_an_event(w):
    event = w.stream.record()
    w.stream.sync()
    yield
    assert event.is_done


WAITING = [wait_for_a_stream, wait_for_the_default_stream, wait_for_an_event, ask_an_event]

# The same for captured streams and events: forbidden to every thread.


def wait_for_the_captured_stream(w):
    yield
    w.builder.stream.sync()


def wait_for_the_device(w):
    yield
    w.device.sync()


def wait_for_a_captured_event(w):
    event = w.device.create_event()
    yield
    w.builder.stream.record(event)
    event.sync()


def ask_a_captured_event(w):
    event = w.device.create_event()
    yield
    w.builder.stream.record(event)
    assert event.is_done


CONFLICTING = {
    wait_for_the_captured_stream: 900,
    wait_for_the_device: 900,
    wait_for_a_captured_event: 907,
    ask_a_captured_event: 907,
}

# Operations that are refused before they reach the driver.


def launch_an_executable_into_the_capture(w):
    graph = define(w)[0].instantiate()
    yield
    graph.launch(w.builder.stream)


def upload_an_executable_into_the_capture(w):
    graph = define(w)[0].instantiate()
    yield
    graph.upload(w.builder.stream)


def allocate_from_the_pool_in_the_capture(w):
    yield
    w.device.allocate(64, stream=w.builder)


def ask_the_flags_of_the_captured_stream(w):
    yield
    assert w.builder.stream.is_nonblocking


HARMLESS = {
    launch_an_executable_into_the_capture: 900,
    upload_an_executable_into_the_capture: 900,
    allocate_from_the_pool_in_the_capture: None,
    ask_the_flags_of_the_captured_stream: None,
}


def perform(w, operation, mode, perform_at):
    """The status that the operation was refused with, None for none. Its last step is left to do."""
    captured = w.captured = np.from_dlpack(PINNED.allocate(4)).view(np.uint32)
    captured[:] = 1
    steps = operation(w)
    next(steps)
    w.builder = w.device.create_graph_builder().begin_building(mode)
    cg.launch(w.builder, ONE, w.kernels.affine, captured.ctypes.data, 2, 1)
    code = None
    try:
        perform_at(lambda: next(steps, None))
    except (cg.CUDAError, RuntimeError) as refused:
        code = getattr(refused, "code", "refused")
    return steps, code


def is_sound(w):
    """Ends the capture and checks that the graph holds the captured work and nothing else."""
    assert w.builder.is_building
    cg.launch(w.builder, ONE, w.kernels.affine, w.captured.ctypes.data, 3, 5)
    w.builder.end_building()
    nodes = w.builder.graph_definition.nodes()
    graph = w.builder.complete()
    w.device.sync()  # what the operation did is done
    graph.launch(w.stream)
    w.stream.sync()
    return [type(node) for node in nodes] == [cg.KernelNode] * 2 and w.captured[0] == (1 * 2 + 1) * 3 + 5


def is_spoiled(w):
    with pytest.raises(cg.CaptureError) as at_work:
        cg.launch(w.builder, ONE, w.kernels.nothing)
    with pytest.raises(cg.CaptureError) as at_end:
        w.builder.end_building()
    w.builder.close()
    w.device.sync()
    w.add(w.stream)
    w.stream.sync()  # and all is as if it had not been
    return (at_work.value.code, at_end.value.code) == (901, 901)


@pytest.fixture
def at(elsewhere):
    return {"here": lambda work: work(), "elsewhere": elsewhere}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("operation", ALLOWED)
def test_no_mode_forbids(operation, place, mode, world, at):
    steps, code = perform(world, operation, mode, at[place])
    assert code is None
    assert is_sound(world)
    next(steps, None)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("operation", WAITING)
def test_waiting_is_forbidden_to_the_threads_of_the_mode(operation, place, mode, world, at):
    forbidden = mode == "global" or (mode == "thread_local" and place == "here")
    _, code = perform(world, operation, mode, at[place])
    assert code == (900 if forbidden else None)
    assert is_spoiled(world) if forbidden else is_sound(world)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("operation", CONFLICTING)
def test_waiting_for_what_is_captured_is_forbidden_to_all(operation, place, mode, world, at):
    _, code = perform(world, operation, mode, at[place])
    assert code == CONFLICTING[operation]
    assert is_spoiled(world)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("operation", HARMLESS)
def test_operation_refused_before_the_driver_is_asked_spoils_nothing(operation, place, mode, world, at):
    _, code = perform(world, operation, mode, at[place])
    assert code == (HARMLESS[operation] or "refused")
    assert is_sound(world)


@pytest.mark.parametrize("mode", MODES)
def test_any_thread_may_add_to_a_capture_and_its_own_ends_it(mode, world, elsewhere):
    """h200.json: capture_modes/a_capture_continued_in_another_thread, capture_ends/in_another_thread_*."""
    w = world
    builder = w.device.create_graph_builder().begin_building(mode)
    w.add(builder)
    elsewhere(lambda: w.add(builder, 10))
    branches = elsewhere(lambda: builder.split(2))
    elsewhere(lambda: w.add(branches[1], 100))
    cg.GraphBuilder.join(*branches)
    if mode != "relaxed":
        with pytest.raises(cg.CaptureError) as refused:
            elsewhere(builder.end_building)
        assert refused.value.code == 908
        assert builder.is_building
    (builder.end_building if mode != "relaxed" else lambda: elsewhere(builder.end_building))()
    assert len(builder.graph_definition.nodes()) == 3
    graph = elsewhere(builder.complete)
    elsewhere(lambda: graph.launch(w.stream))
    w.stream.sync()
    assert w.x[0] == 111


def test_the_default_stream_cannot_be_captured_and_the_error_says_so(device):
    stream = cg.Stream.from_handle(1)
    with (
        pytest.raises(cg.CUDAError, match="default stream cannot be captured") as refused,
        cg.capture(stream),
    ):
        pass
    assert "create_stream()" in refused.value.remedy
    with cg.capture() as builder:  # the next capture works
        pass
    assert not builder.graph_definition.nodes()
