# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the programs of cuda.core: a device, a stream, kernels of NVRTC, pinned memory as NumPy arrays."""

import numpy as np
import pytest

core = pytest.importorskip("cuda.core")

SOURCE = r"""
typedef unsigned long long Handle;
extern "C" __device__ void cudaGraphSetConditional(Handle handle, unsigned int value);

extern "C" __global__ void affine(int* x, int a, int b, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = a * x[i] + b;
}
extern "C" __global__ void saxpy(float a, const float* x, float* y, unsigned long long n) {
    for (unsigned long long i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        y[i] = a * x[i] + y[i];
}
extern "C" __global__ void block_sums(const int* x, int* sums) {
    extern __shared__ int part[];
    part[threadIdx.x] = x[blockIdx.x * blockDim.x + threadIdx.x];
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    }
    if (threadIdx.x == 0) sums[blockIdx.x] = part[0];
}
extern "C" __global__ void set_to(Handle condition, const int* x) { cudaGraphSetConditional(condition, *x); }
extern "C" __global__ void count_down(Handle condition, int* x) { cudaGraphSetConditional(condition, --*x > 0); }
extern "C" __global__ void nothing() {}

__device__ int table[4] = {2, 3, 5, 7};
extern "C" __global__ void read_table(int* out) { out[threadIdx.x] = table[threadIdx.x]; }

template <typename T> __global__ void twice(T* x) { x[threadIdx.x] = 2 * x[threadIdx.x]; }
"""

# cuda.core compares NVRTC's version with the driver's, and says so; the PTX loads all the same.
OLDER = "ignore:The CUDA driver version is older than the backend version:RuntimeWarning"


def pytest_collection_modifyitems(items):
    for item in items:
        item.add_marker(pytest.mark.filterwarnings(OLDER))


@pytest.fixture(scope="session")
def session_device():
    device = core.Device()
    device.set_current()
    return device


@pytest.fixture
def device(session_device):
    session_device.set_current()
    return session_device


@pytest.fixture
def stream(device):
    return device.create_stream()


@pytest.fixture(scope="session")
def code(session_device):
    """The kernels, as PTX."""
    options = core.ProgramOptions(arch=f"sm_{session_device.arch}", std="c++17")
    program = core.Program(SOURCE, "c++", options)
    return program.compile("ptx", name_expressions=("twice<int>", "twice<double>"))


@pytest.fixture
def kernel(code):
    return code.get_kernel


@pytest.fixture
def pinned(device):
    """pinned(values, type): memory that host and device see, as a NumPy array; its address is x.ctypes.data."""
    resource, kept = core.LegacyPinnedMemoryResource(), []

    def make(values, dtype="i4"):
        values = np.asarray(values, dtype)
        buffer = resource.allocate(max(values.nbytes, 1), stream=device.default_stream)
        array = np.from_dlpack(buffer).view(dtype)[: values.size]
        array[:] = values
        kept.append((buffer, array))
        return array

    yield make
    kept.clear()


@pytest.fixture
def one():
    return core.LaunchConfig(grid=1, block=1)


@pytest.fixture
def row():
    """A launch of 32 threads."""
    return core.LaunchConfig(grid=1, block=32)
