# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""A scene of distances, seen by rays that march."""

import numpy as np
import taichi as ti
from taichi.math import *  # noqa: F403

ti.init(arch=ti.cpu, default_fp=ti.f64)
n = 20
depth = ti.field(ti.f64, shape=(n, n))
d3 = ti.types.vector(3, ti.f64)


@ti.func
def sphere(p, r):
    return length(p) - r  # noqa: F405


@ti.func
def box(p, size):
    q = abs(p) - size  # noqa: F405
    return length(max(q, 0.0)) + min(max(q.x, max(q.y, q.z)), 0.0)  # noqa: F405


@ti.func
def scene(p):
    return min(sphere(p, 0.6), box(p - d3(0.7, 0.2, 0.0), d3(0.3, 0.4, 0.5)))  # noqa: F405


@ti.kernel
def march():
    for i, j in depth:
        way = normalize(d3((i + 0.5) / n * 2 - 1, (j + 0.5) / n * 2 - 1, 2.0))  # noqa: F405
        at = d3(0.0, 0.0, -3.0)
        t = 0.0
        for _ in range(60):
            t = min(t + scene(at + t * way), 20.0)  # noqa: F405
        depth[i, j] = mix(t, 10.0, step(10.0, t))  # noqa: F405


march()
result = {"depth": depth.to_numpy()}


def truth():
    i, j = np.indices((n, n))
    way = np.stack([(i + 0.5) / n * 2 - 1, (j + 0.5) / n * 2 - 1, np.full((n, n), 2.0)], -1)
    way /= np.linalg.norm(way, axis=-1, keepdims=True)
    t = np.zeros((n, n))
    for _ in range(60):
        p = [0, 0, -3] + t[..., None] * way
        q = abs(p - [0.7, 0.2, 0]) - [0.3, 0.4, 0.5]
        boxed = np.linalg.norm(np.maximum(q, 0), axis=-1) + np.minimum(q.max(-1), 0)
        t = np.minimum(t + np.minimum(np.linalg.norm(p, axis=-1) - 0.6, boxed), 20)
    return {"depth": np.where(t < 10, t, 10)}
