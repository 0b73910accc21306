# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The problems as kernels of cuda_graphs: native code on the host driver, PTX on a GPU."""

from typing import Any

import numpy as np

import cuda_graphs as cg

DRIVERS = ("host", "cuda")
TAKES_NUMPY = True
TYPES = {each.dtype: each for each in (cg.f32, cg.i32, cg.u8)}
sync = cg.Device().default_stream.sync


def put(array: np.ndarray) -> cg.NDArray:
    made = cg.ndarray(TYPES[array.dtype.str], array.shape)
    made.from_numpy(array)
    return made


def get(array: Any) -> np.ndarray:
    return array.to_numpy()


ndarray = cg.types.ndarray


@cg.kernel
def saxpy(a: cg.f32, x: ndarray(cg.f32, 1), y: ndarray(cg.f32, 1)):
    for i in range(x.shape[0]):
        y[i] += a * x[i]


def recorded(a, x, y):
    return graph(1, a, x, y)


def graph(tasks, a, x, y):
    node = cg.GraphDef()
    for _ in range(tasks):
        node = node.call(saxpy, a, x, y)
    ready = node.graph.instantiate()
    stream = cg.Device().default_stream
    return lambda: ready.launch(stream)


@cg.kernel
def link(c: cg.f32, x: ndarray(cg.f32, 1)):
    for i in x:
        x[i] = x[i] * 1.01 + c


@cg.kernel
def chain(c: cg.f32, x: ndarray(cg.f32, 1)):
    for _ in cg.static(range(10)):
        for i in x:
            x[i] = x[i] * 1.01 + c


@cg.kernel
def stencil(u: ndarray(cg.f32, 2), v: ndarray(cg.f32, 2)):
    for i, j in cg.ndrange((1, u.shape[0] - 1), (1, u.shape[1] - 1)):
        v[i, j] = 0.2 * (u[i, j] + u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])


@cg.kernel
def reduction(x: ndarray(cg.f32, 1), total: ndarray(cg.f32, 1)):
    total[0] = 0.0
    for i in range(x.shape[0]):
        total[0] += x[i]


@cg.kernel
def histogram(x: ndarray(cg.u8, 1), bins: ndarray(cg.i32, 1)):
    for b in range(256):
        bins[b] = 0
    for i in range(x.shape[0]):
        bins[x[i]] += 1


@cg.kernel
def mandelbrot(image: ndarray(cg.i32, 2), limit: cg.i32):
    for i, j in cg.ndrange(image.shape[0], image.shape[1]):
        cx = -2.0 + 3.0 * cg.f32(j) / cg.f32(image.shape[1])
        cy = -1.5 + 3.0 * cg.f32(i) / cg.f32(image.shape[0])
        x, y, n = 0.0, 0.0, 0
        while x * x + y * y < 4.0 and n < limit:
            x, y = x * x - y * y + cx, 2.0 * x * y + cy
            n += 1
        image[i, j] = n


@cg.kernel
def spmv(
    starts: ndarray(cg.i32, 1),
    columns: ndarray(cg.i32, 1),
    values: ndarray(cg.f32, 1),
    x: ndarray(cg.f32, 1),
    y: ndarray(cg.f32, 1),
):
    for row in range(y.shape[0]):
        total = 0.0
        for k in range(starts[row], starts[row + 1]):
            total += values[k] * x[columns[k]]
        y[row] = total


@cg.kernel
def n_body(p: ndarray(cg.f32, 2), force: ndarray(cg.f32, 2)):
    for i in range(p.shape[0]):
        fx, fy, fz = 0.0, 0.0, 0.0
        for j in range(p.shape[0]):
            dx = p[j, 0] - p[i, 0]
            dy = p[j, 1] - p[i, 1]
            dz = p[j, 2] - p[i, 2]
            d = dx * dx + dy * dy + dz * dz + 0.01
            s = 1.0 / (d * cg.sqrt(d))
            fx += dx * s
            fy += dy * s
            fz += dz * s
        force[i, 0] = fx
        force[i, 1] = fy
        force[i, 2] = fz


@cg.kernel
def n_body_in_any_order(p: ndarray(cg.f32, 2), force: ndarray(cg.f32, 2)):
    """Use one warp per body; its lanes share the other bodies."""
    for block, thread in cg.blocks((p.shape[0] + 7) // 8, 256):
        lane, own = thread % 32, block * 8 + thread // 32
        i = min(own, p.shape[0] - 1)
        fx, fy, fz = 0.0, 0.0, 0.0
        for j in range(lane, p.shape[0], 32):
            dx = p[j, 0] - p[i, 0]
            dy = p[j, 1] - p[i, 1]
            dz = p[j, 2] - p[i, 2]
            d = dx * dx + dy * dy + dz * dz + 0.01
            s = 1.0 / (d * cg.sqrt(d))
            fx += dx * s
            fy += dy * s
            fz += dz * s
        fx = cg.warp.reduce_add(fx)
        fy = cg.warp.reduce_add(fy)
        fz = cg.warp.reduce_add(fz)
        if lane == 0 and own < p.shape[0]:
            force[own, 0] = fx
            force[own, 1] = fy
            force[own, 2] = fz
