# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Laws: work that names no stream goes to the current stream of its thread. In the `with` block of a builder it becomes
nodes of the graph, and nothing runs. An explicit stream has priority. Leaving a block restores the stream before it, in
any order and after exceptions."""

import asyncio
import contextlib
import threading

import numpy as np
import pytest

import cuda_graphs as cg
from cuda_graphs.kernels.arrays import keep_alive
from tests.graph_rig import ONE

f32_1d = cg.types.ndarray(cg.f32, ndim=1)


@cg.kernel
def double(x: f32_1d):
    for i in range(x.shape[0]):
        x[i] *= 2


@cg.kernel(graph=True, fuse=False)
def double_in_two_tasks(x: f32_1d):
    for i in range(x.shape[0]):
        x[i] += x[i] / 2
    for i in range(x.shape[0]):
        x[i] += x[i] / 3


@pytest.fixture(autouse=True)
def kernels_forget(device):
    yield
    device.sync()
    keep_alive.release_finished()
    for each in (double, double_in_two_tasks):
        each.forget()


START = np.arange(1, 9, dtype=np.float32)


@pytest.fixture
def x(device):
    x = cg.ndarray(cg.f32, START.size)
    x.from_numpy(START)
    return x


@pytest.fixture
def y(device):
    return cg.ndarray(cg.f32, START.size)


def launch_on_current(kernels, x, y):
    cg.launch(
        None, cg.LaunchConfig(grid=1, block=8), kernels.add, x.view(cg.i32), 8, 1 << 23
    )  # adds 1 to the exponents


# Work on the current stream -> (operation, kinds of its nodes, the values of x and y after it).
OPERATIONS = {
    "kernel": (lambda kernels, x, y: double(x), ["KernelNode"], lambda x, y: (x * 2, y)),
    "graph kernel": (
        lambda kernels, x, y: double_in_two_tasks(x),
        ["KernelNode"] * 2,
        lambda x, y: (x * np.float32(2), y),
    ),
    "copy": (lambda kernels, x, y: y.copy_from(x), ["MemcpyNode"], lambda x, y: (x, x)),
    "fill": (lambda kernels, x, y: x.fill(3), ["MemsetNode"], lambda x, y: (np.full_like(x, 3), y)),
    "launch": (launch_on_current, ["KernelNode"], lambda x, y: (x * 2, y)),
    "kernel with stream=None": (
        lambda kernels, x, y: double(x, stream=None),
        ["KernelNode"],
        lambda x, y: (x * 2, y),
    ),
}


@pytest.fixture(params=OPERATIONS)
def operation(request, kernels):
    work, kinds, meaning = OPERATIONS[request.param]
    return lambda x, y: work(kernels, x, y), kinds, meaning


BLOCKS = {
    "capture": lambda device: cg.capture(),
    "capture of a stream": lambda device: cg.capture(device.create_stream(), "thread_local"),
    "builder of a device": lambda device: device.create_graph_builder(),
    "builder of a stream": lambda device: device.create_stream().create_graph_builder(),
    "builder that had begun": lambda device: device.create_graph_builder().begin_building(),
}


def kinds_in(definition):
    return [type(node).__name__ for node in definition.nodes()]


@pytest.mark.parametrize("block", BLOCKS)
def test_work_in_the_block_of_a_builder_becomes_nodes(block, operation, device, stream, x, y):
    work, kinds, meaning = operation
    with cg.stream(stream):
        work(x, y)  # compiles
    x.from_numpy(START)
    y.fill(0)
    with BLOCKS[block](device) as builder:
        work(x, y)
    assert builder.state == "ended"
    assert kinds_in(builder.graph_definition) == kinds
    assert (x.to_numpy() == START).all()
    assert (y.to_numpy() == 0).all()
    builder.complete().launch(stream)
    for array, expected in zip((x, y), meaning(START, np.zeros_like(START)), strict=True):
        np.testing.assert_allclose(array.to_numpy(), expected, rtol=1e-6)


def test_work_in_the_block_of_a_body_becomes_nodes_of_the_body(operation, device, stream, x, y):
    work, kinds, meaning = operation
    with cg.stream(stream):
        work(x, y)
    x.from_numpy(START)
    y.fill(0)
    with cg.capture() as builder:
        with builder.if_then(builder.create_condition(default_value=1)) as body:
            work(x, y)
        assert cg.current_stream() == builder.stream
    assert kinds_in(body.graph_definition) == kinds
    builder.complete().launch(stream)
    for array, expected in zip((x, y), meaning(START, np.zeros_like(START)), strict=True):
        np.testing.assert_allclose(array.to_numpy(), expected, rtol=1e-6)


def test_branches_are_current_in_their_own_blocks(device, stream, x, y):
    y.fill(5)
    with cg.capture() as builder:
        left, right = builder.split(2)
        double(x)
        with cg.stream(right):
            double(y)
        cg.GraphBuilder.join(left, right)
        y.copy_from(x)
    assert sorted(map(len, (node.pred for node in builder.graph_definition.nodes()))) == [0, 0, 2]
    builder.complete().launch(stream)
    assert (y.to_numpy() == START * 2).all()


def test_begin_building_makes_no_stream_current(device, kernels, x):
    builder = cg.capture().begin_building()
    before = cg.current_stream()
    cg.launch(builder, ONE, kernels.nothing)
    double(x)
    assert cg.current_stream() == before == device.default_stream
    builder.end_building()
    assert kinds_in(builder.graph_definition) == ["KernelNode"]
    assert (x.to_numpy() == START * 2).all()


def test_explicit_stream_has_priority(device, stream, kernels, x, y):
    double.compile(x)
    with cg.capture() as builder:
        double(x, stream=stream)
        cg.launch(stream, ONE, kernels.nothing)
        stream.sync()
        with cg.stream(device.default_stream):
            double(x)
        double(x)
    assert kinds_in(builder.graph_definition) == ["KernelNode"]
    assert (x.to_numpy() == START * 4).all()


ELEMENTS = {
    "f64": (cg.f64, 2.5),
    "u8": (cg.u8, 7),
    "bf16": (cg.bf16, 1.5),
    "f32 vectors": (cg.vec3, (1, 2, 3)),
    "f16 vectors": (cg.types.vec(3, cg.f16), (1, 2, 3)),
    "u8 vectors": (cg.types.vec(5, cg.u8), (1, 2, 3, 4, 5)),
    "f64 matrices": (cg.types.mat(2, 2, cg.f64), ((1, 2), (3, 4))),
}


@pytest.mark.parametrize("element", ELEMENTS)
def test_fills_set_elements_of_every_type_in_every_block(element, device, stream):
    dtype, value = ELEMENTS[element]
    outside, on_stream, captured = (cg.ndarray(dtype, (3, 5)) for _ in range(3))
    outside.fill(value)
    with cg.stream(stream):
        on_stream.fill(value)
    with cg.capture() as builder:
        captured.fill(value)
    assert not captured.to_numpy().any()
    builder.complete().launch(stream)
    expected = np.broadcast_to(np.asarray(value), (3, 5, *np.shape(value)))
    for array in (outside, on_stream, captured):
        assert (array.to_numpy() == expected).all()


def test_fills_and_copies_are_ordered_with_kernels_of_the_current_stream(device, stream, x, y):
    with cg.stream(stream):
        for _ in range(50):
            x.fill(1)
            double(x)
            y.copy_from(x)
            x.fill(9)
    assert (y.to_numpy() == 2).all()
    assert (x.to_numpy() == 9).all()


def test_stream_gives_the_stream_and_restores_the_one_before(device):
    outer, inner = device.create_stream(), device.create_stream()
    assert cg.current_stream() == device.default_stream
    block = cg.stream(outer)
    with block as given:
        assert given == outer == cg.current_stream()
        with cg.stream(inner), block:
            assert cg.current_stream() == outer
        with cg.stream(inner):
            assert cg.current_stream() == inner
        assert cg.current_stream() == outer
    assert cg.current_stream() == device.default_stream


def test_capture_in_a_capture_gives_two_graphs(device, stream, x, y):
    with cg.capture() as outer:
        double(x)
        with cg.capture() as inner:
            y.fill(4)
        double(x)
    assert kinds_in(outer.graph_definition) == ["KernelNode"] * 2
    assert kinds_in(inner.graph_definition) == ["MemsetNode"]
    outer.complete().launch(stream)
    inner.complete().launch(stream)
    assert (x.to_numpy() == START * 4).all()
    assert (y.to_numpy() == 4).all()


@pytest.mark.parametrize("make", [cg.stream, cg.capture])
def test_exception_restores_the_stream_and_abandons_the_capture(make, device, stream, x):
    double.compile(x)
    block = make(stream)

    def fail():
        with block:
            double(x)
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert cg.current_stream() == device.default_stream
    if make is cg.capture:
        assert block.is_closed
    double(x, stream=stream)
    stream.sync()
    assert (x.to_numpy() == START * (4 if make is cg.stream else 2)).all()


def test_failed_begin_restores_the_stream(device, stream):
    with cg.capture(stream):
        with pytest.raises(cg.CUDAError, match="ILLEGAL_STATE"), cg.capture(stream):
            raise AssertionError
        assert cg.current_stream() == stream
        stream.record()
    assert cg.current_stream() == device.default_stream


def test_blocks_may_be_left_in_any_order(device):
    streams = [device.create_stream() for _ in range(3)]
    for order in ((0, 1, 2), (1, 0, 2), (2, 0, 1), (0, 2, 1)):
        blocks = [cg.stream(each) for each in streams]
        for block in blocks:
            block.__enter__()
        still_open = [0, 1, 2]
        for number in order:
            assert cg.current_stream() == streams[still_open[-1]]
            blocks[number].__exit__(None, None, None)
            still_open.remove(number)
        assert cg.current_stream() == device.default_stream
        with pytest.raises(RuntimeError, match="has been left already"):
            blocks[0].__exit__(None, None, None)


def test_generators_leave_their_blocks_when_they_end(device, stream):
    def work():
        with cg.stream(stream):
            yield cg.current_stream()

    first, second = work(), work()
    assert next(first) == next(second) == stream
    first.close()
    assert cg.current_stream() == stream
    second.close()
    assert cg.current_stream() == device.default_stream


def test_new_thread_has_no_current_stream(device, stream, x):
    found = []

    def look():
        cg.Device().set_current()
        found.append(cg.current_stream())

    with cg.stream(stream):
        thread = threading.Thread(target=look)
        thread.start()
        thread.join()
        asyncio.run(asyncio.wait_for(in_thread(look), 60))
        assert cg.current_stream() == stream
    assert found == [device.default_stream] * 2


async def in_thread(look):
    await asyncio.to_thread(look)  # the thread gets a copy of this context


def test_block_that_another_thread_leaves_is_left(device, stream):
    block = cg.stream(stream)
    block.__enter__()
    thread = threading.Thread(target=block.__exit__, args=(None, None, None))
    thread.start()
    thread.join()
    assert cg.current_stream() == device.default_stream
    with cg.stream(device.default_stream):  # on a GPU PyTorch has its stream back from here on
        pass


def test_tasks_of_asyncio_keep_their_own_streams(device):
    streams = [device.create_stream() for _ in range(4)]
    seen = []

    async def work(own, turn, turns):
        with cg.stream(own):
            for _ in range(5):
                await turns[turn].acquire()
                seen.append(cg.current_stream() == own)
                turns[(turn + 1) % len(turns)].release()

    async def main():
        turns = [asyncio.Semaphore(0) for _ in streams]
        turns[0].release()
        await asyncio.gather(*(work(each, turn, turns) for turn, each in enumerate(streams)))
        return cg.current_stream()

    assert asyncio.run(main()) == device.default_stream
    assert seen == [True] * 20


def test_task_that_outlives_the_block_has_no_current_stream(device, stream):
    async def look(ready):
        during = cg.current_stream()
        await ready.wait()
        return during, cg.current_stream()

    async def main():
        ready = asyncio.Event()
        with cg.stream(stream):
            task = asyncio.create_task(look(ready))
            await asyncio.sleep(0)
        ready.set()
        return await task

    assert asyncio.run(main()) == (stream, device.default_stream)


def test_host_access_in_a_capture_raises_and_spoils_nothing(device, stream, x, y):
    accesses = (
        x.to_numpy,
        lambda: x[0],
        lambda: x.__setitem__(0, 1),
        lambda: x.from_numpy(START),
        x.__array__,
    )
    with cg.capture() as builder:
        double(x)
        for access in accesses:
            with pytest.raises(RuntimeError, match="while the current stream is captured"):
                access()
        y.copy_from(x)
    builder.complete().launch(stream)
    assert (y.to_numpy() == START * 2).all()


def test_closed_stream_is_no_current_stream(device, x):
    own = device.create_stream()
    closed = device.create_stream()
    closed.close()
    with pytest.raises(RuntimeError, match="closed"):
        cg.stream(closed)
    block = cg.stream(own)
    with block:
        own.close()
        for work in (
            lambda: double(x),
            cg.current_stream,
            lambda: x.fill(0),
            lambda: cg.launch(None, ONE, None),
        ):
            with pytest.raises(RuntimeError, match="the current stream has been closed"):
                work()
    with pytest.raises(RuntimeError, match="closed"), block:
        raise AssertionError
    assert cg.current_stream() == device.default_stream


WRONG = (None, 1, "stream", cg.LaunchConfig(grid=1, block=1))


@pytest.mark.parametrize("value", WRONG, ids=repr)
def test_other_values_than_streams_are_refused(value, device):
    with pytest.raises(TypeError):
        cg.stream(value)
    if value is not None:
        with pytest.raises(TypeError):
            cg.capture(value)


def test_capture_refuses_unknown_modes(device, stream):
    for mode in ("loose", None, 1):
        with pytest.raises(ValueError, match="mode must be one of"):
            cg.capture(stream, mode)
    assert cg.capture(stream).kind == "primary"
    stream.close()
    with pytest.raises(RuntimeError, match="closed"):
        cg.capture(stream)


def test_capture_uses_its_mode(device, stream):
    for mode, allowed in (("relaxed", True), ("thread_local", False), ("global", False)):
        with contextlib.suppress(cg.CaptureError), cg.capture(mode=mode):
            try:
                stream.sync()
                assert allowed
            except cg.CaptureError:
                assert not allowed


def test_launch_without_a_stream_needs_a_block(device, kernels):
    with pytest.raises(TypeError, match="stream is required and must not be None"):
        cg.launch(None, ONE, kernels.nothing)


def test_contexts_have_no_constructor(device, stream):
    with pytest.raises(RuntimeError, match=r"use cuda_graphs.stream\(\)"):
        type(cg.stream(stream))()
