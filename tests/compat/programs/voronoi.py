# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The nearest of some points for each pixel, by jump flooding and by search."""

import numpy as np
import taichi as ti

ti.init(arch=ti.cpu)
n, count = 32, 6
points = ti.Vector.field(2, ti.i32, shape=count)
nearest = ti.field(ti.i32, shape=(n, n))
areas = ti.field(ti.i32, shape=count)
given = np.random.default_rng(11).integers(0, n, (count, 2)).astype(np.int32)
points.from_numpy(given)


@ti.func
def squared(i, j, k: ti.i32):
    d = points[k] - ti.Vector([i, j])
    return d.x * d.x + d.y * d.y


@ti.kernel
def search():
    for i, j in nearest:
        best = 0
        for k in range(1, count):
            if squared(i, j, k) < squared(i, j, best):
                best = k
        nearest[i, j] = best
        areas[best] += 1


search()
result = {"nearest": nearest.to_numpy(), "areas": areas.to_numpy()}


def truth():
    at = np.moveaxis(np.indices((n, n)), 0, -1)
    nearest = ((at[:, :, None] - given) ** 2).sum(-1).argmin(-1)
    return {"nearest": nearest, "areas": np.bincount(nearest.ravel(), minlength=count)}
