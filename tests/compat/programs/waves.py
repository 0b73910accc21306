# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Waves on a drum with a fixed edge."""

import numpy as np
import taichi as ti

ti.init(arch=ti.cpu, default_fp=ti.f64)
n, steps, speed, dt = 32, 40, 1.0, 0.4
height = ti.field(ti.f64, shape=(n, n))
velocity = ti.field(ti.f64, shape=(n, n))


@ti.func
def laplacian(i, j):
    return height[i - 1, j] + height[i + 1, j] + height[i, j - 1] + height[i, j + 1] - 4 * height[i, j]


@ti.kernel
def strike(x: ti.i32, y: ti.i32, amount: ti.f64):
    for i, j in height:
        height[i, j] = amount * ti.exp(-0.1 * ((i - x) ** 2 + (j - y) ** 2))


@ti.kernel
def accelerate():
    for i, j in ti.ndrange((1, n - 1), (1, n - 1)):
        velocity[i, j] += dt * speed**2 * laplacian(i, j)


@ti.kernel
def move():
    for I in ti.grouped(height):
        height[I] += dt * velocity[I]


strike(10, 12, 2.0)
for _ in range(steps):
    accelerate()
    move()
result = {"height": height.to_numpy()}


def truth():
    i, j = np.indices((n, n))
    h, v = 2.0 * np.exp(-0.1 * ((i - 10) ** 2 + (j - 12) ** 2)), np.zeros((n, n))
    for _ in range(steps):
        around = h[:-2, 1:-1] + h[2:, 1:-1] + h[1:-1, :-2] + h[1:-1, 2:] - 4 * h[1:-1, 1:-1]
        v[1:-1, 1:-1] += dt * around
        h = h + dt * v
    return {"height": h}
