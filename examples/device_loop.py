# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""A loop on the device, built node by node: halve a million numbers until they are small enough.

python examples/device_loop.py [tolerance]
"""

import sys

import numpy as np

import cuda_graphs as cg

SOURCE = r"""
#include <cuda_graphs.h>

extern "C" __global__ void halve(float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= 0.5f;
}
extern "C" __global__ void again(cudaGraphConditionalHandle h, const float* x, float tol) {
    cudaGraphSetConditional(h, x[0] > tol);
}
"""

tolerance = float(sys.argv[1]) if len(sys.argv) > 1 else 0.25

device = cg.Device()  # GPU 0, or the CPU if there is no GPU
device.set_current()
stream = device.create_stream()
module = cg.Program(SOURCE, code_type="c++").compile("cubin")  # architecture: the device's own
halve, again = module.get_kernel("halve"), module.get_kernel("again")

n = 1 << 20
host = cg.PinnedMemoryResource().allocate(4 * n, stream=stream)
numbers = np.from_dlpack(host).view(np.float32)
numbers[:] = 1000.0

g = cg.GraphDef()
x = g.alloc(4 * n)
loaded = x.memcpy(x.dptr, host, 4 * n)
more = g.create_condition(default_value=1)
loop = loaded.while_loop(more)
step = loop.body.launch(cg.LaunchConfig(grid=n // 256, block=256), halve, x.dptr, n)
step.launch(cg.LaunchConfig(grid=1, block=1), again, more, x.dptr, g.param("tol", cg.f32, default=1.0))
done = loop.memcpy(host, x.dptr, 4 * n)
done.free(x.dptr)
print("check:", g.check())

graph = g.instantiate()
graph.launch(stream, tol=tolerance)
stream.sync()
print(f"1000 was halved until it was {numbers[0]} on the {cg.driver_info().kind} driver")

graph.launch(stream, tol=tolerance / 4)  # another tolerance; the graph is not built again
stream.sync()
print(f"and then until it was {numbers[0]}")


def halved(number: float, until: float) -> float:
    """Return the numbers after the loop. Its body runs once before the first comparison."""
    number /= 2
    while number > until:
        number /= 2
    return number


assert (numbers == halved(halved(1000.0, tolerance), tolerance / 4)).all()
