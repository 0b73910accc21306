# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The problems for numba on the CPU: prange, fastmath off, each as its manual recommends.

Sums and bins are private to chunks of the loop. Code is kept in NUMBA_CACHE_DIR.
"""

import numba
import numpy as np
from numba import prange

DRIVERS = ("host",)
TAKES_NUMPY = True
put = np.array
get = np.asarray
CHUNKS = 64
f32 = np.float32
parallel = numba.njit(parallel=True, cache=True, error_model="numpy")


def sync() -> None:
    """Do nothing: the work is done when a call returns."""


@parallel
def saxpy(a, x, y):
    for i in prange(x.shape[0]):
        y[i] += a * x[i]


@parallel
def link(c, x):
    for i in prange(x.shape[0]):
        x[i] = x[i] * f32(1.01) + c


@parallel
def chain(c, x):
    for _ in range(10):
        for i in prange(x.shape[0]):
            x[i] = x[i] * f32(1.01) + c


@parallel
def stencil(u, v):
    for i in prange(1, u.shape[0] - 1):
        for j in range(1, u.shape[1] - 1):
            v[i, j] = f32(0.2) * (u[i, j] + u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])


@parallel
def reduction(x, total):
    found = f32(0)
    for i in prange(x.shape[0]):
        found += x[i]
    total[0] = found


@parallel
def histogram(x, bins):
    own = np.zeros((CHUNKS, 256), np.int32)
    for chunk in prange(CHUNKS):
        for i in range(chunk * x.shape[0] // CHUNKS, (chunk + 1) * x.shape[0] // CHUNKS):
            own[chunk, x[i]] += 1
    for b in range(256):
        bins[b] = own[:, b].sum()


@parallel
def mandelbrot(image, limit):
    rows, columns = image.shape
    for i in prange(rows):
        for j in range(columns):
            cx = f32(-2) + f32(3) * f32(j) / f32(columns)
            cy = f32(-1.5) + f32(3) * f32(i) / f32(rows)
            x, y, n = f32(0), f32(0), np.int32(0)
            while x * x + y * y < f32(4) and n < limit:
                x, y = x * x - y * y + cx, f32(2) * x * y + cy
                n += np.int32(1)
            image[i, j] = n


@parallel
def spmv(starts, columns, values, x, y):
    for row in prange(y.shape[0]):
        total = f32(0)
        for k in range(starts[row], starts[row + 1]):
            total += values[k] * x[columns[k]]
        y[row] = total


@parallel
def n_body(p, force):
    for i in prange(p.shape[0]):
        fx, fy, fz = f32(0), f32(0), f32(0)
        for j in range(p.shape[0]):
            dx, dy, dz = p[j, 0] - p[i, 0], p[j, 1] - p[i, 1], p[j, 2] - p[i, 2]
            d = dx * dx + dy * dy + dz * dz + f32(0.01)
            s = f32(1) / (d * np.sqrt(d))
            fx += dx * s
            fy += dy * s
            fz += dz * s
        force[i, 0] = fx
        force[i, 1] = fy
        force[i, 2] = fz
