# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: kernels of this package and of cuTile take turns on arrays of this package, without copies. Launches of cuTile
on the stream of a builder become nodes of its graph."""

import numpy as np
import pytest

import cuda_graphs as cg

ct = pytest.importorskip("cuda.tile")
pytestmark = pytest.mark.cuda  # cuTile has no code for a CPU

N, TILE = 64, 16


@ct.kernel
def scale(x, y, factor):
    block = ct.bid(0)
    tile = ct.load(x, index=(block,), shape=(TILE,))
    ct.store(y, index=(block,), tile=tile * factor)


@pytest.fixture
def add_one(device):
    @cg.kernel
    def add_one(x: cg.Array1[cg.f32]):
        for i in x:
            x[i] += 1.0

    return add_one


@pytest.fixture
def x(device):
    return cg.array(np.arange(N, dtype=np.float32))


@pytest.fixture
def y(device):
    return cg.ndarray(cg.f32, N)


def run(stream, *arguments):
    """Launch `scale` on a stream."""
    ct.launch(stream.handle, (N // TILE, 1, 1), scale, arguments)


def test_kernels_take_turns_on_an_array(add_one, x, y, stream):
    add_one(x, stream=stream)
    run(stream, x, y, 3.0)
    add_one(y, stream=stream)
    stream.sync()
    assert y.to_numpy().tolist() == [3.0 * (each + 1) + 1 for each in range(N)]


def test_launches_are_nodes_of_a_graph(add_one, x, y, stream, builder):
    run(stream, x, y, 0.0)  # compiles and loads the code
    stream.sync()
    with builder:
        run(builder.stream, x, y, 2.0)
        add_one(y, stream=builder.stream)
        run(builder.stream, y, x, 3.0)
    assert [type(node).__name__ for node in builder.graph_definition.nodes()] == ["KernelNode"] * 3
    assert y.to_numpy().tolist() == [0.0] * N
    graph = builder.complete()
    for _ in range(2):
        graph.launch(stream)
    stream.sync()
    once = [3.0 * (2.0 * each + 1) for each in range(N)]
    assert x.to_numpy().tolist() == [3.0 * (2.0 * each + 1) for each in once]
