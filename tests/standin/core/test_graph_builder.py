# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: what a GraphBuilder of cuda.core captured does, at each launch, what it would have done on a stream."""

import numpy as np
import pytest
from cuda import core
from cuda.core.graph import GraphCompleteOptions, GraphDebugPrintOptions


def affine(target, kernel, x, a, b):
    config = core.LaunchConfig(grid=1, block=32)
    core.launch(target, config, kernel("affine"), x.ctypes.data, np.int32(a), np.int32(b), np.int32(x.size))


@pytest.fixture
def builder(device):
    return device.create_graph_builder()


def test_a_chain(builder, stream, kernel, pinned):
    x = pinned(np.arange(32))
    builder.begin_building()
    assert builder.is_building
    affine(builder, kernel, x, 2, 1)
    affine(builder, kernel, x, 3, 0)
    graph = builder.end_building().complete()
    assert (x == np.arange(32)).all()
    graph.upload(stream)
    graph.launch(stream)
    graph.launch(stream)
    stream.sync()
    once = lambda v: 3 * (2 * v + 1)  # noqa: E731
    assert (x == once(once(np.arange(32)))).all()


@pytest.mark.parametrize("mode", ["global", "thread_local", "relaxed"])
def test_each_mode(builder, stream, kernel, pinned, mode):
    x = pinned(np.ones(32))
    builder.begin_building(mode)
    affine(builder, kernel, x, 5, 0)
    builder.end_building().complete().launch(stream)
    stream.sync()
    assert (x == 5).all()


def test_branches_that_split_and_join(builder, stream, kernel, pinned):
    x, y, z = (pinned(np.ones(32)) for _ in range(3))
    builder.begin_building()
    affine(builder, kernel, x, 2, 0)
    first, second, third = builder.split(3)
    affine(first, kernel, x, 3, 0)
    affine(second, kernel, y, 5, 0)
    affine(third, kernel, z, 7, 0)
    joined = core.graph.GraphBuilder.join(first, second, third)
    affine(joined, kernel, x, 1, 1)
    joined.end_building().complete().launch(stream)
    stream.sync()
    assert [x[0], y[0], z[0]] == [7, 5, 7]


def test_callbacks_run_in_their_place(builder, stream, kernel, pinned):
    x, seen = pinned(np.ones(32)), []
    builder.begin_building()
    affine(builder, kernel, x, 4, 0)
    builder.callback(lambda: seen.append(int(x[5])))
    affine(builder, kernel, x, 4, 0)
    graph = builder.end_building().complete()
    graph.launch(stream)
    graph.launch(stream)
    stream.sync()
    assert seen == [4, 64]


def test_a_graph_in_a_graph(device, builder, stream, kernel, pinned):
    x = pinned(np.ones(32))
    child = device.create_graph_builder().begin_building()
    affine(child, kernel, x, 1, 10)
    child.end_building()
    builder.begin_building()
    affine(builder, kernel, x, 2, 0)
    builder.embed(child)
    affine(builder, kernel, x, 3, 0)
    builder.end_building().complete().launch(stream)
    stream.sync()
    assert (x == 36).all()


@pytest.mark.parametrize("value", [0, 1])
def test_if(builder, stream, kernel, pinned, one, value):
    x, decision = pinned(np.ones(32)), pinned([value])
    builder.begin_building()
    condition = builder.create_condition(default_value=0)
    core.launch(builder, one, kernel("set_to"), condition, decision.ctypes.data)
    body = builder.if_then(condition).begin_building()
    affine(body, kernel, x, 9, 0)
    body.end_building()
    builder.end_building().complete().launch(stream)
    stream.sync()
    assert (x == (9 if value else 1)).all()


@pytest.mark.parametrize("value", [0, 1])
def test_if_and_else(builder, stream, kernel, pinned, one, value):
    x, decision = pinned(np.ones(32)), pinned([value])
    builder.begin_building()
    condition = builder.create_condition()
    core.launch(builder, one, kernel("set_to"), condition, decision.ctypes.data)
    for factor, body in zip((5, 7), builder.if_else(condition)):
        body.begin_building()
        affine(body, kernel, x, factor, 0)
        body.end_building()
    builder.end_building().complete().launch(stream)
    stream.sync()
    assert (x == (5 if value else 7)).all()


@pytest.mark.parametrize("value", [0, 1, 2, 3])
def test_switch(builder, stream, kernel, pinned, one, value):
    x, decision = pinned(np.ones(32)), pinned([value])
    builder.begin_building()
    condition = builder.create_condition()
    core.launch(builder, one, kernel("set_to"), condition, decision.ctypes.data)
    for factor, body in zip((5, 7, 11), builder.switch(condition, 3)):
        body.begin_building()
        affine(body, kernel, x, factor, 0)
        body.end_building()
    builder.end_building().complete().launch(stream)
    stream.sync()
    assert (x == (5, 7, 11, 1)[value]).all()  # past the last one none of them


def test_while(builder, stream, kernel, pinned, one):
    x, left = pinned(np.ones(32)), pinned([6])
    builder.begin_building()
    condition = builder.create_condition(default_value=1)
    body = builder.while_loop(condition).begin_building()
    affine(body, kernel, x, 2, 0)
    core.launch(body, one, kernel("count_down"), condition, left.ctypes.data)
    body.end_building()
    graph = builder.end_building().complete()
    for _ in range(2):
        x[:], left[:] = 1, 6
        graph.launch(stream)
        stream.sync()
        assert (x == 64).all()
        assert left[0] == 0


def test_an_update_from_another_capture(device, stream, kernel, pinned):
    x = pinned(np.ones(32))

    def captured(a, b):
        builder = device.create_graph_builder().begin_building()
        affine(builder, kernel, x, a, b)
        affine(builder, kernel, x, 2, 0)
        return builder.end_building()

    graph = captured(3, 0).complete()
    graph.update(captured(5, 1))
    graph.launch(stream)
    stream.sync()
    assert (x == 12).all()


def test_an_update_from_another_shape_is_refused(device, stream, kernel, pinned):
    x = pinned(np.ones(32))
    builder = device.create_graph_builder().begin_building()
    affine(builder, kernel, x, 3, 0)
    graph = builder.end_building().complete()
    other = device.create_graph_builder().begin_building()
    affine(other, kernel, x, 3, 0)
    affine(other, kernel, x, 3, 0)
    with pytest.raises(Exception, match=r"[Uu]pdate|TOPOLOGY"):
        graph.update(other.end_building())
    graph.launch(stream)
    stream.sync()
    assert (x == 3).all()


def test_options_and_dot(builder, stream, kernel, pinned, tmp_path):
    x = pinned(np.ones(32))
    builder.begin_building()
    affine(builder, kernel, x, 3, 0)
    builder.end_building()
    builder.debug_dot_print(str(tmp_path / "graph.dot"), GraphDebugPrintOptions(verbose=True))
    assert "digraph" in (tmp_path / "graph.dot").read_text()
    options = GraphCompleteOptions(auto_free_on_launch=True, upload_stream=stream, use_node_priority=True)
    graph = builder.complete(options)
    graph.launch(stream)
    stream.sync()
    assert (x == 3).all()
    graph.close()
    assert graph.is_closed


def test_a_capture_of_a_stream_of_the_program(device, stream, kernel, pinned):
    x, other = pinned(np.ones(32)), device.create_stream()
    builder = stream.create_graph_builder().begin_building()
    affine(builder, kernel, x, 3, 0)
    builder.end_building().complete().launch(other)
    other.sync()
    assert (x == 3).all()
