# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Balls in a box that push each other away, with the walls as a template."""

import numpy as np
import taichi as ti

ti.init(arch=ti.cpu, default_fp=ti.f64)
n, steps, dt, radius = 16, 50, 0.01, 0.08
pos = ti.Vector.field(2, ti.f64, shape=n)
vel = ti.Vector.field(2, ti.f64, shape=n)
force = ti.Vector.field(2, ti.f64, shape=n)
rng = np.random.default_rng(12)
p0, v0 = rng.random((n, 2)), rng.standard_normal((n, 2))
pos.from_numpy(p0)
vel.from_numpy(v0)


@ti.kernel
def push(bounces: ti.template()):
    for i in force:
        total = ti.Vector([0.0, 0.0])
        for j in range(n):
            if i == j:
                continue
            d = pos[i] - pos[j]
            length = d.norm(1e-9)
            if length > 2 * radius:
                continue
            total += 500 * (2 * radius - length) * d / length
        force[i] = total
    for i in pos:
        vel[i] += dt * force[i]
        pos[i] += dt * vel[i]
        for k in ti.static(range(2)):
            if pos[i][k] < radius:
                pos[i][k] = radius
                if ti.static(bounces):
                    vel[i][k] *= -1
                else:
                    vel[i][k] = 0
            if pos[i][k] > 1 - radius:
                pos[i][k] = 1 - radius
                vel[i][k] *= -1 if ti.static(bounces) else 0


for t in range(steps):
    push(t % 2 == 0)
result = {"pos": pos.to_numpy(), "vel": vel.to_numpy()}


def truth():
    p, v = p0.copy(), v0.copy()
    for t in range(steps):
        d = p[:, None] - p[None]
        length = np.sqrt((d * d).sum(-1, keepdims=True) + 1e-9)
        near = (length <= 2 * radius) & ~np.eye(n, dtype=bool)[..., None]
        v = v + dt * np.where(near, 500 * (2 * radius - length) * d / length, 0).sum(1)
        p = p + dt * v
        out = (p < radius) | (p > 1 - radius)
        v = np.where(out, -v if t % 2 == 0 else 0, v)
        p = np.clip(p, radius, 1 - radius)
    return {"pos": p, "vel": v}
