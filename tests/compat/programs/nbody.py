# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Bodies that attract each other."""

import numpy as np
import taichi as ti

ti.init(arch=ti.cpu, default_fp=ti.f64)
count, steps, dt = 24, 20, 0.01
pos = ti.Vector.field(3, dtype=ti.f64, shape=count)
vel = ti.Vector.field(3, dtype=ti.f64, shape=count)
energy = ti.field(dtype=ti.f64, shape=())
start = np.random.default_rng(3).random((count, 3))
pos.from_numpy(start)


@ti.kernel
def step():
    for i in pos:
        a = ti.Vector([0.0, 0.0, 0.0])
        for j in range(count):
            if i != j:
                r = pos[j] - pos[i]
                a += r * (r.norm_sqr() + 0.01) ** -1.5
        vel[i] += a * dt
    for i in pos:
        pos[i] += vel[i] * dt


@ti.kernel
def measure():
    for i in vel:
        energy[None] += 0.5 * vel[i].norm_sqr()


for _ in range(steps):
    step()
measure()
result = {"pos": pos.to_numpy(), "energy": energy[None]}


def truth():
    x, v = start.copy(), np.zeros_like(start)
    for _ in range(steps):
        r = x[None] - x[:, None]
        v += dt * (r * ((r * r).sum(-1, keepdims=True) + 0.01) ** -1.5).sum(1)
        x += dt * v
    return {"pos": x, "energy": 0.5 * (v * v).sum()}
