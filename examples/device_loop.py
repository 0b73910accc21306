# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""A loop on the device, built node by node: halve a million numbers until they are small enough.

python examples/device_loop.py [tolerance]
"""

import sys

import numpy as np

import cuda_graphs as cg

Vector = cg.Array1[cg.f32]


@cg.kernel
def halve(x: Vector) -> None:
    for i in x:
        x[i] *= 0.5


tolerance = float(sys.argv[1]) if len(sys.argv) > 1 else 0.25

device = cg.Device()  # GPU 0, or the CPU if there is no GPU
device.set_current()
stream = device.create_stream()

n = 1 << 20
host = cg.PinnedMemoryResource().allocate(4 * n, stream=stream)
numbers = np.from_dlpack(host).view(np.float32)
numbers[:] = 1000.0

g = cg.GraphDef()
x = g.alloc(shape=n, dtype=cg.f32)
tol = g.param("tol", cg.f32, default=1.0)
loop = x.memcpy(x, numbers).while_loop(lambda x, tol: x[0] > tol, args=(x, tol), do=True)
loop.body.call(halve, x)
loop.memcpy(numbers, x).free(x)
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
