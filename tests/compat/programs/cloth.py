# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""A cloth of springs that hangs from two corners."""

import numpy as np
import taichi as ti

ti.init(arch=ti.cpu, default_fp=ti.f64)
n, steps, dt = 8, 100, 5e-3
rest, stiffness, damping = 1.0 / n, 400.0, 1.0
x = ti.Vector.field(3, dtype=ti.f64, shape=(n, n))
v = ti.Vector.field(3, dtype=ti.f64, shape=(n, n))
forces = ti.Vector.field(3, dtype=ti.f64, shape=(n, n))
offsets = []
for i in range(-1, 2):
    for j in range(-1, 2):
        if (i, j) != (0, 0):
            offsets.append(ti.Vector([i, j]))


@ti.kernel
def begin():
    for i, j in x:
        x[i, j] = [i * rest, 0.0, j * rest]
        v[i, j] = [0.0, 0.0, 0.0]


@ti.kernel
def accelerate():
    for i in ti.grouped(x):
        force = ti.Vector([0.0, -9.8, 0.0])
        for offset in ti.static(offsets):
            j = i + offset
            if 0 <= j[0] < n and 0 <= j[1] < n:
                between = x[i] - x[j]
                d = between.normalized()
                current = between.norm()
                original = rest * offset.cast(ti.f64).norm()
                force += -stiffness * d * (current / original - 1)
                force += -damping * (v[i] - v[j]).dot(d) * d
        forces[i] = force


@ti.kernel
def move():
    for i, j in x:
        v[i, j] += forces[i, j] * dt
        if not (i == 0 and (j == 0 or j == n - 1)):
            x[i, j] += dt * v[i, j]
        else:
            v[i, j] = ti.Vector([0.0, 0.0, 0.0])


begin()
for _ in range(steps):
    accelerate()
    move()
result = {"x": x.to_numpy()}


def truth():
    i, j = np.indices((n, n))
    x = np.stack([i * rest, np.zeros((n, n)), j * rest], -1)
    v = np.zeros_like(x)
    for _ in range(steps):
        force = np.zeros_like(x) + [0.0, -9.8, 0.0]
        for a in range(-1, 2):
            for b in range(-1, 2):
                if (a, b) == (0, 0):
                    continue
                here = (slice(max(0, -a), n - max(0, a)), slice(max(0, -b), n - max(0, b)))
                there = (slice(max(0, a), n + min(0, a)), slice(max(0, b), n + min(0, b)))
                between = x[here] - x[there]
                length = np.linalg.norm(between, axis=-1, keepdims=True)
                d = between / length
                original = rest * np.hypot(a, b)
                along = ((v[here] - v[there]) * d).sum(-1, keepdims=True)
                force[here] += -stiffness * d * (length / original - 1) - damping * along * d
        v = v + force * dt
        for corner in ((0, 0), (0, n - 1)):
            v[corner] = 0
        x = x + dt * v
    return {"x": x}
