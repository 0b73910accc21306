# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Whole programs, compiled from CUDA C++ by NVRTC, give what NumPy gives."""

import numpy as np
import pytest

from tests.ptx.rig import compile_cuda, load

SAXPY = r"""
extern "C" __global__ void saxpy(int n, float a, const float* __restrict__ x, float* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    y[i] = a * x[i] + y[i];
}
"""


@pytest.mark.parametrize(("n", "block"), [(1, 1), (1000, 256), (1024, 256), (77, 32), (5000, 1024)])
def test_saxpy_touches_each_element_once_and_no_other(n, block):
    program = load(compile_cuda(SAXPY))
    x, y = np.arange(n, dtype="f"), np.ones(n + 64, "f")
    program.launch("saxpy", -(-n // block), block, np.int32(n), np.float32(2), x, y)
    np.testing.assert_array_equal(y[:n], 2 * x + 1)
    np.testing.assert_array_equal(y[n:], 1)


REDUCE = r"""
extern "C" __global__ void reduce(const float* x, float* out, int n) {
    __shared__ float part[256];
    int t = threadIdx.x;
    float sum = 0;
    for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x) sum += x[i];
    part[t] = sum;
    __syncthreads();
    for (int k = blockDim.x / 2; k; k >>= 1) {
        if (t < k) part[t] += part[t + k];
        __syncthreads();
    }
    if (t == 0) atomicAdd(out, part[0]);
}
"""


@pytest.mark.parametrize("block", [1, 2, 32, 256])
@pytest.mark.parametrize("grid", [1, 7])
def test_reduction_with_barriers_adds_everything_up(block, grid):
    program = load(compile_cuda(REDUCE))
    x, out = np.arange(1000, dtype="f"), np.zeros(1, "f")
    program.launch("reduce", grid, block, x, out, np.int32(x.size))
    assert out[0] == x.sum()
    assert program.kernels["reduce"].uses_barrier
    assert program.kernels["reduce"].static_shared_bytes == 1024
