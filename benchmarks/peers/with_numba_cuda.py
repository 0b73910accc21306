# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The problems for numba-cuda, one thread per element. It contracts a * b + c, and has no option to prevent it.

Sums and bins are private to a block, in shared memory, before they are added to the result by atomics.
"""

from math import sqrt
from typing import Any

import numpy as np

if not hasattr(np, "row_stack"):  # Numba 0.68 uses it when it is imported; NumPy 2.5 has removed it
    np.row_stack = np.vstack

from numba import cuda

DRIVERS = ("cuda",)
TAKES_NUMPY = True
BLOCK = 256
BINS = 256
f32 = np.float32
i32 = np.int32
sync = cuda.synchronize
cuda.current_context()


def put(array: np.ndarray) -> Any:
    return cuda.to_device(array)


def get(array: Any) -> np.ndarray:
    return array.copy_to_host()


def blocks(n: int) -> int:
    return (n + BLOCK - 1) // BLOCK


def several() -> int:
    """Return a number of blocks that fills the device several times."""
    return 8 * cuda.get_current_device().MULTIPROCESSOR_COUNT


@cuda.jit
def saxpy_at(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] += a * x[i]


def saxpy(a, x, y):
    saxpy_at[blocks(x.size), BLOCK](a, x, y)


@cuda.jit
def stencil_at(u, v):
    j, i = cuda.grid(2)
    if 0 < i < u.shape[0] - 1 and 0 < j < u.shape[1] - 1:
        v[i, j] = f32(0.2) * (u[i, j] + u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])


def stencil(u, v):
    stencil_at[(blocks(u.shape[1]), u.shape[0]), (BLOCK, 1)](u, v)


@cuda.jit
def reduction_of(x, total):
    sums = cuda.shared.array(BLOCK, np.float32)
    found = f32(0)
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        found += x[i]
    own = cuda.threadIdx.x
    sums[own] = found
    half = BLOCK // 2
    while half > 0:
        cuda.syncthreads()
        if own < half:
            sums[own] += sums[own + half]
        half //= 2
    if own == 0:
        cuda.atomic.add(total, 0, sums[0])


@cuda.jit
def clear(array):
    i = cuda.grid(1)
    if i < array.size:
        array[i] = 0


def reduction(x, total):
    clear[1, 1](total)
    reduction_of[several(), BLOCK](x, total)


@cuda.jit
def histogram_of(x, bins):
    own = cuda.shared.array(BINS, np.int32)
    for b in range(cuda.threadIdx.x, BINS, BLOCK):
        own[b] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        cuda.atomic.add(own, i32(x[i]), 1)
    cuda.syncthreads()
    for b in range(cuda.threadIdx.x, BINS, BLOCK):
        cuda.atomic.add(bins, b, own[b])


def histogram(x, bins):
    clear[1, BINS](bins)
    histogram_of[several(), BLOCK](x, bins)


@cuda.jit
def mandelbrot_at(image, limit):
    j, i = cuda.grid(2)
    if i < image.shape[0] and j < image.shape[1]:
        cx = f32(-2) + f32(3) * f32(j) / f32(image.shape[1])
        cy = f32(-1.5) + f32(3) * f32(i) / f32(image.shape[0])
        x, y, n = f32(0), f32(0), i32(0)
        while x * x + y * y < f32(4) and n < limit:
            x, y = x * x - y * y + cx, f32(2) * x * y + cy
            n += i32(1)
        image[i, j] = n


def mandelbrot(image, limit):
    mandelbrot_at[(blocks(image.shape[1]), image.shape[0]), (BLOCK, 1)](image, limit)


@cuda.jit
def spmv_at(starts, columns, values, x, y):
    row = cuda.grid(1)
    if row < y.size:
        total = f32(0)
        for k in range(starts[row], starts[row + 1]):
            total += values[k] * x[columns[k]]
        y[row] = total


def spmv(starts, columns, values, x, y):
    spmv_at[blocks(y.size), BLOCK](starts, columns, values, x, y)


@cuda.jit
def n_body_at(p, force):
    i = cuda.grid(1)
    if i < p.shape[0]:
        fx, fy, fz = f32(0), f32(0), f32(0)
        for j in range(p.shape[0]):
            dx, dy, dz = p[j, 0] - p[i, 0], p[j, 1] - p[i, 1], p[j, 2] - p[i, 2]
            d = dx * dx + dy * dy + dz * dz + f32(0.01)
            s = f32(1) / (d * f32(sqrt(d)))
            fx += dx * s
            fy += dy * s
            fz += dz * s
        force[i, 0] = fx
        force[i, 1] = fy
        force[i, 2] = fz


def n_body(p, force):
    # With this number of bodies only small blocks fill the device.
    n_body_at[(p.shape[0] + 31) // 32, 32](p, force)


@cuda.jit(device=True)
def sum_of_warp(value):
    for distance in (16, 8, 4, 2, 1):
        value += cuda.shfl_xor_sync(0xFFFFFFFF, value, distance)
    return value


@cuda.jit
def n_body_of_warp(p, force):
    lane, i = cuda.threadIdx.x % 32, cuda.grid(1) // 32
    if i < p.shape[0]:
        fx, fy, fz = f32(0), f32(0), f32(0)
        for j in range(lane, p.shape[0], 32):
            dx, dy, dz = p[j, 0] - p[i, 0], p[j, 1] - p[i, 1], p[j, 2] - p[i, 2]
            d = dx * dx + dy * dy + dz * dz + f32(0.01)
            s = f32(1) / (d * f32(sqrt(d)))
            fx += dx * s
            fy += dy * s
            fz += dz * s
        fx, fy, fz = sum_of_warp(fx), sum_of_warp(fy), sum_of_warp(fz)
        if lane == 0:
            force[i, 0] = fx
            force[i, 1] = fy
            force[i, 2] = fz


def n_body_in_any_order(p, force):
    """Use one warp per body; its lanes share the other bodies."""
    n_body_of_warp[blocks(32 * p.shape[0]), BLOCK](p, force)
