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

array = cg.Array1[cg.f64]
counter = cg.Array1[cg.i32]


@cg.kernel
def prepare(a: array) -> None:
    for i in range(a.shape[0]):
        a[i] = cg.cos(0.5 * a[i])


@cg.kernel
def arithmetic(a: array, b: array) -> None:
    for i in range(a.shape[0]):
        b[i] = 0.5 * (1.0 + a[i])


@cg.kernel
def geometric(a: array, c: array) -> None:
    for i in range(a.shape[0]):
        c[i] = cg.sqrt(a[i])


@cg.kernel
def iterate(b: array, c: array, widest: array, passes: counter) -> None:
    for i in range(b.shape[0]):
        x, y = b[i], c[i]
        b[i] = 0.5 * (x + y)
        c[i] = cg.sqrt(x * y)
        cg.atomic_max(widest[0], abs(x - y))
    passes[0] += 1


n = int(sys.argv[1]) if len(sys.argv) > 1 else 1000

device = cg.Device()  # GPU 0, or the CPU if there is no GPU
device.set_current()
stream = device.create_stream()

a, b, c = (cg.ndarray(cg.f64, n) for _ in range(3))
widest, passes = cg.ndarray(cg.f64, 1), cg.ndarray(cg.i32, 1)
amplitudes = np.linspace(0, 0.99 * np.pi, n)
a.from_numpy(amplitudes)

with cg.capture() as gb:  # calls without a stream become nodes
    prepare(a)
    left, right = gb.split(2)
    arithmetic(a, b)
    geometric(a, c, stream=right)
    cg.GraphBuilder.join(left, right)
    with gb.while_loop(lambda: widest[0] > 1e-9, do=True):
        widest.fill(0)
        iterate(b, c, widest, passes)
graph = gb.complete()

graph.launch(stream)
means = b.to_numpy()  # waits for the device

# The same as an integral over a quarter of the swing. The function is periodic, so the mean over the points is exact.
points = (np.arange(4096) + 0.5) * np.pi / 4096
k = np.sin(0.5 * amplitudes)
expected = np.array([np.mean(1 / np.sqrt(1 - (m * np.sin(points)) ** 2)) for m in k])
error = np.abs(1 / means - expected).max()
assert error < 1e-12, error
print(f"{n} pendulums, {passes[0]} passes of the loop on the {cg.driver_info().kind} driver")
for i in np.linspace(0, n - 1, 7).astype(int):
    print(f"amplitude {np.degrees(amplitudes[i]):5.1f} degrees: {1 / means[i]:.4f} times as long")
print(f"largest difference to the integral: {error:.1e}")
