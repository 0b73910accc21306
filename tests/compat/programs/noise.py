# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Noise from hashed integers, in four octaves."""

import numpy as np
import taichi as ti

ti.init(arch=ti.cpu)
n = 32
image = ti.field(ti.f32, shape=(n, n))


@ti.func
def hashed(x: ti.u32, y: ti.u32) -> ti.f32:
    h = x * ti.u32(374761393) + y * ti.u32(668265263)
    h = (h ^ (h >> 13)) * ti.u32(1274126177)
    return ti.cast((h ^ (h >> 16)) & ti.u32(0xFFFF), ti.f32) / 65535.0


@ti.func
def smooth(x, y):
    i, j = ti.floor(x, ti.i32), ti.floor(y, ti.i32)
    u, v = x - i, y - j
    u, v = u * u * (3 - 2 * u), v * v * (3 - 2 * v)
    a, b = hashed(i, j), hashed(i + 1, j)
    c, d = hashed(i, j + 1), hashed(i + 1, j + 1)
    return (a * (1 - u) + b * u) * (1 - v) + (c * (1 - u) + d * u) * v


@ti.kernel
def paint():
    for i, j in image:
        total, amplitude, frequency = 0.0, 0.5, 4.0 / n
        for _ in ti.static(range(4)):
            total += amplitude * smooth(i * frequency, j * frequency)
            amplitude *= 0.5
            frequency *= 2.0
        image[i, j] = total


paint()
result = {"image": image.to_numpy()}


def truth():
    def hashed(x, y):
        h = (x * 374761393 + y * 668265263) & 0xFFFFFFFF
        h = ((h ^ (h >> 13)) * 1274126177) & 0xFFFFFFFF
        return ((h ^ (h >> 16)) & 0xFFFF) / 65535

    i, j = np.indices((n, n))
    total = np.zeros((n, n))
    for octave in range(4):
        x, y = i * 4 / n * 2**octave, j * 4 / n * 2**octave
        a, b = np.floor(x).astype(np.int64), np.floor(y).astype(np.int64)
        u, v = x - a, y - b
        u, v = u * u * (3 - 2 * u), v * v * (3 - 2 * v)
        low = hashed(a, b) * (1 - u) + hashed(a + 1, b) * u
        high = hashed(a, b + 1) * (1 - u) + hashed(a + 1, b + 1) * u
        total += 0.5 ** (octave + 1) * (low * (1 - v) + high * v)
    return {"image": total}
