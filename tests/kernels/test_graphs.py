# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: a kernel in a graph does in each launch what a call does, and the graph keeps what it needs."""

import dataclasses
import gc

import numpy as np
import pytest

import cuda_graphs as cg
from cuda_graphs.core.resources import boxes

f32_1d = cg.types.ndarray(cg.f32, ndim=1)


@cg.kernel
def saxpy(a: cg.f32, x: f32_1d, y: f32_1d):
    for i in x:
        y[i] += a * x[i]


@cg.kernel
def normalise(x: f32_1d):
    s = cg.f32(0.0)
    for i in x:
        s += x[i]
    for i in x:
        x[i] = x[i] / s


def arrays(n=100):
    x, y = cg.ndarray(cg.f32, n), cg.ndarray(cg.f32, n)
    x.from_numpy(np.arange(n, dtype="f"))
    y.fill(1)
    return x, y


def test_a_call_in_a_definition_is_a_kernel_node_for_each_task(stream):
    x, y = arrays()
    g = cg.GraphDef()
    first = g.call(saxpy, 2.0, x, y)
    assert isinstance(first, cg.KernelNode)
    assert len(g.nodes()) == 1
    last = first.call(normalise, y, name="norm")
    assert last.name == "norm"
    assert len(g.nodes()) == 4
    assert all(isinstance(node, cg.KernelNode) for node in g.nodes())
    graph = g.instantiate()
    assert y.to_numpy()[1] == 1
    graph.launch(stream)
    stream.sync()
    wanted = np.float32(2) * np.arange(100, dtype="f") + 1
    np.testing.assert_allclose(y.to_numpy(), wanted / wanted.sum(), rtol=1e-6)


def test_a_function_that_does_nothing_is_an_empty_node():
    @cg.kernel
    def nothing(x: f32_1d):
        """Nothing."""

    x, _ = arrays()
    nothing(x)
    assert isinstance(cg.GraphDef().call(nothing, x), cg.EmptyNode)


def test_a_function_of_one_task_stands_where_a_kernel_does(stream):
    x, y = arrays()
    g = cg.GraphDef()
    node = g.launch(None, saxpy, 1.0, x, y)
    node = node.launch(cg.LaunchConfig(grid=1, block=32), saxpy, 1.0, x, y)
    assert node.grid == (1, 1, 1)
    assert node.block == (32, 1, 1)
    g.instantiate().launch(stream)
    cg.launch(stream, None, saxpy, 1.0, x, y)
    cg.launch(stream, cg.LaunchConfig(grid=2, block=64), saxpy, 1.0, x, y)
    stream.sync()
    np.testing.assert_array_equal(y.to_numpy(), 4 * np.arange(100, dtype="f") + 1)
    with pytest.raises(ValueError, match=r"normalise\(\) has 3 tasks"):
        g.launch(None, normalise, x)


def test_loop_config_sizes_the_grid(stream):
    @cg.kernel
    def double(x: f32_1d):
        cg.loop_config(block_dim=64)
        for i in x:
            x[i] *= 2.0
        cg.loop_config(parallelize=3)
        for i in x:
            x[i] += 1.0

    x = cg.ndarray(cg.f32, 100_000)
    g = cg.GraphDef()
    second = g.call(double, x)
    (first,) = second.pred
    assert first.block == (64, 1, 1)
    if cg.driver_info().kind == "host":
        assert second.grid == (3, 1, 1)
    g.instantiate().launch(stream)
    stream.sync()
    np.testing.assert_array_equal(x.to_numpy(), 1)


def test_calls_on_a_captured_stream_are_nodes(device, stream):
    x, y = arrays()
    with device.create_graph_builder() as gb:
        saxpy(1.0, x, y, stream=gb)
        normalise(y, stream=gb)
        cg.launch(gb, None, saxpy, 0.0, x, y)
    graph = gb.complete()
    assert y.to_numpy()[1] == 1
    assert len(gb.graph_definition.nodes()) == 5
    graph.launch(stream)
    stream.sync()
    wanted = np.arange(100, dtype="f") + 1
    np.testing.assert_allclose(y.to_numpy(), wanted / wanted.sum(), rtol=1e-6)


def test_a_call_elsewhere_is_not_captured(device):
    x, y = arrays()
    with device.create_graph_builder() as gb:
        other = device.create_stream()
        saxpy(1.0, x, y, stream=other)
        other.sync()
        saxpy(1.0, x, y, stream=gb)
    assert len(gb.graph_definition.nodes()) == 1


