# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Laws: an array that is made while the current stream is captured is memory of the graph. It gets a free node if it
dies in the block. Otherwise the graph keeps it, and its values are valid from one launch to the next. An array that is
made in a body is allocated before the outermost conditional node, and freed after it."""

import contextlib
import dataclasses
import gc
import inspect

import numpy as np
import pytest

import cuda_graphs as cg

f32_1d = cg.types.ndarray(cg.f32, ndim=1)
N = 8


@cg.kernel
def increase(x: f32_1d, amount: cg.f32):
    for i in range(x.shape[0]):
        x[i] += amount


@cg.kernel
def add(x: f32_1d, y: f32_1d):
    for i in range(x.shape[0]):
        x[i] += y[i]


@dataclasses.dataclass
class Particle:
    place: cg.vec3
    mass: cg.f32


@cg.kernel
def move(particles: cg.types.ndarray(Particle, ndim=1), total: f32_1d):
    for i in particles:
        particles[i].place += 1.0
        particles[i].mass += 2.0
        total[i] += particles[i].mass


@pytest.fixture(autouse=True)
def graph_memory(device):
    yield
    device.sync()
    for each in (increase, add, move, accumulate):
        each.forget()
    gc.collect()
    cg.GraphMemoryResource(device).trim()


@pytest.fixture
def total(device):
    return cg.ndarray(cg.f32, N)


def kinds(builder):
    return sorted(type(node).__name__ for node in builder.graph_definition.nodes())


def one(builder, kind):
    (found,) = (node for node in builder.graph_definition.nodes() if type(node).__name__ == kind)
    return found


def is_before(first, second):
    return first in second.pred or any(is_before(first, each) for each in second.pred)


def work(total):
    temporary = cg.ndarray(cg.f32, N)
    increase(temporary, 3.0)
    add(total, temporary)
    return temporary


def test_array_that_dies_in_the_block_is_allocated_and_freed_by_the_graph(device, stream, total):
    with cg.capture() as builder:
        work(total)
    assert kinds(builder) == ["AllocNode", "FreeNode", "KernelNode", "KernelNode", "MemsetNode"]
    assert is_before(one(builder, "AllocNode"), one(builder, "FreeNode"))
    graph = builder.complete()
    for _ in range(3):
        graph.launch(stream)
    assert (total.to_numpy() == 9).all()


def test_array_that_outlives_the_block_has_the_values_of_the_last_launch(device, stream, total):
    with cg.capture() as builder:
        result = work(total)
        result.copy_from(total)
    assert kinds(builder) == ["AllocNode", "KernelNode", "KernelNode", "MemcpyNode", "MemsetNode"]
    graph = builder.complete()
    builder.close()
    for launches in range(1, 4):
        graph.launch(stream)
        assert (result.to_numpy() == 3 * launches).all()


def test_graph_keeps_an_array_that_dies_after_the_block(device, stream, total):
    with cg.capture() as builder:
        result = work(total)
    graph = builder.complete()
    del result, builder
    gc.collect()
    for _ in range(3):
        graph.launch(stream)
    assert (total.to_numpy() == 9).all()


def test_array_keeps_its_last_values_after_its_graph(device, stream, total):
    with cg.capture() as builder:
        result = work(total)
    graph = builder.complete()
    graph.launch(stream)
    stream.sync()
    del graph, builder
    gc.collect()
    assert (result.to_numpy() == 3).all()


def test_array_of_a_kernel_of_cuda_cxx_that_dies_in_the_block_is_freed_by_the_graph(device, stream, kernels):
    total = cg.zeros(N, cg.i32)
    with cg.capture() as builder:
        temporary = cg.zeros(N, cg.i32)
        cg.launch(None, cg.LaunchConfig(grid=1, block=N), kernels.add, temporary, N, 3)
        cg.launch(
            None, cg.LaunchConfig(grid=1, block=4), kernels.add, temporary[4:], 4, builder.param("b", cg.i32)
        )
        total.copy_from(temporary)
        del temporary
    assert kinds(builder).count("AllocNode") == kinds(builder).count("FreeNode") == 1
    assert is_before(one(builder, "MemcpyNode"), one(builder, "FreeNode"))
    graph = builder.complete()
    for b in (1, 2):
        graph.launch(stream, b=b)
        assert total.to_numpy().tolist() == [3] * 4 + [3 + b] * 4


@cg.kernel
def accumulate(x: cg.types.ndarray(cg.i32, ndim=1), y: cg.types.ndarray(cg.i32, ndim=1)):
    for i in x:
        x[i] += y[i]


WAYS_TO_USE = {
    "kernel": lambda add, total, x: accumulate(total, x),
    "kernel of CUDA C++": lambda add, total, x: cg.launch(
        None, cg.LaunchConfig(grid=1, block=N), add, x, N, 0
    ),
    "part": lambda add, total, x: accumulate(total[:2], x[2:4]),
    "copy": lambda add, total, x: total.copy_from(x),
    "fill": lambda add, total, x: x.fill(3),
}
WAYS_OF_NODES = {
    "kernel": lambda add, g, total, x: g.call(accumulate, total, x),
    "kernel of CUDA C++": lambda add, g, total, x: g.launch(cg.LaunchConfig(grid=1, block=N), add, x, N, 0),
    "part": lambda add, g, total, x: g.call(accumulate, total[:2], x[2:4]),
    "copy": lambda add, g, total, x: g.memcpy(total, x),
    "fill": lambda add, g, total, x: g.memset(x, 3),
}


@pytest.fixture
def result(stream):
    """An array of threes in memory of a graph that has ended. A list, from which a test takes it."""
    with cg.capture() as builder:
        made = [cg.full(N, 3, cg.i32)]
    builder.complete().launch(stream)
    stream.sync()
    return made


@pytest.mark.parametrize("way", WAYS_TO_USE)
def test_capture_keeps_an_array_of_another_graph(device, stream, kernels, result, way):
    total = cg.zeros(N, cg.i32)
    with cg.capture(stream) as builder:
        WAYS_TO_USE[way](kernels.add, total, result[0])
    graph = builder.complete()
    address = result[0].__cuda_array_interface__["data"][0]
    result.clear()
    gc.collect()
    graph.launch(stream)
    assert values_at(address, stream) == [3] * N


@pytest.mark.parametrize("way", WAYS_OF_NODES)
def test_definition_keeps_an_array_of_another_graph(device, stream, kernels, result, way):
    total = cg.zeros(N, cg.i32)
    g = cg.GraphDef()
    WAYS_OF_NODES[way](kernels.add, g, total, result[0])
    graph = g.instantiate()
    address = result[0].__cuda_array_interface__["data"][0]
    result.clear()
    gc.collect()
    graph.launch(stream)
    assert values_at(address, stream) == [3] * N


def values_at(address, stream):
    """The elements of an array whose memory a graph should have kept."""
    copied = cg.PinnedMemoryResource().allocate(4 * N, stream=stream)
    kept = cg.Buffer.from_handle(address, 4 * N)
    copied.copy_from(kept, stream=stream)
    stream.sync()
    return np.from_dlpack(copied).view(np.int32).tolist()


def test_given_options_decide_about_automatic_frees(device, stream, total):
    with cg.capture() as builder:
        _kept = work(total)
    graph = builder.complete(auto_free_on_launch=False)
    graph.launch(stream)
    with pytest.raises(cg.CUDAError, match="INVALID_VALUE"):
        graph.launch(stream)
    stream.sync()


def test_memory_of_the_graph_does_not_grow_with_temporaries(device, stream, total):
    with cg.capture() as builder:
        for _ in range(10):
            work(total)
    assert kinds(builder).count("FreeNode") == kinds(builder).count("AllocNode") == 10
    builder.complete().launch(stream)
    assert (total.to_numpy() == 30).all()


def test_array_of_a_body_is_allocated_before_the_conditional_node_and_freed_after_it(device, stream, total):
    with cg.capture() as builder, builder.if_then(builder.create_condition(default_value=1)) as body:
        work(total)
    assert kinds(builder) == ["AllocNode", "FreeNode", "IfNode"]
    assert kinds(body) == ["KernelNode", "KernelNode", "MemsetNode"]
    alloc, free, node = (one(builder, kind) for kind in ("AllocNode", "FreeNode", "IfNode"))
    assert is_before(alloc, node)
    assert is_before(node, free)
    graph = builder.complete()
    for _ in range(3):
        graph.launch(stream)
    assert (total.to_numpy() == 9).all()


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_array_of_an_inner_body_belongs_to_the_outermost_graph(depth, device, stream, total):
    with cg.capture() as builder:
        increase(total, 1.0)
        with contextlib.ExitStack() as bodies:
            inner = builder
            for _ in range(depth):
                inner = bodies.enter_context(inner.if_then(inner.create_condition(default_value=1)))
            kept = work(total)
        add(total, kept)  # still valid after the node
    assert kinds(builder) == ["AllocNode", "IfNode", "KernelNode", "KernelNode"]
    assert is_before(one(builder, "AllocNode"), one(builder, "IfNode"))
    graph = builder.complete()
    for _ in range(2):
        graph.launch(stream)
    assert (total.to_numpy() == 14).all()
    assert (kept.to_numpy() == 3).all()


@pytest.mark.parametrize("depth", [0, 1, 2])
def test_alloc_node_has_the_line_that_made_the_array_and_its_free_node_has_none(depth, device):
    with cg.capture() as builder, contextlib.ExitStack() as bodies:
        inner = builder
        for _ in range(depth):
            inner = bodies.enter_context(inner.if_then(inner.create_condition(default_value=1)))
        temporary, line = cg.full(N, 2.0), inspect.currentframe().f_lineno
        del temporary
    assert one(builder, "AllocNode").source == f"{__file__}:{line}"
    assert one(builder, "FreeNode").source is None


def test_body_of_a_capture_that_has_ended_takes_no_array(device, total):
    with cg.capture() as builder:
        body = builder.if_then(builder.create_condition(default_value=1))
    with body:
        increase(total, 1.0)
        with pytest.raises(RuntimeError, match="the capture around it has ended: make the array before"):
            cg.ndarray(cg.f32, N)
    assert kinds(body) == ["KernelNode"]


def test_array_of_a_body_needs_the_block_of_the_builder_around_it(device, total):
    builder = device.create_graph_builder().begin_building()
    with builder.if_then(builder.create_condition(default_value=1)) as body:
        increase(total, 1.0)
        with pytest.raises(RuntimeError, match="this thread is in no such block"):
            cg.ndarray(cg.f32, N)
    builder.end_building()
    assert kinds(body) == ["KernelNode"]


def test_arrays_of_branches_are_freed_in_their_order_or_kept(device, stream, total):
    other = cg.ndarray(cg.f32, N)
    with cg.capture() as builder:
        left, right = builder.split(2)
        work(total)
        with cg.stream(right):
            work(other)
            kept = work(other)
        cg.GraphBuilder.join(left, right)
        add(total, kept)
    assert kinds(builder).count("AllocNode") == 3
    assert kinds(builder).count("FreeNode") == 2
    graph = builder.complete()
    for _ in range(2):
        graph.launch(stream)
    assert (total.to_numpy() == 12).all()
    assert (other.to_numpy() == 12).all()
    assert (kept.to_numpy() == 3).all()


def test_array_of_a_body_on_a_branch_is_freed_after_the_branch(device, stream, total):
    with cg.capture() as builder:
        left, right = builder.split(2)
        with right.if_then(right.create_condition(default_value=1)):
            work(total)
        cg.GraphBuilder.join(left, right)
    alloc, free, node = (one(builder, kind) for kind in ("AllocNode", "FreeNode", "IfNode"))
    assert is_before(alloc, node)
    assert is_before(node, free)
    builder.complete().launch(stream)
    assert (total.to_numpy() == 3).all()


def test_arrays_with_gradients_are_memory_of_the_graph(device, stream, total):
    with cg.capture() as builder:
        x = cg.ndarray(cg.f32, N, needs_grad=True)
        increase(x, 1.0)
        x.grad.fill(2)
        add(total, x.grad)
    assert kinds(builder).count("AllocNode") == 2
    builder.complete().launch(stream)
    assert (total.to_numpy() == 2).all()


def test_fields_and_empty_arrays_are_no_memory_of_the_graph(device, stream):
    field = cg.field(cg.f32, N)
    with cg.capture() as builder:
        field.fill(1)
        cg.ndarray(cg.f32, (0, 3)).fill(1)
    assert kinds(builder) == ["MemsetNode"]
    builder.complete().launch(stream)
    assert (field.to_numpy() == 1).all()


def test_array_made_with_another_current_stream_is_ordinary_memory(device, stream):
    with cg.capture() as builder:
        with cg.stream(stream):
            x = cg.ndarray(cg.f32, N)
            increase(x, 1.0)
        stream.sync()
        builder.callback(print)
    assert kinds(builder) == ["HostCallbackNode"]
    assert (x.to_numpy() == 1).all()


def test_array_made_during_begin_building_is_ordinary_memory(device):
    builder = device.create_graph_builder().begin_building()
    x = cg.ndarray(cg.f32, N)
    builder.end_building()
    assert kinds(builder) == []
    assert not x.to_numpy().any()


def test_host_reads_no_array_of_the_graph_in_the_block_or_before_a_launch(device, stream, total):
    with cg.capture() as builder:
        result = work(total)
        with pytest.raises(RuntimeError, match="while the current stream is captured"):
            result.to_numpy()
    with pytest.raises(cg.CUDAError):
        result.to_numpy()
    graph = builder.complete()
    graph.launch(stream)
    assert (result.to_numpy() == np.float32(3)).all()


def test_abandoned_capture_drops_its_arrays(device, stream, total):
    block = cg.capture(stream)

    def fail():
        with block:
            kept = work(total)
            raise KeyError(kept)

    with pytest.raises(KeyError):
        fail()
    increase(total, 1.0, stream=stream)
    stream.sync()
    assert (total.to_numpy() == 1).all()


def leave_by_an_exception(builder, array):
    raise KeyError


def leave_with_an_open_branch(builder, array):
    branch = builder.split(2)[1]
    increase(array, 1.0, stream=branch.stream)


def leave_in_a_host_function(builder, array):
    """The driver refuses to end the capture there. The builder is closed all the same."""
    errors = []

    def close():
        try:
            builder.close()
        except BaseException as error:
            errors.append(error)

    g = cg.GraphDef()
    g.callback(close)
    other = array.device.create_stream()
    g.instantiate().launch(other)
    other.sync()
    assert not errors


ABANDONED = {
    "exception": (leave_by_an_exception, KeyError),
    "close": (lambda builder, array: builder.close(), None),
    "host function": (leave_in_a_host_function, None),
    "open branch": (leave_with_an_open_branch, cg.CUDAError),
}
USES = {
    "kernel": lambda x: increase(x, 1.0),
    "kernel, other array": lambda x: add(cg.ndarray(cg.f32, N), x),
    "read": lambda x: x.to_numpy(),
    "element": lambda x: x[0],
    "part": lambda x: x[2:],
    "fill": lambda x: x.fill(1),
    "copy": lambda x: x.copy_from(cg.ndarray(cg.f32, x.shape)),
    "view": lambda x: x.__cuda_array_interface__,
}


@pytest.mark.parametrize("use", USES.values(), ids=USES)
@pytest.mark.parametrize(("leave", "error"), ABANDONED.values(), ids=ABANDONED)
def test_arrays_of_an_abandoned_capture_are_refused_and_nothing_is_lost(leave, error, use, stream, total):
    block = cg.capture(stream)
    with contextlib.ExitStack() as stack:
        if error is not None:
            stack.enter_context(pytest.raises(error))
        with block:
            kept = work(total)
            part = kept[2:]
            leave(block, kept)
    for array in (kept, part):
        with pytest.raises(cg.ClosedBufferError, match="in which the array was made was abandoned"):
            use(array)
    increase(total, 1.0, stream=stream)
    stream.sync()
    assert (total.to_numpy() == 1).all()


def test_arrays_of_bodies_of_an_abandoned_capture_are_refused(stream, total):
    with cg.capture(stream) as builder:
        with builder.if_then(builder.create_condition(1)):
            kept = work(total)
        builder.close()
    with pytest.raises(cg.ClosedBufferError, match="was abandoned"):
        increase(kept, 1.0)


def test_parts_of_an_array_do_not_keep_it_in_the_graph(device, stream, total):
    with cg.capture() as builder:
        temporary = cg.ndarray(cg.f32, (2, *total.shape))
        temporary[0].copy_from(total)
        temporary[1].fill(7)
        total.copy_from(temporary[1])
        del temporary
    assert kinds(builder).count("FreeNode") == kinds(builder).count("AllocNode") == 1
    builder.complete().launch(stream)
    stream.sync()
    assert (total.to_numpy() == 7).all()


@pytest.mark.parametrize("layout", ["soa", "aos"])
def test_structures_that_die_in_the_block_are_freed_by_the_graph(layout, stream, total):
    with cg.capture() as builder:
        particles = cg.ndarray(Particle, N, layout=layout)
        move(particles, total)
        del particles
    count = kinds(builder).count("AllocNode")
    assert count == kinds(builder).count("FreeNode") > 0
    kept = one(builder, "KernelNode").args[0]
    assert kept.cls is Particle
    assert kept.shape == (N,)
    assert all(not isinstance(each, cg.NDArray) for each in kept.members.values())
    graph = builder.complete()
    for launch in (1, 2):
        graph.launch(stream)
        stream.sync()
        assert np.array_equal(total.to_numpy(), np.full(N, 2.0 * launch, "f4"))


def test_structures_that_live_on_are_the_arguments_of_their_node(total):
    with cg.capture() as builder:
        particles = cg.ndarray(Particle, N)
        move(particles, total)
    assert one(builder, "KernelNode").args[0] is particles
    assert "FreeNode" not in kinds(builder)


@pytest.mark.parametrize(
    ("call", "copy"),
    [
        ("cuMemcpyDtoH", lambda array: array.to_numpy()),
        ("cuMemcpyHtoD", lambda array: array.from_numpy(np.ones(N, "f4"))),
    ],
)
def test_a_refused_copy_of_an_array_of_the_graph_says_to_launch_it(call, copy, total, driver_table):
    with cg.capture():
        result = work(total)
    for array, says_so in ((result, True), (total, False)):
        driver_table.refuse_once(call, 1)  # CUDA_ERROR_INVALID_VALUE
        with pytest.raises(cg.CUDAError) as refused:
            copy(array)
        assert ("Launch the graph first" in str(refused.value)) == says_so


@pytest.mark.parametrize(
    "make", [lambda: cg.array([1.0, 2.0]), lambda: cg.arange(4)], ids=["array", "arange"]
)
def test_an_array_whose_elements_the_host_would_write_is_refused_and_leaves_no_node(device, make):
    x = cg.zeros(N, cg.f32)
    with cg.capture() as builder:
        increase(x, 1.0)
        with pytest.raises(RuntimeError, match="new array while the current stream is captured"):
            make()
    assert [type(node) for node in builder.graph_definition.nodes()] == [cg.KernelNode]
