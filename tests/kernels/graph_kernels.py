# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Graph kernels, arrays for them, and what their counters must say, that several tests share."""

import numpy as np

import cuda_graphs as cg
from cuda_graphs.kernels.specialisation.options import LOOPS

LOWERINGS = tuple(each for each in LOOPS if each != "auto")

f32_0d = cg.types.ndarray(cg.f32, ndim=0)
f32_1d = cg.types.ndarray(cg.f32, ndim=1)
f32_2d = cg.types.ndarray(cg.f32, ndim=2)
i32_1d = cg.types.ndarray(cg.i32, ndim=1)
i32_0d = cg.types.ndarray(cg.i32, ndim=0)


@cg.kernel(graph=True, chain="nodes", fuse=False)
def two(a: cg.f32, x: f32_1d, y: f32_1d):
    for i in x:
        y[i] += a * x[i]
    for i in x:
        x[i] = y[i] + 1


def body(x, c):
    while cg.graph_do_while(c):
        for i in x:
            x[i] += 1
        c[()] -= 1


body.__annotations__ = {"x": i32_1d, "c": i32_0d}
count_down = cg.kernel(body, graph=True)
count_down_as = {loop: cg.kernel(body, graph=True, loop=loop) for loop in LOWERINGS}
on_the_host = count_down_as["host"]
checked = cg.kernel(body, graph=True, debug=True)


@cg.kernel
def seed(c: i32_0d, value: cg.i32):
    c[()] = value


def array(values, dtype=cg.f32):
    values = np.asarray(values, {cg.f32: "f4", cg.i32: "i4"}[dtype])
    made = cg.ndarray(dtype, values.shape)
    made.from_numpy(values)
    return made


def counters(kernel):
    """(graphs, builds, replayed)"""
    found = kernel.graph_stats
    return found.graphs, found.builds, found.replayed


def counted(lowering, graphs=1, builds=1, replayed=True):
    """Returns the expected `counters` of a kernel with loops; with "host" no graph is built."""
    return (0, 0, False) if lowering == "host" else (graphs, builds, replayed)
