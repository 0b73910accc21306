# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The smallest proof that everything is wired up: device, kernel, graph, loop, callback, error. Runs in seconds."""

import numpy as np
import pytest

import cuda_graphs as cg

SOURCE = r"""
#include <cuda_graphs.h>

extern "C" __global__ void add(int* x, int n, int amount) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] += amount;
}

extern "C" __global__ void below(const int* x, int limit, cudaGraphConditionalHandle more) {
    cudaGraphSetConditional(more, x[0] < limit);
}

extern "C" __global__ void total(const int* x, int* sum) {
    __shared__ int part[64];
    part[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    for (int half = 32; half > 0; half /= 2) {
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) *sum = part[0];
}
"""

N = 64
ONE = cg.LaunchConfig(grid=1, block=1)
ALL = cg.LaunchConfig(grid=1, block=N)


@pytest.fixture(scope="module")
def device():
    device = cg.Device()
    device.set_current()
    return device


@pytest.fixture
def stream(device):
    return device.create_stream()


@pytest.fixture(scope="module")
def kernels(device):
    module = cg.Program(SOURCE, code_type="c++").compile("cubin")
    return {name: module.get_kernel(name) for name in ("add", "below", "total")}


@pytest.fixture
def x(stream):
    view = np.from_dlpack(cg.PinnedMemoryResource().allocate(4 * N, stream=stream)).view(np.int32)
    view[:] = np.arange(N)
    return view


def test_the_driver_says_which_it_is_and_why():
    info = cg.driver_info()
    assert info.kind in ("cuda", "host")
    assert info.version >= (12, 4)
    assert info.reason


def test_a_kernel_runs_on_a_stream(stream, kernels, x):
    cg.launch(stream, ALL, kernels["add"], x.ctypes.data, N, 100)
    stream.sync()
    assert (x == np.arange(N) + 100).all()


def test_a_graph_copies_computes_and_frees(stream, kernels, x):
    g = cg.GraphDef()
    memory = g.alloc(4 * N)
    loaded = memory.memcpy(memory.dptr, x.ctypes.data, 4 * N)
    added = loaded.launch(ALL, kernels["add"], memory.dptr, N, 1)
    added.memcpy(x.ctypes.data, memory.dptr, 4 * N).free(memory.dptr)
    graph = g.instantiate()
    for _ in range(3):
        graph.launch(stream)
    stream.sync()
    assert (x == np.arange(N) + 3).all()


def test_threads_of_a_block_wait_for_each_other(stream, kernels, x):
    cg.launch(stream, ALL, kernels["total"], x.ctypes.data, x.ctypes.data)
    stream.sync()
    assert x[0] == np.arange(N).sum()


def test_a_while_node_runs_until_a_kernel_says_stop(stream, kernels, x):
    seen = []
    g = cg.GraphDef()
    more = g.create_condition(default_value=1)
    loop = g.while_loop(more)
    step = loop.body.launch(ALL, kernels["add"], x.ctypes.data, N, 1)
    step.launch(ONE, kernels["below"], x.ctypes.data, 10, more)
    loop.callback(lambda: seen.append(int(x[0])))
    g.instantiate().launch(stream)
    stream.sync()
    assert seen == [10]
    assert (x == np.arange(N) + 10).all()


def test_an_error_says_what_it_means():
    with pytest.raises(cg.CUDAError, match="CUDA_ERROR_INVALID_VALUE: ") as caught:
        cg.GraphDef().alloc(0)
    assert caught.value.remedy
