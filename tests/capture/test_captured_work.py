# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: what is given to a builder between begin and end is done by each launch of its graph, in that order, and by
nothing else."""

import ctypes

import numpy as np
import pytest

import cuda_graphs as cg
from tests.graph_rig import ONE


def affine(builder, kernels, x, a, b):
    cg.launch(builder, ONE, kernels.affine, x.ctypes.data, a, b)


def chain(x, *steps):
    for a, b in steps:
        x = x * a + b
    return x


@pytest.fixture
def complete(stream):
    """Complete a builder, launch so many times, wait."""

    def complete(builder, times=1, **options):
        graph = builder.complete(**options)
        for _ in range(times):
            graph.launch(stream)
        stream.sync()
        return graph

    return complete


def test_nothing_runs_before_the_launch_and_all_of_it_in_each(builder, kernels, pinned, complete, stream):
    x = pinned([5], "u4")
    builder.begin_building()
    affine(builder, kernels, x, 3, 1)
    affine(builder, kernels, x, 5, 2)
    builder.end_building()
    graph = builder.complete()
    stream.sync()
    assert x[0] == 5
    for times in (1, 2):
        graph.launch(stream)
        stream.sync()
        assert x[0] == chain(5, *[(3, 1), (5, 2)] * times)


def test_begin_and_end_return_the_builder(builder):
    assert builder.begin_building().end_building() is builder
    assert builder.complete().handle != 0


def test_each_completion_is_another_graph(builder, kernels, pinned, stream):
    x = pinned([1], "u4")
    builder.begin_building()
    affine(builder, kernels, x, 2, 1)
    builder.end_building()
    one, two = builder.complete(), builder.complete()
    builder.close()
    assert one.handle != two.handle
    for graph in (one, two):
        graph.launch(stream)
    stream.sync()
    assert x[0] == chain(1, (2, 1), (2, 1))


def test_a_capture_of_the_users_stream_leaves_the_stream_to_the_user(stream, kernels, pinned):
    x = pinned([1], "u4")
    builder = stream.create_graph_builder()
    assert builder.stream == stream
    builder.begin_building()
    affine(stream, kernels, x, 2, 1)  # the stream itself is captured too
    builder.end_building()
    graph = builder.complete()
    affine(stream, kernels, x, 10, 0)  # again ordinary work
    graph.launch(stream)
    stream.sync()
    assert x[0] == chain(1, (10, 0), (2, 1))
    builder.close()
    affine(stream, kernels, x, 1, 1)
    stream.sync()
    assert x[0] == chain(1, (10, 0), (2, 1), (1, 1))


def test_a_fork_and_its_join_order_the_work_between_them(builder, kernels, pinned, complete):
    x, y = pinned([1], "u4"), pinned([1], "u4")
    builder.begin_building()
    affine(builder, kernels, x, 2, 1)
    left, right = builder.split(2)
    affine(left, kernels, x, 3, 1)
    cg.launch(right, ONE, kernels.add, y.ctypes.data, 1, 5)
    assert cg.GraphBuilder.join(right, left) is builder
    affine(builder, kernels, x, 5, 1)
    affine(builder, kernels, y, 7, 1)
    builder.end_building()
    complete(builder)
    assert (x[0], y[0]) == (chain(1, (2, 1), (3, 1), (5, 1)), 6 * 7 + 1)
    definition = builder.graph_definition
    assert len(definition.nodes()) == 5
    fork = next(n for n in definition.nodes() if not n.pred)
    assert len(fork.succ) == 2


@pytest.mark.parametrize("how", ["fork in a fork", "join of forks only"])
def test_forks_nest(how, builder, kernels, pinned, complete):
    x = pinned(4, "u4")
    builder.begin_building()
    one, two = builder.split(2)
    inner = two.split(3)
    assert inner[0] is two
    assert [b.is_join_required for b in (one, *inner)] == [False, True, True, True]
    for i, branch in enumerate((one, *inner)):
        cg.launch(branch, ONE, kernels.add, x.ctypes.data + 4 * i, 1, i + 1)
    if how == "fork in a fork":
        assert cg.GraphBuilder.join(one, *inner) is builder
    else:
        joined = cg.GraphBuilder.join(*inner)
        assert joined is two
        assert joined.is_join_required
        assert cg.GraphBuilder.join(joined, one) is builder
    builder.end_building()
    complete(builder)
    assert list(x) == [1, 2, 3, 4]


def test_copies_and_fills_are_nodes(builder, complete, device, stream):
    host = cg.PinnedMemoryResource()
    source, target = host.allocate(64, stream=stream), host.allocate(64, stream=stream)
    middle = device.allocate(64, stream=stream)
    np.from_dlpack(source)[:] = np.arange(64)
    out = np.from_dlpack(target)
    out[:] = 0
    stream.sync()
    with builder:
        middle.copy_from(source, stream=builder)
        middle.copy_to(target, stream=builder)
        source.fill(7, stream=builder)
    assert {type(n).__name__ for n in builder.graph_definition.nodes()} == {"MemcpyNode", "MemsetNode"}
    graph = complete(builder)
    assert list(out) == list(range(64))
    assert set(np.from_dlpack(source)) == {7}
    del graph


def test_nothing_to_copy_makes_no_node(builder, device, stream):
    empty, other = device.allocate(0, stream=stream), device.allocate(0, stream=stream)
    with builder:
        empty.copy_to(other, stream=builder)
        empty.fill(1, stream=builder)
    assert builder.graph_definition.nodes() == set()


def test_a_callback_is_called_by_each_launch(builder, complete):
    calls = []
    with builder:
        builder.callback(lambda: calls.append(1))
    complete(builder, times=3)
    assert len(calls) == 3


def test_a_callback_is_ordered_with_the_work_round_it(builder, kernels, pinned, complete):
    x, seen = pinned([1], "u4"), []
    with builder:
        affine(builder, kernels, x, 2, 1)
        builder.callback(lambda: seen.append(int(x[0])))
        affine(builder, kernels, x, 2, 1)
    complete(builder, times=2)
    assert seen == [3, 15]


@pytest.mark.parametrize("data", [None, 41, b"\x2a\0\0\0"], ids=["none", "int", "bytes"])
def test_a_c_function_gets_its_data(data, builder, complete):
    seen = []

    @ctypes.CFUNCTYPE(None, ctypes.c_void_p)
    def note(pointer):
        seen.append(pointer if not isinstance(data, bytes) else ctypes.c_int.from_address(pointer).value)

    with builder:
        builder.callback(note, user_data=data)
    complete(builder)
    assert seen == [42 if isinstance(data, bytes) else data]


def test_an_embedded_graph_is_a_copy_that_runs_in_its_place(device, builder, kernels, pinned, complete):
    x = pinned([1], "u4")
    child = device.create_graph_builder().begin_building()
    affine(child, kernels, x, 3, 1)
    affine(child, kernels, x, 3, 2)
    child.end_building()
    with builder:
        affine(builder, kernels, x, 2, 0)
        builder.embed(child)
        builder.embed(child)
        affine(builder, kernels, x, 1, 1)
    child.close()
    complete(builder)
    assert x[0] == chain(1, (2, 0), *[(3, 1), (3, 2)] * 2, (1, 1))
