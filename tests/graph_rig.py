# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Shared parts of the tests of graphs: a module of small kernels, memory that both sides see, and running a definition.

The conftest files of the folders import its fixtures. `affine` makes fingerprints: x -> a*x + b does not commute, so a
wrong order of nodes gives a wrong number.
"""

import copy
import gc
import time

import numpy as np
import pytest

import cuda_graphs as cg
from cuda_graphs.core.resources import boxes

SOURCE = r"""
#include <cuda_graphs.h>

extern "C" __global__ void affine(unsigned* x, unsigned a, unsigned b) { *x = *x * a + b; }
extern "C" __global__ void add(int* x, int n, int amount) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] += amount;
}
extern "C" __global__ void tally(int* x) { atomicAdd(x, 1); }
extern "C" __global__ void nothing() {}
extern "C" __global__ void set(cudaGraphConditionalHandle handle, unsigned value) {
    cudaGraphSetConditional(handle, value);
}
extern "C" __global__ void set_from(cudaGraphConditionalHandle handle, const unsigned* value) {
    cudaGraphSetConditional(handle, *value);
}
extern "C" __global__ void count_down(cudaGraphConditionalHandle handle, int* left) {
    cudaGraphSetConditional(handle, atomicSub(left, 1) > 1);
}
extern "C" __global__ void wait_for(volatile int* flag) { while (*flag == 0) {} }
extern "C" __global__ void bump_through(int** place, int amount) { **place += amount; }
extern "C" __global__ void shape(int* out) {
    extern __shared__ int scratch[];
    scratch[0] = 1;
    if (threadIdx.x == 0 && threadIdx.y == 0 && threadIdx.z == 0) atomicAdd(out, blockDim.x * blockDim.y * blockDim.z);
}
"""

NAMES = (
    "affine",
    "add",
    "tally",
    "nothing",
    "set",
    "set_from",
    "count_down",
    "wait_for",
    "bump_through",
    "shape",
)
ONE = cg.LaunchConfig(grid=1, block=1)


class Kernels:
    """The kernels of SOURCE as attributes."""

    def __init__(self, module):
        self.module = module
        for name in NAMES:
            setattr(self, name, module.get_kernel(name))


@pytest.fixture(scope="session")
def compiled(session_device):
    """SOURCE, compiled. A copy is a new module with the same signatures."""
    return cg.Program(SOURCE, code_type="c++").compile("cubin")


@pytest.fixture(scope="session")
def code(compiled):
    """The image of SOURCE."""
    return compiled.code


@pytest.fixture(scope="session")
def kernels(compiled):
    """The kernels of one module, loaded as long as the tests run."""
    return Kernels(copy.copy(compiled))


@pytest.fixture
def fresh_kernels(compiled):
    """Makes the kernels of a module of its own, which no other object keeps loaded."""
    return lambda: Kernels(copy.copy(compiled))


@pytest.fixture
def pinned(stream):
    """pinned(values) or pinned(count, dtype): an array in memory that the host and the device see, until the test ends.

    Graphs that get only its address do not keep it.
    """
    resource = cg.PinnedMemoryResource()
    kept = []

    def make(values, dtype=np.int32):
        values = np.zeros(values, dtype) if isinstance(values, int) else np.asarray(values, dtype)
        memory = resource.allocate(values.nbytes, stream=stream)
        array = np.from_dlpack(memory).view(dtype).reshape(values.shape)
        array[:] = values
        kept.append(array)
        return array

    return make


@pytest.fixture
def run(stream):
    """Instantiate, launch so many times, wait; the Graph."""

    def run(definition, times=1, **options):
        graph = definition.instantiate(**options)
        for _ in range(times):
            graph.launch(stream)
        stream.sync()
        return graph

    return run


@pytest.fixture
def eventually():
    """Wait for what happens soon: releases run on threads of the driver and then on this one."""

    def eventually(condition, seconds=5.0):
        until = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < until, "it did not happen"
            gc.collect()
            boxes.drain()
            time.sleep(0.001)

    return eventually
