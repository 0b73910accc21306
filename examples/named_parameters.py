# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""One graph, many values: the device halves numbers until they are at most a tolerance.

Each launch passes the tolerance and the memory of the numbers by name. The graph is built and instantiated once.

    python examples/named_parameters.py [number of values]
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

device = cg.Device()
device.set_current()
stream = device.create_stream()
module = cg.Program(SOURCE, code_type="c++").compile("cubin")
halve, again = module.get_kernel("halve"), module.get_kernel("again")

n = int(sys.argv[1]) if len(sys.argv) > 1 else 1 << 16
pinned = cg.PinnedMemoryResource()
samples = [pinned.allocate(4 * n, stream=stream) for _ in range(3)]
for sample, first in zip(samples, (1000, 3, 0.7), strict=True):
    np.from_dlpack(sample).view(np.float32)[:] = first

g = cg.GraphDef()
numbers = g.param("numbers", cg.pointer)  # no default: the first launch must pass the addresses
tol = g.param("tol", cg.f32, default=1.0)  # a default: a launch may pass another tolerance

x = g.alloc(4 * n)
loaded = x.memcpy(x.dptr, numbers, 4 * n)
more = g.create_condition(default_value=1)
loop = loaded.while_loop(more)
step = loop.body.launch(cg.LaunchConfig(grid=-(-n // 256), block=256), halve, x.dptr, n)
step.launch(cg.LaunchConfig(grid=1, block=1), again, more, x.dptr, tol)
done = loop.memcpy(numbers, x.dptr, 4 * n)
done.free(x.dptr)

graph = g.instantiate()
graph.launch(stream, numbers=samples[0])
graph.launch(stream, numbers=samples[1], tol=0.25)
graph.launch(stream, numbers=samples[2])  # uses the tolerance of the previous launch
stream.sync()

expected = []
for value, tolerance in ((1000.0, 1.0), (3.0, 0.25), (0.7, 0.25)):
    number = np.float32(value) / 2
    while number > tolerance:
        number /= 2
    expected.append(number)
results = [np.from_dlpack(sample).view(np.float32) for sample in samples]
assert all((result == number).all() for result, number in zip(results, expected, strict=True))

print(f"{n} numbers each, on the {cg.driver_info().kind} driver: {', '.join(str(r[0]) for r in results)}")
for name, (kind, value) in graph.params.items():
    print(f"{name} is a {kind}, now {hex(value) if kind == 'pointer' else value}")
