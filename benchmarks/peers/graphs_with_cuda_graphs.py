# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Graph kernels of cuda_graphs. Variants are the lowerings of a loop; "resident" applies to chains too."""

from functools import cache, partial

import numpy as np

import cuda_graphs as cg

DRIVERS = ("host", "cuda")
sync = cg.Device().default_stream.sync
f32_1d = cg.types.ndarray(cg.f32, ndim=1)
i32_0d = cg.types.ndarray(cg.i32, ndim=0)


def zeros(n):
    made = cg.ndarray(cg.f32, n)
    made.fill(0)
    return made


def get(array) -> np.ndarray:
    return array.to_numpy()


def add(tasks: cg.template, x: f32_1d):
    for _ in cg.static(range(tasks)):
        for i in x:
            x[i] = x[i] + 1.0


def count_down(x: f32_1d, left: i32_0d):
    while cg.graph_do_while(left):
        for i in x:
            x[i] = x[i] + 1.0
        left[()] = left[()] - 1


@cache
def chained(variant):
    # A row of n tasks measures n tasks.
    return cg.kernel(add, graph=True, fuse=False, **({"chain": variant} if variant else {}))


def chain(variant, tasks, arrays):
    return [partial(chained(variant), tasks, array) for array in arrays]


@cache
def looped(variant):
    return cg.kernel(count_down, graph=True, loop=variant or "auto")


def loop(variant, array):
    left = cg.ndarray(cg.i32, ())
    return left.fill, partial(looped(variant), array, left)
