# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""A Julia set: how often each point of a plane is squared until it is far away."""

import numpy as np
import taichi as ti

ti.init(arch=ti.cpu)
n = 48
pixels = ti.field(dtype=ti.i32, shape=(n * 2, n))


@ti.func
def square(z):
    return ti.Vector([z[0] ** 2 - z[1] ** 2, z[0] * z[1] * 2])


@ti.kernel
def paint(t: float):
    for i, j in pixels:
        c = ti.Vector([-0.8, ti.cos(t) * 0.2])
        z = ti.Vector([i / n - 1, j / n - 0.5]) * 2
        iterations = 0
        while z.norm() < 20 and iterations < 50:
            z = square(z) + c
            iterations += 1
        pixels[i, j] = iterations


paint(0.0)
result = {"pixels": pixels.to_numpy()}


def truth():
    x, y = np.meshgrid(np.arange(2 * n) / n - 1, np.arange(n) / n - 0.5, indexing="ij")
    z, count = 2 * (x + 1j * y), np.zeros((2 * n, n), int)
    alive = np.ones_like(count, bool)
    for _ in range(50):
        alive = alive & (abs(z) < 20)
        count += alive
        z = np.where(alive, z * z - 0.8 + 0.2j, z)
    return {"pixels": count}


allowed = {"pixels": 0.05}  # the share of pixels that rounding may change
