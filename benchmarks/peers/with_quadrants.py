# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The problems for Quadrants, on its CPU or CUDA backend, fast_math off.

Code is kept in QD_OFFLINE_CACHE_FILE_PATH.
"""

import os
from typing import Any

import numpy as np
import quadrants as qd

import cuda_graphs as cg

DRIVERS = ("host", "cuda")
TAKES_NUMPY = True
qd.init(
    arch=qd.cuda if cg.driver_info().kind == "cuda" else qd.cpu,
    fast_math=False,
    offline_cache=True,
    offline_cache_file_path=os.environ.get("QD_OFFLINE_CACHE_FILE_PATH", ""),
    log_level=qd.ERROR,
)
TYPES = {"float32": qd.f32, "int32": qd.i32, "uint8": qd.u8}
ndarray = qd.types.ndarray
sync = qd.sync


def put(array: np.ndarray) -> Any:
    made = qd.ndarray(TYPES[array.dtype.name], array.shape)
    made.from_numpy(array)
    return made


def get(array: Any) -> np.ndarray:
    return array.to_numpy()


@qd.kernel
def saxpy(a: qd.f32, x: ndarray(qd.f32, 1), y: ndarray(qd.f32, 1)):
    for i in range(x.shape[0]):
        y[i] = y[i] + a * x[i]


@qd.kernel
def stencil(u: ndarray(qd.f32, 2), v: ndarray(qd.f32, 2)):
    for i, j in qd.ndrange((1, u.shape[0] - 1), (1, u.shape[1] - 1)):
        v[i, j] = 0.2 * (u[i, j] + u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])


@qd.kernel
def reduction(x: ndarray(qd.f32, 1), total: ndarray(qd.f32, 1)):
    total[0] = 0.0
    for i in range(x.shape[0]):
        total[0] += x[i]


@qd.kernel
def histogram(x: ndarray(qd.u8, 1), bins: ndarray(qd.i32, 1)):
    for b in range(256):
        bins[b] = 0
    for i in range(x.shape[0]):
        bins[qd.cast(x[i], qd.i32)] += 1


@qd.kernel
def mandelbrot(image: ndarray(qd.i32, 2), limit: qd.i32):
    for i, j in qd.ndrange(image.shape[0], image.shape[1]):
        cx = -2.0 + 3.0 * qd.cast(j, qd.f32) / qd.cast(image.shape[1], qd.f32)
        cy = -1.5 + 3.0 * qd.cast(i, qd.f32) / qd.cast(image.shape[0], qd.f32)
        x, y, n = 0.0, 0.0, 0
        while x * x + y * y < 4.0 and n < limit:
            x, y = x * x - y * y + cx, 2.0 * x * y + cy
            n += 1
        image[i, j] = n


@qd.kernel
def spmv(
    starts: ndarray(qd.i32, 1),
    columns: ndarray(qd.i32, 1),
    values: ndarray(qd.f32, 1),
    x: ndarray(qd.f32, 1),
    y: ndarray(qd.f32, 1),
):
    for row in range(y.shape[0]):
        total = 0.0
        for k in range(starts[row], starts[row + 1]):
            total += values[k] * x[columns[k]]
        y[row] = total


@qd.kernel
def n_body(p: ndarray(qd.f32, 2), force: ndarray(qd.f32, 2)):
    for i in range(p.shape[0]):
        fx, fy, fz = 0.0, 0.0, 0.0
        for j in range(p.shape[0]):
            dx = p[j, 0] - p[i, 0]
            dy = p[j, 1] - p[i, 1]
            dz = p[j, 2] - p[i, 2]
            d = dx * dx + dy * dy + dz * dz + 0.01
            s = 1.0 / (d * qd.sqrt(d))
            fx += dx * s
            fy += dy * s
            fz += dz * s
        force[i, 0] = fx
        force[i, 1] = fy
        force[i, 2] = fz
