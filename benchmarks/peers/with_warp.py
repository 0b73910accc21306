# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The problems for NVIDIA Warp. On a CPU Warp uses one thread; on a GPU it uses CUDA.

Sums use Warp's `array_sum`; the histogram executes one atomic per byte. Code is kept in WARP_CACHE_PATH.
"""

from typing import Any

import numpy as np
import warp as wp

import cuda_graphs as cg

DRIVERS = ("host", "cuda")
TAKES_NUMPY = False
wp.config.quiet = True
wp.init()
DEVICE = "cuda:0" if cg.driver_info().kind == "cuda" else "cpu"
TYPES = {"float32": wp.float32, "int32": wp.int32, "uint8": wp.uint8}


def put(array: np.ndarray) -> Any:
    return wp.array(array, dtype=TYPES[array.dtype.name], device=DEVICE)


def get(array: Any) -> np.ndarray:
    return array.numpy()


def sync() -> None:
    wp.synchronize_device(DEVICE)


@wp.kernel
def saxpy_at(a: wp.float32, x: wp.array(dtype=wp.float32), y: wp.array(dtype=wp.float32)):
    i = wp.tid()
    y[i] = y[i] + a * x[i]


def saxpy(a, x, y):
    wp.launch(saxpy_at, x.shape, inputs=[a, x, y], device=DEVICE)


@wp.kernel
def link_at(c: wp.float32, x: wp.array(dtype=wp.float32)):
    i = wp.tid()
    x[i] = x[i] * 1.01 + c


def link(c, x):
    wp.launch(link_at, x.shape, inputs=[c, x], device=DEVICE)


def chain(c, x):
    for _ in range(10):
        link(c, x)


def recorded(a, x, y):
    """Return a recorded launch: Warp's cheapest call."""
    return wp.launch(saxpy_at, x.shape, inputs=[a, x, y], device=DEVICE, record_cmd=True).launch


def graph(tasks, a, x, y):
    with wp.ScopedCapture(device=DEVICE) as capture:
        for _ in range(tasks):
            saxpy(a, x, y)
    return lambda: wp.capture_launch(capture.graph)


@wp.kernel
def stencil_at(u: wp.array2d(dtype=wp.float32), v: wp.array2d(dtype=wp.float32)):
    row, column = wp.tid()
    i, j = row + 1, column + 1
    v[i, j] = 0.2 * (u[i, j] + u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])


def stencil(u, v):
    wp.launch(stencil_at, (u.shape[0] - 2, u.shape[1] - 2), inputs=[u, v], device=DEVICE)


def reduction(x, total):
    wp.utils.array_sum(x, out=total)


@wp.kernel
def histogram_at(x: wp.array(dtype=wp.uint8), bins: wp.array(dtype=wp.int32)):
    wp.atomic_add(bins, wp.int32(x[wp.tid()]), 1)


def histogram(x, bins):
    bins.zero_()
    wp.launch(histogram_at, x.shape, inputs=[x, bins], device=DEVICE)


@wp.kernel
def mandelbrot_at(image: wp.array2d(dtype=wp.int32), limit: wp.int32):
    i, j = wp.tid()
    cx = -2.0 + 3.0 * wp.float32(j) / wp.float32(image.shape[1])
    cy = -1.5 + 3.0 * wp.float32(i) / wp.float32(image.shape[0])
    x = wp.float32(0.0)
    y = wp.float32(0.0)
    n = wp.int32(0)
    while x * x + y * y < 4.0 and n < limit:
        following = x * x - y * y + cx
        y = 2.0 * x * y + cy
        x = following
        n = n + 1
    image[i, j] = n


def mandelbrot(image, limit):
    wp.launch(mandelbrot_at, image.shape, inputs=[image, limit], device=DEVICE)


@wp.kernel
def spmv_at(
    starts: wp.array(dtype=wp.int32),
    columns: wp.array(dtype=wp.int32),
    values: wp.array(dtype=wp.float32),
    x: wp.array(dtype=wp.float32),
    y: wp.array(dtype=wp.float32),
):
    row = wp.tid()
    total = wp.float32(0.0)
    for k in range(starts[row], starts[row + 1]):
        total += values[k] * x[columns[k]]
    y[row] = total


def spmv(starts, columns, values, x, y):
    wp.launch(spmv_at, y.shape, inputs=[starts, columns, values, x, y], device=DEVICE)


@wp.kernel
def n_body_at(p: wp.array2d(dtype=wp.float32), force: wp.array2d(dtype=wp.float32)):
    i = wp.tid()
    fx = wp.float32(0.0)
    fy = wp.float32(0.0)
    fz = wp.float32(0.0)
    for j in range(p.shape[0]):
        dx = p[j, 0] - p[i, 0]
        dy = p[j, 1] - p[i, 1]
        dz = p[j, 2] - p[i, 2]
        d = dx * dx + dy * dy + dz * dz + 0.01
        s = 1.0 / (d * wp.sqrt(d))
        fx += dx * s
        fy += dy * s
        fz += dz * s
    force[i, 0] = fx
    force[i, 1] = fy
    force[i, 2] = fz


def n_body(p, force):
    wp.launch(n_body_at, (p.shape[0],), inputs=[p, force], device=DEVICE)
