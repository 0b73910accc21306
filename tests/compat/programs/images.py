# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Image operations on arrays of NumPy: grey values, a blur, edges and a histogram."""

import numpy as np
import taichi as ti

ti.init(arch=ti.cpu)
h, w = 20, 28
picture = np.random.default_rng(4).integers(0, 256, (h, w, 3)).astype(np.uint8)
grey = np.zeros((h, w), np.float32)
blurred = np.zeros((h, w), np.float32)
edges = np.zeros((h, w), np.float32)
counts = ti.field(ti.i32, shape=16)


@ti.kernel
def to_grey(source: ti.types.ndarray(), target: ti.types.ndarray()):
    for i, j in target:
        r, g, b = ti.f32(source[i, j, 0]), ti.f32(source[i, j, 1]), ti.f32(source[i, j, 2])
        target[i, j] = 0.299 * r + 0.587 * g + 0.114 * b


@ti.kernel
def blur(source: ti.types.ndarray(dtype=ti.f32, ndim=2), target: ti.types.ndarray(dtype=ti.f32, ndim=2)):
    for i, j in ti.ndrange(source.shape[0], source.shape[1]):
        total, number = 0.0, 0
        for di, dj in ti.ndrange((-1, 2), (-1, 2)):
            a, b = i + di, j + dj
            if 0 <= a < source.shape[0] and 0 <= b < source.shape[1]:
                total += source[a, b]
                number += 1
        target[i, j] = total / number


@ti.kernel
def find_edges(source: ti.types.ndarray(), target: ti.types.ndarray()):
    for i, j in ti.ndrange((1, h - 1), (1, w - 1)):
        gx = source[i, j + 1] - source[i, j - 1]
        gy = source[i + 1, j] - source[i - 1, j]
        target[i, j] = ti.sqrt(gx * gx + gy * gy)


@ti.kernel
def count(source: ti.types.ndarray()):
    for i, j in source:
        counts[ti.min(15, int(source[i, j]) // 16)] += 1


to_grey(picture, grey)
blur(grey, blurred)
find_edges(blurred, edges)
count(grey)
result = {"grey": grey, "blurred": blurred, "edges": edges, "counts": counts.to_numpy()}


def truth():
    grey = picture @ np.array([0.299, 0.587, 0.114])
    around = np.pad(grey, 1)
    ones = np.pad(np.ones_like(grey), 1)

    def box(q):
        return sum(q[a : a + h, b : b + w] for a in range(3) for b in range(3))

    blurred = box(around) / box(ones)
    edges = np.zeros_like(grey)
    gx, gy = blurred[1:-1, 2:] - blurred[1:-1, :-2], blurred[2:, 1:-1] - blurred[:-2, 1:-1]
    edges[1:-1, 1:-1] = np.hypot(gx, gy)
    counts = np.bincount((result["grey"].astype(int) // 16).ravel(), minlength=16)
    return {"grey": grey, "blurred": blurred, "edges": edges, "counts": counts}