def test_the_graph_keeps_arrays_temporaries_and_code(stream, eventually):
    @cg.kernel
    def local(x: f32_1d, y: f32_1d):
        s = cg.f32(0.0)
        for i in x:
            s += x[i]
        for i in y:
            y[i] = s

    x, y = arrays()
    written, start = y.buffer, held()
    g = cg.GraphDef()
    g.call(local, x, y)
    graph, kept = g.instantiate(), held()
    assert kept["library"] == start["library"] + 1
    assert kept["pointer"] > start["pointer"]  # what `s` is in
    del x, y, g, local
    assert held() == kept
    for _ in range(3):
        graph.launch(stream)
    stream.sync()
    host = cg.PinnedMemoryResource().allocate(400)
    written.copy_to(host, stream=stream)
    stream.sync()
    assert np.from_dlpack(host).view("f").tolist() == [4950.0] * 100
    graph.close()
    del host
    eventually(lambda: held() == {"library": start["library"], "pointer": start["pointer"] - 1})  # and x


def held():
    gc.collect()
    boxes.drain()
    return {kind: boxes.live()[kind] for kind in ("library", "pointer")}


def test_numbers_may_be_parameters_of_the_graph(stream):
    @cg.kernel
    def fill(x: f32_1d, value: cg.f32, n: cg.i32):
        for i in range(n):
            x[i] = value

    x, _ = arrays()
    g = cg.GraphDef()
    g.call(fill, x, g.param("value", cg.f32, default=5.0), g.param("n", cg.i32, default=0))
    graph = g.instantiate()
    graph.launch(stream, n=100)
    graph.launch(stream, value=7.0, n=50)
    stream.sync()
    assert x.to_numpy().tolist() == [7.0] * 50 + [5.0] * 50
    with pytest.raises(TypeError, match=r"parameter 'n' takes i32, but .* has another type"):
        g.call(fill, x, 1.0, g.param("value", cg.f32, default=5.0))
    with pytest.raises(TypeError, match="has a value only in launches of its graph"):
        fill(x, g.param("value", cg.f32, default=5.0), 3)


def test_the_check_of_a_definition_knows_what_kernels_touch():
    x, y = arrays()
    g = cg.GraphDef()
    g.call(saxpy, 1.0, x, y)
    assert g.check().findings == ()
    g.call(saxpy, 1.0, y, x)
    assert g.check().findings


def test_a_function_that_returns_a_value_is_no_node():
    @cg.kernel
    def first(x: f32_1d) -> cg.f32:
        return x[0]

    x, _ = arrays()
    with pytest.raises(ValueError, match="kernel first returns a value, which a graph cannot return"):
        cg.GraphDef().call(first, x)


def test_arrays_that_the_device_does_not_reach_are_refused():
    x, _ = arrays()
    with pytest.raises(ValueError, match="parameter 'y' is a ndarray that the device cannot access"):
        cg.GraphDef().call(saxpy, 1.0, x, np.ones(100, "f"))


@dataclasses.dataclass
class State:
    x: f32_1d
    dt: cg.f32


def test_members_of_dataclasses_are_patched_in_as_others_are(stream):
    @cg.kernel
    def advance(s: State):
        for i in s.x:
            s.x[i] += s.dt

    x, _ = arrays()
    g = cg.GraphDef()
    g.call(advance, State(x, g.param("dt", cg.f32, default=0.5)))
    graph = g.instantiate()
    graph.launch(stream)
    graph.launch(stream, dt=1.0)
    stream.sync()
    np.testing.assert_array_equal(x.to_numpy(), np.arange(100, dtype="f") + 1.5)


def test_components_of_vectors_are_patched_in_as_others_are(stream):
    @cg.kernel
    def put(rows: cg.types.mat(2, 2), x: f32_1d):
        for i in x:
            x[i] = rows[0, 0] + 10 * rows[0, 1] + 100 * rows[1, 0] + 1000 * rows[1, 1]

    x, _ = arrays()
    g = cg.GraphDef()
    g.call(put, [(1, g.param("a", cg.f32)), (g.param("b", cg.f32, default=3), 4)], x)
    graph = g.instantiate()
    graph.launch(stream, a=2.0)
    stream.sync()
    assert x.to_numpy().tolist() == [4321] * 100
    graph.launch(stream, a=5.0, b=6.0)
    stream.sync()
    assert x.to_numpy().tolist() == [4651] * 100


def test_kernels_run_in_bodies_of_conditions(stream):
    """A while loop whose body counts down on the device."""
    x, y = arrays()
    g = cg.GraphDef()
    more = g.create_condition(default_value=1)
    loop = g.while_loop(more)
    step = loop.body.call(saxpy, 1.0, x, y)
    source = "#include <cuda_graphs.h>\n"
    source += 'extern "C" __global__ void again(cudaGraphConditionalHandle h, const float* y) '
    source += "{ cudaGraphSetConditional(h, y[1] < 4.5f); }"
    again = cg.Program(source, code_type="c++").compile().get_kernel("again")
    step.launch(cg.LaunchConfig(grid=1, block=1), again, more, y.buffer)
    g.instantiate().launch(stream)
    stream.sync()
    assert y.to_numpy()[1] == 5
