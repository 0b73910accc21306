# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: kernels of this package and of Warp take turns on arrays of either, without copies. On a GPU, launches of Warp
on the stream of a builder become nodes of its graph."""

import numpy as np
import pytest

import cuda_graphs as cg

f32 = cg.f32
Vector, Points = cg.Array1[f32], cg.Array1[cg.vec3]


@pytest.fixture(scope="module")
def wp():
    warp = pytest.importorskip("warp")
    warp.config.quiet = True
    warp.init()
    return warp


@pytest.fixture(params=["cpu", pytest.param("cuda:0", marks=pytest.mark.cuda)])
def place(request, wp, session_device):
    if request.param != "cpu" and not wp.is_cuda_available():
        pytest.skip("this Warp finds no CUDA")
    return request.param


@pytest.fixture
def theirs(wp, place):
    """theirs(array): adds 1 to an array by a kernel of Warp, and waits."""

    @wp.kernel
    def add_one(x: wp.array(dtype=wp.float32)):
        i = wp.tid()
        x[i] = x[i] + 1.0

    def run(x):
        wp.launch(add_one, dim=x.shape[0], inputs=[x], device=place)
        wp.synchronize_device(place)

    return run


@pytest.fixture
def ours():
    @cg.kernel
    def double(x: Vector):
        for i in x:
            x[i] = 2.0 * x[i]

    def run(x):
        double(x)
        cg.Device().sync()

    return run


def test_kernels_take_turns_on_an_array_of_warp(wp, place, theirs, ours):
    x = wp.array(np.arange(5, dtype=np.float32), dtype=wp.float32, device=place)
    wp.synchronize_device(place)
    for _ in range(2):
        theirs(x)
        ours(x)
    assert x.numpy().tolist() == [4 * i + 6 for i in range(5)]


def test_kernels_take_turns_on_an_array_of_ours(wp, place, theirs, ours):
    x = cg.array(np.arange(5, dtype=np.float32))
    view = wp.from_dlpack(x)
    ours(x)
    theirs(view)
    ours(x)
    assert x.to_numpy().tolist() == [4 * i + 2 for i in range(5)]
    assert view.numpy().tolist() == x.to_numpy().tolist()


def test_vectors_of_warp_are_vectors(wp, place):
    @cg.kernel
    def lengths(points: Points, result: Vector):
        for i in points:
            result[i] = points[i].norm()

    points = wp.array([[3.0, 4.0, 0.0], [2.0, 3.0, 6.0]], dtype=wp.vec3, device=place)
    result = wp.zeros(2, dtype=wp.float32, device=place)
    wp.synchronize_device(place)
    lengths(points, result)
    cg.Device().sync()
    assert result.numpy().tolist() == [5.0, 7.0]


@pytest.mark.cuda
def test_launches_of_warp_are_nodes_of_a_graph(wp, place, theirs, device, stream):
    if place == "cpu":
        pytest.skip("Warp has no streams on the CPU")

    @wp.kernel
    def add(x: wp.array(dtype=wp.float32), by: wp.float32):
        i = wp.tid()
        x[i] = x[i] + by

    x = wp.zeros(5, dtype=wp.float32, device=place)
    wp.launch(add, dim=5, inputs=[x, 0.0], device=place)  # loads the code
    wp.synchronize_device(place)
    builder = device.create_graph_builder()
    with wp.ScopedStream(wp.Stream(place, cuda_stream=builder.stream.handle)), builder:
        wp.launch(add, dim=5, inputs=[x, 3.0], device=place)
        wp.launch(add, dim=5, inputs=[x, 4.0], device=place)
    graph = builder.complete()
    assert [type(node).__name__ for node in builder.graph_definition.nodes()] == ["KernelNode"] * 2
    for _ in range(2):
        graph.launch(stream)
    stream.sync()
    assert x.numpy().tolist() == [14.0] * 5
