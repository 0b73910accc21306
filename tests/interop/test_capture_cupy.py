# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: what CuPy does on the stream of a builder becomes nodes of its graph; a launch gives what CuPy itself gives."""

import numpy as np
import pytest

import cuda_graphs as cg

pytestmark = pytest.mark.cuda

BLOCK = cg.LaunchConfig(grid=1, block=32)


@pytest.fixture
def cupy(device):
    return pytest.importorskip("cupy")


@pytest.fixture
def own_memory(cupy):
    """Allocates from a pool that only the graph uses, so that no other code gets the memory of its temporaries."""
    pool = cupy.cuda.MemoryPool()
    return lambda: cupy.cuda.using_allocator(pool.malloc)


def formula(cupy, x):
    return cupy.sqrt(x * 2 + 1) - x.mean()


def start_at(cupy, x, first):
    x[:] = cupy.arange(first, first + x.size, dtype=x.dtype)
    cupy.cuda.get_current_stream().synchronize()


def test_a_launch_computes_what_cupy_computes(mode, cupy, own_memory, builder, stream, kinds):
    x = cupy.arange(1000, dtype="f4")
    on_builder = cupy.cuda.Stream.from_external(builder)

    def work():
        with on_builder, own_memory():
            return formula(cupy, x)

    cupy.cuda.Device().synchronize()
    work()  # compiles, loads code and fills the pool: not allowed while capturing unless relaxed
    on_builder.synchronize()
    builder.begin_building(mode)
    y = work()
    builder.end_building()
    assert kinds(builder).count("KernelNode") >= 4
    graph = builder.complete()
    for first in (0, 5, 100):
        start_at(cupy, x, first)
        graph.launch(stream)
        stream.sync()
        assert (cupy.asnumpy(y) == cupy.asnumpy(formula(cupy, x))).all()
        host = np.arange(first, first + 1000)
        assert np.allclose(cupy.asnumpy(y), np.sqrt(host * 2 + 1) - host.mean(), rtol=1e-4, atol=1e-3)


def test_a_relaxed_capture_needs_no_first_run(cupy, own_memory, builder, stream):
    x = cupy.arange(777, dtype="f8")
    double = cupy.ElementwiseKernel("float64 x", "float64 y", "y = x * 2 + 777", "double_of_this_test")
    cupy.cuda.Device().synchronize()
    with builder, cupy.cuda.Stream.from_external(builder), own_memory():
        y = double(x)
    builder.complete().launch(stream)
    stream.sync()
    assert (cupy.asnumpy(y) == np.arange(777) * 2 + 777).all()


def test_temporaries_of_the_graph_are_nobody_elses(cupy, own_memory, builder, stream):
    x = cupy.arange(1000, dtype="f4")
    cupy.cuda.Device().synchronize()
    with builder, cupy.cuda.Stream.from_external(builder), own_memory():
        y = formula(cupy, x)
    graph = builder.complete()
    others = [cupy.full(1000, 7, "f4") for _ in range(16)]
    cupy.cuda.Device().synchronize()
    for _ in range(2):
        graph.launch(stream)
    stream.sync()
    assert all((other == 7).all() for other in others)
    assert (y == formula(cupy, x)).all()


def test_work_of_both_is_in_order_and_arrays_are_arguments(cupy, builder, kernels, stream):
    x = cupy.zeros(32, "i4")
    cupy.cuda.Device().synchronize()
    with builder, cupy.cuda.Stream.from_external(builder):
        x += 1
        cg.launch(builder, BLOCK, kernels.add, x, 32, 100)
        x *= 2
        cg.launch(builder, BLOCK, kernels.add, x, 32, 1000)
    builder.complete().launch(stream)
    stream.sync()
    assert set(cupy.asnumpy(x)) == {(0 + 1 + 100) * 2 + 1000}


def test_nodes_are_added_behind_what_was_captured(cupy, builder, kernels, stream):
    x = cupy.zeros(32, "i4")
    cupy.cuda.Device().synchronize()
    with builder, cupy.cuda.Stream.from_external(builder):
        x += 3
    definition = builder.graph_definition
    (node,) = definition.nodes()
    assert node.source is None  # no line of ours
    node.launch(BLOCK, kernels.add, x, 32, 4)
    builder.complete().launch(stream)
    stream.sync()
    assert set(cupy.asnumpy(x)) == {7}


@pytest.mark.parametrize("who", ["split", "events of cupy"])
def test_a_fork_runs_beside(who, cupy, builder, stream, kinds):
    x, y = cupy.zeros(32, "i4"), cupy.zeros(32, "i4")
    cupy.cuda.Device().synchronize()
    builder.begin_building()
    here = cupy.cuda.Stream.from_external(builder)
    if who == "split":
        _, fork = builder.split(2)
        there = cupy.cuda.Stream.from_external(fork)
    else:
        there = cupy.cuda.Stream(non_blocking=True)
        there.wait_event(here.record())
    with here:
        x += 1
    with there:
        y += 2
    if who == "split":
        cg.GraphBuilder.join(builder, fork)
    else:
        here.wait_event(there.record())
    with here:
        x += y
    builder.end_building()
    assert kinds(builder) == ["KernelNode"] * 3
    last = next(node for node in builder.graph_definition.nodes() if not node.succ)
    assert len(last.pred) == 2
    graph = builder.complete()
    graph.launch(stream)
    graph.launch(stream)
    stream.sync()
    assert set(cupy.asnumpy(x)) == {(0 + 1 + 2) + 1 + 4}


@pytest.mark.parametrize("how", ["synchronize", "done"])
def test_waiting_spoils_and_the_lines_are_named(how, cupy, stream, check_spoiled):
    on_stream = cupy.cuda.Stream.from_external(stream)
    check_spoiled({"synchronize": on_stream.synchronize, "done": lambda: on_stream.done}[how])


def test_operation_that_cupy_refuses_spoils_nothing(cupy, builder, stream):
    x = cupy.zeros(32, "i4")
    cupy.cuda.Device().synchronize()
    with builder, cupy.cuda.Stream.from_external(builder):
        x += 1
        with pytest.raises(RuntimeError, match="capturing"):
            x.get()
        with pytest.raises(RuntimeError, match="capturing"):
            cupy.asarray([1, 2, 3])
        x += 1
    builder.complete().launch(stream)
    stream.sync()
    assert set(cupy.asnumpy(x)) == {2}


def test_our_launches_are_nodes_of_a_graph_that_cupy_captures(cupy, kernels):
    x = cupy.zeros(32, "i4")
    cupy.cuda.Device().synchronize()
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        stream.begin_capture()
        x += 1
        cg.launch(stream, BLOCK, kernels.add, x, 32, 100)
        graph = stream.end_capture()
        graph.launch(stream)
        graph.launch(stream)
        stream.synchronize()
    assert set(cupy.asnumpy(x)) == {202}
