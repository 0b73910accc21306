# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""A wave in a square box: kernels in Python, first called step by step, then as one graph of several steps.

The membrane starts as the (1, 2) standing wave of the box, whose solution is known: cos(w t) times the initial state,
with w = pi c sqrt(1 + 4). The run stops after one period and compares.
"""

import math
import time

import numpy as np

import cuda_graphs as cg

N = 128  # points along each side
COURANT = 0.5  # c dt / dx; above 1 / sqrt(2) the scheme blows up

Plane = cg.Array2[cg.f32]


@cg.func
def laplacian(u: Plane, i: cg.i32, j: cg.i32) -> cg.f32:
    return u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - 4.0 * u[i, j]


@cg.kernel
def step(before: Plane, now: Plane, after: Plane) -> None:
    for i, j in cg.ndrange((1, N - 1), (1, N - 1)):
        after[i, j] = 2.0 * now[i, j] - before[i, j] + COURANT * COURANT * laplacian(now, i, j)


@cg.kernel
def energy(before: Plane, now: Plane) -> cg.f64:
    total = cg.f64(0.0)
    for i, j in cg.ndrange((1, N - 1), (1, N - 1)):
        speed = now[i, j] - before[i, j]
        total += cg.f64(speed * speed)
    return total


def standing_wave(phase: float) -> np.ndarray:
    """Return the (1, 2) mode at a phase in radians."""
    s = np.linspace(0, np.pi, N)
    return np.asarray(np.cos(phase) * np.sin(s)[:, None] * np.sin(2 * s)[None, :], np.float32)


def main() -> None:
    device = cg.Device()
    device.set_current()
    stream = device.create_stream()

    turn = math.pi / (N - 1) * COURANT * math.sqrt(1 + 4)  # radians per step
    steps = 3 * round(2 * math.pi / turn / 3)  # steps per period, a multiple of 3: one graph has 3 steps
    planes = [cg.ndarray(cg.f32, (N, N)) for _ in range(3)]

    def start() -> None:
        for plane, phase in zip(planes, (-turn, 0.0, 0.0)):
            plane.from_numpy(standing_wave(phase))

    def error() -> float:
        return float(np.abs(planes[1].to_numpy() - standing_wave(steps * turn)).max())

    step(*planes, stream=stream)  # compiles for the types of these arguments
    start()
    begin = time.perf_counter()
    for i in range(steps):
        step(planes[i % 3], planes[(i + 1) % 3], planes[(i + 2) % 3], stream=stream)
    stream.sync()
    called = time.perf_counter() - begin
    print(f"{steps} calls: {called / steps * 1e6:6.2f} us a step, error {error():.4f}")

    # After three steps each plane has its original role again, so three steps are the graph.
    g = cg.GraphDef()
    node = g
    for i in range(3):
        node = node.call(step, planes[i % 3], planes[(i + 1) % 3], planes[(i + 2) % 3], name=f"step {i}")
    graph = g.instantiate()
    start()
    begin = time.perf_counter()
    for _ in range(steps // 3):
        graph.launch(stream)
    stream.sync()
    launched = time.perf_counter() - begin
    print(f"{steps // 3} launches of a graph: {launched / steps * 1e6:6.2f} us a step, error {error():.4f}")
    print(f"left of the energy of motion, which is 0 at the turn: {energy(planes[0], planes[1]):.1e}")
    assert error() < 0.02


if __name__ == "__main__":
    main()
