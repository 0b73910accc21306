# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""One graph, many values: the device halves numbers until they are at most a tolerance.

Each launch passes the tolerance and an array of the numbers by name. Arrays of any length fit: the loops of the kernels
follow them. The graph is built and instantiated once.

    python examples/named_parameters.py [number of values]
"""

import sys

import numpy as np

import cuda_graphs as cg

Vector = cg.Array1[cg.f32]


@cg.kernel
def halve(x: Vector) -> None:
    for i in x:
        x[i] *= 0.5


device = cg.Device()
device.set_current()
stream = device.create_stream()

n = int(sys.argv[1]) if len(sys.argv) > 1 else 1 << 16
samples = []
for length, first in ((n, 1000), (2 * n, 3), (n // 2 + 1, 0.7)):
    samples.append(cg.ndarray(cg.f32, length))
    samples[-1].fill(first)

g = cg.GraphDef()
numbers = g.param("numbers", Vector)  # no default: the first launch must pass an array
tol = g.param("tol", cg.f32, default=1.0)  # a default: a launch may pass another tolerance

loop = g.while_loop(lambda x, tol: x[0] > tol, args=(numbers, tol), do=True)
loop.body.call(halve, numbers)

graph = g.instantiate()
graph.launch(stream, numbers=samples[0])
graph.launch(stream, numbers=samples[1], tol=0.25)
graph.launch(stream, numbers=samples[2])  # uses the tolerance of the previous launch
stream.sync()

for sample, value, tolerance in zip(samples, (1000.0, 3.0, 0.7), (1.0, 0.25, 0.25), strict=True):
    number = np.float32(value) / 2
    while number > tolerance:
        number /= 2
    assert (sample.to_numpy() == number).all()

print(f"on the {cg.driver_info().kind} driver: {', '.join(f'{s.size} times {s[0]:.4g}' for s in samples)}")
for name, (kind, value) in graph.params.items():
    print(f"{name} is a {kind}, now {value}")
