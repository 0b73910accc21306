# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Graph kernels of Quadrants, on its CPU or CUDA backend."""

from functools import partial

import numpy as np
import quadrants as qd

import cuda_graphs as cg

DRIVERS = ("host", "cuda")
qd.init(
    arch=qd.cuda if cg.driver_info().kind == "cuda" else qd.cpu,
    fast_math=False,
    offline_cache=False,
    log_level=qd.ERROR,
)
sync = qd.sync


def zeros(n):
    made = qd.ndarray(qd.f32, (n,))
    made.fill(0.0)
    return made


def get(array) -> np.ndarray:
    return array.to_numpy()


@qd.kernel(graph=True)
def add(tasks: qd.Template, x: qd.types.ndarray(qd.f32, 1)):
    for _ in qd.static(range(tasks)):
        for i in range(x.shape[0]):
            x[i] = x[i] + 1.0


@qd.kernel(graph=True)
def count_down(x: qd.types.ndarray(qd.f32, 1), left: qd.types.ndarray(qd.i32, 0)):
    while qd.graph.do_while(left):
        for i in range(x.shape[0]):
            x[i] = x[i] + 1.0
        for _ in range(1):
            left[()] = left[()] - 1


def chain(variant, tasks, arrays):
    return [partial(add, tasks, array) for array in arrays]


def loop(variant, array):
    left = qd.ndarray(qd.i32, ())
    return left.fill, partial(count_down, array, left)
