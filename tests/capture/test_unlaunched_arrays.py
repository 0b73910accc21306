# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: an array of a captured graph has no memory before the first launch of the graph. Until then, work outside of
graphs that takes the array raises an error, and nothing is launched. Nodes of graphs take the array at any time."""

import ctypes
import dataclasses
import gc
import threading

import numpy as np
import pytest

import cuda_graphs as cg

f32_1d = cg.types.ndarray(cg.f32, ndim=1)
N = 8
KEPT = 3.0  # the elements of the array after a launch of its graph
REFUSED = r"captured graph, which has not been launched(.|\n)*Remedy: Launch the graph first"


@cg.kernel
def add(x: f32_1d, y: f32_1d):
    for i in range(x.shape[0]):
        x[i] += y[i]


@cg.kernel(graph=True)
def add_twice(x: f32_1d, y: f32_1d):
    for i in range(x.shape[0]):
        x[i] += y[i]
    for i in range(x.shape[0]):
        x[i] += y[i]


@cg.kernel
def square(x: f32_1d, y: f32_1d):
    for i in range(x.shape[0]):
        y[i] += x[i] ** 2


@dataclasses.dataclass
class State:
    values: f32_1d


@dataclasses.dataclass(frozen=True)
class FixedState:
    values: f32_1d


@dataclasses.dataclass
class Particle:
    place: cg.vec3
    mass: cg.f32


@cg.kernel
def add_state(state: State, y: f32_1d):
    for i in range(y.shape[0]):
        y[i] += state.values[i]


@cg.kernel
def add_fixed(state: FixedState, y: f32_1d):
    for i in range(y.shape[0]):
        y[i] += state.values[i]


@cg.kernel
def add_masses(particles: cg.types.ndarray(Particle, ndim=1), y: f32_1d):
    for i in particles:
        y[i] += particles[i].mass


KERNELS = (add, add_twice, square, add_state, add_fixed, add_masses)


@pytest.fixture(autouse=True)
def graph_memory(device):
    yield
    device.sync()
    for each in KERNELS:
        each.forget()
    gc.collect()
    cg.GraphMemoryResource(device).trim()


@pytest.fixture
def total(device):
    return cg.ndarray(cg.f32, N)


@dataclasses.dataclass
class Captured:
    builder: cg.GraphBuilder
    kept: cg.NDArray
    varied: cg.NDArray
    particles: object
    state: State
    fixed: FixedState


@pytest.fixture
def captured(device):
    with cg.capture() as builder:
        kept = cg.ndarray(cg.f32, N)
        kept.fill(KEPT)
        varied = cg.ndarray(cg.f32, N, needs_grad=True)
        particles = cg.ndarray(Particle, N)
    return Captured(builder, kept, varied, particles, State(kept), FixedState(kept))


def launch_one(of, total, stream):
    cg.launch(stream, cg.LaunchConfig(grid=1, block=N), add, total, of.kept)


def copy_of(of, total, stream):
    cg.PinnedMemoryResource().allocate(4 * N, stream=stream).copy_from(of.kept.buffer, stream=stream)


def set_part(of, total, stream):
    of.kept[2:5] = 1


USES = {
    "kernel": lambda of, total, stream: add(total, of.kept),
    "kernel on a stream": lambda of, total, stream: add(of.kept, total, stream=stream),
    "part": lambda of, total, stream: add(total[2:], of.kept[2:]),
    "view": lambda of, total, stream: add(total, of.kept.buffer.view(cg.f32)),
    "member": lambda of, total, stream: add_state(of.state, total),
    "frozen member": lambda of, total, stream: add_fixed(of.fixed, total),
    "array of structures": lambda of, total, stream: add_masses(of.particles, total),
    "graph kernel": lambda of, total, stream: add_twice(total, of.kept),
    "gradient": lambda of, total, stream: square.grad(of.varied, total),
    "launch": launch_one,
    "fill": lambda of, total, stream: of.kept.fill(1),
    "fill of a part": set_part,
    "copy to": lambda of, total, stream: of.kept.copy_from(total),
    "copy from": lambda of, total, stream: total.copy_from(of.kept),
    "fill of a Buffer": lambda of, total, stream: of.kept.buffer.fill(1, stream=stream),
    "copy of a Buffer": copy_of,
    "copy to a Buffer": lambda of, total, stream: of.kept.buffer.copy_from(total.buffer, stream=stream),
    "read": lambda of, total, stream: of.kept.to_numpy(),
    "write": lambda of, total, stream: of.kept.from_numpy(np.ones(N, "f4")),
    "deep copy": lambda of, total, stream: of.kept.__deepcopy__({}),
}


@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_work_outside_of_graphs_takes_an_array_from_the_first_launch_of_its_graph_on(
    use, captured, stream, total
):
    for _ in range(3):
        with pytest.raises(cg.CUDAError, match=REFUSED):
            use(captured, total, stream)
    graph = captured.builder.complete()
    with pytest.raises(cg.CUDAError, match=REFUSED):
        use(captured, total, stream)
    assert (total.to_numpy() == 0).all()  # nothing was launched, and the context works
    graph.launch(stream)
    stream.sync()
    for _ in range(3):
        use(captured, total, stream)
    stream.sync()
    assert not (total.to_numpy() < 0).any()


def test_tensor_is_no_copy_of_an_array_without_memory(captured):
    pytest.importorskip("torch")
    with pytest.raises(cg.CUDAError, match=REFUSED):
        captured.kept.to_torch()


@pytest.mark.parametrize(
    ("use", "name"),
    [
        ("kernel", r"call of add\(\) with <NDArray f32 shape=\(8,\)> as 'y'"),
        ("part", r"call of add\(\) with <NDArray f32 shape=\(6,\)> as 'y'"),
        ("member", r"call of add_state\(\) with <NDArray f32 shape=\(8,\)> as 'state.values'"),
        ("array of structures", r"call of add_masses\(\) with <Buffer .*> as 'particles.place'"),
        ("launch", r"launch of kernel 'add_.*' with <Buffer .*> as argument"),
        ("fill", r"copy or fill of <NDArray f32 shape=\(8,\)>"),
        ("copy of a Buffer", "copy from <Buffer "),
    ],
)
def test_the_error_names_the_array_and_the_work(use, name, captured, stream, total):
    with pytest.raises(cg.CUDAError, match=f"Attempted: {name}"):
        USES[use](captured, total, stream)


def test_the_first_use_needs_no_wait_for_the_launch(captured, stream, total):
    graph = captured.builder.complete()
    graph.launch(stream)
    add(total, captured.kept, stream=stream)
    launch_one(captured, total, stream)
    stream.sync()
    assert (total.to_numpy() == 2 * KEPT).all()


def test_a_launch_by_another_thread_counts(captured, device, stream, total):
    graph = captured.builder.complete()

    def run():
        device.set_current()
        graph.launch(stream)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    add(total, captured.kept, stream=stream)
    stream.sync()
    assert (total.to_numpy() == KEPT).all()


def test_a_launch_by_other_code_counts(captured, stream, total, driver_table):
    graph = captured.builder.complete()
    with pytest.raises(cg.CUDAError, match=REFUSED):
        add(total, captured.kept)
    assert driver_table.original("cuGraphLaunch")(graph.handle, stream.handle) == 0
    add(total, captured.kept, stream=stream)
    stream.sync()
    assert (total.to_numpy() == KEPT).all()


def test_array_stays_usable_in_later_launches(captured, stream, total):
    graph = captured.builder.complete()
    for launches in range(1, 4):
        graph.launch(stream)
        add(total, captured.kept, stream=stream)
        stream.sync()
        assert (total.to_numpy() == KEPT * launches).all()


def test_array_of_a_graph_that_is_gone_without_a_launch_is_refused(captured, stream, total):
    kept = captured.kept
    captured.builder.close()
    captured.builder = None
    gc.collect()
    with pytest.raises(cg.CUDAError, match=REFUSED):
        add(total, kept)
    with pytest.raises(cg.CUDAError, match=REFUSED):
        total.copy_from(kept)
    assert (total.to_numpy() == 0).all()


def captured_by_a_builder(of, total, stream):
    with cg.capture(stream) as builder:
        add(total, of.kept)
        add_fixed(of.fixed, total)
        launch_one(of, total, builder)
    return builder.complete()


def nodes_of_a_definition(of, total, stream):
    definition = cg.GraphDef()
    node = definition.call(add, total, of.kept).call(add_fixed, of.fixed, total)
    node.launch(cg.LaunchConfig(grid=1, block=N), add, total, of.kept)
    return definition.instantiate()


@pytest.mark.parametrize("make", [captured_by_a_builder, nodes_of_a_definition])
def test_other_graphs_take_the_array_before_its_graph_is_launched(make, captured, stream, total):
    other = make(captured, total, stream)
    captured.builder.complete().launch(stream)
    for _ in range(2):
        other.launch(stream)
    stream.sync()
    assert (total.to_numpy() == 6 * KEPT).all()


def test_a_capture_of_other_code_takes_the_array(captured, device, stream, total, driver_table):
    add(total, cg.ndarray(cg.f32, N))  # compiles
    device.sync()
    original, word = driver_table.original, ctypes.c_void_p
    graph, exec_ = word(), word()
    assert original("cuStreamBeginCapture")(stream.handle, 2) == 0  # CU_STREAM_CAPTURE_MODE_RELAXED
    add(total, captured.kept, stream=stream)
    launch_one(captured, total, stream)
    assert original("cuStreamEndCapture")(stream.handle, ctypes.addressof(graph)) == 0
    captured.builder.complete().launch(stream)
    assert original("cuGraphInstantiateWithFlags")(ctypes.addressof(exec_), graph.value, 0) == 0
    assert original("cuGraphLaunch")(exec_.value, stream.handle) == 0
    stream.sync()
    assert original("cuGraphExecDestroy")(exec_.value) == 0
    assert original("cuGraphDestroy")(graph.value) == 0
    assert (total.to_numpy() == 2 * KEPT).all()


def test_calls_in_a_capture_allow_no_calls_outside(captured, stream, total):
    with cg.capture(stream) as builder:
        for _ in range(4):  # later calls read the members from a block that earlier calls have kept
            add_state(captured.state, total)
            add_fixed(captured.fixed, total)
            add(total, captured.kept)
    for use in ("kernel", "member", "frozen member"):
        with pytest.raises(cg.CUDAError, match=REFUSED):
            USES[use](captured, total, stream)
    assert (total.to_numpy() == 0).all()
    captured.builder.complete().launch(stream)
    for _ in range(4):
        add_fixed(captured.fixed, total, stream=stream)
    builder.complete().launch(stream)
    stream.sync()
    assert (total.to_numpy() == 16 * KEPT).all()


def test_stream_that_is_not_captured_takes_no_array_of_a_capture(device, stream, total):
    with cg.capture() as builder:
        kept = cg.ndarray(cg.f32, N)
        kept.fill(KEPT)
        with pytest.raises(cg.CUDAError, match=REFUSED):
            add(total, kept, stream=stream)
        add(total, kept)
    builder.complete().launch(stream)
    stream.sync()
    assert (total.to_numpy() == KEPT).all()


def test_buffer_has_its_device_from_the_first_launch_on(captured, device, stream):
    buffer = captured.kept.buffer
    assert buffer.device_id == -1
    captured.builder.complete().launch(stream)
    assert buffer.device_id == device.device_id
