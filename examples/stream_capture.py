# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""A graph from a stream: how much longer is the period of a pendulum with a large amplitude?

The factor is 1 / M(1, cos(amplitude / 2)). M is the arithmetic-geometric mean: replace two numbers by their arithmetic
and their geometric mean until both are equal (Gauss). The first two means are branches of the captured graph. The
iteration is a loop on the device, which is captured too.

python examples/stream_capture.py [number of pendulums]
"""

import sys

import numpy as np

import cuda_graphs as cg

SOURCE = r"""
#include <cuda_graphs.h>

__device__ int index() { return blockIdx.x * blockDim.x + threadIdx.x; }

extern "C" __global__ void prepare(double* a, int n) {
    if (index() < n) a[index()] = cos(0.5 * a[index()]);
}
extern "C" __global__ void arithmetic(const double* a, double* b, int n) {
    if (index() < n) b[index()] = 0.5 * (1.0 + a[index()]);
}
extern "C" __global__ void geometric(const double* a, double* c, int n) {
    if (index() < n) c[index()] = sqrt(a[index()]);
}
extern "C" __global__ void iterate(double* b, double* c, int* widest, int n) {
    if (index() >= n) return;
    const double x = b[index()], y = c[index()];
    b[index()] = 0.5 * (x + y);
    c[index()] = sqrt(x * y);
    atomicMax(widest, __float_as_int(fabs(x - y)));  // floats that are not negative are ordered like their bits
}
extern "C" __global__ void again(cudaGraphConditionalHandle more, int* widest, int* passes, float tolerance) {
    cudaGraphSetConditional(more, __int_as_float(*widest) > tolerance);
    *widest = 0;
    *passes += 1;
}
"""

n = int(sys.argv[1]) if len(sys.argv) > 1 else 1000

device = cg.Device()  # GPU 0, or the CPU if there is no GPU
device.set_current()
stream = device.create_stream()
module = cg.Program(SOURCE, code_type="c++").compile("cubin")
prepare, arithmetic, geometric, iterate, again = (
    module.get_kernel(name) for name in ("prepare", "arithmetic", "geometric", "iterate", "again")
)


def pinned(count, dtype):
    """Return pinned memory as a NumPy array."""
    memory = cg.PinnedMemoryResource().allocate(count * np.dtype(dtype).itemsize, stream=stream)
    memory.fill(0, stream=stream)
    stream.sync()
    return np.from_dlpack(memory).view(dtype)


a, b, c = (pinned(n, np.float64) for _ in range(3))
widest, passes = pinned(1, np.int32), pinned(1, np.int32)
amplitudes = np.linspace(0, 0.99 * np.pi, n)
a[:] = amplitudes

config = cg.LaunchConfig(grid=-(-n // 256), block=256)
once = cg.LaunchConfig(grid=1, block=1)

with device.create_graph_builder() as gb:
    cg.launch(gb, config, prepare, a, n)
    left, right = gb.split(2)
    cg.launch(left, config, arithmetic, a, b, n)
    cg.launch(right, config, geometric, a, c, n)
    gb = cg.GraphBuilder.join(left, right)
    more = gb.create_condition(default_value=1)
    with gb.while_loop(more) as body:
        cg.launch(body, config, iterate, b, c, widest, n)
        cg.launch(body, once, again, more, widest, passes, 1e-9)
graph = gb.complete()

graph.launch(stream)
stream.sync()

# The same as an integral over a quarter of the swing. The function is periodic, so the mean over the points is exact.
points = (np.arange(4096) + 0.5) * np.pi / 4096
k = np.sin(0.5 * amplitudes)
expected = np.array([np.mean(1 / np.sqrt(1 - (m * np.sin(points)) ** 2)) for m in k])
error = np.abs(1 / b - expected).max()
assert error < 1e-12, error
print(f"{n} pendulums, {passes[0]} passes of the loop on the {cg.driver_info().kind} driver")
for i in np.linspace(0, n - 1, 7).astype(int):
    print(f"amplitude {np.degrees(amplitudes[i]):5.1f} degrees: {1 / b[i]:.4f} times as long")
print(f"largest difference to the integral: {error:.1e}")
