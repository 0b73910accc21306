# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""One step of a fluid on a grid: advection, divergence, and a pressure that removes it."""

import numpy as np
import taichi as ti

ti.init(arch=ti.cpu, default_fp=ti.f64)
n, iterations, dt = 24, 60, 0.8
velocity = ti.Vector.field(2, ti.f64, shape=(n, n))
advected = ti.Vector.field(2, ti.f64, shape=(n, n))
divergence = ti.field(ti.f64, shape=(n, n))
pressure = ti.field(ti.f64, shape=(n, n))
other = ti.field(ti.f64, shape=(n, n))


class Pair:
    def __init__(self, now, then):
        self.now, self.then = now, then

    def swap(self):
        self.now, self.then = self.then, self.now


@ti.func
def sample(qf: ti.template(), u, v):
    i, j = int(u), int(v)
    i = ti.max(0, ti.min(n - 1, i))
    j = ti.max(0, ti.min(n - 1, j))
    return qf[i, j]


@ti.func
def lerp(a, b, t):
    return a + t * (b - a)


@ti.func
def bilerp(vf: ti.template(), p):
    s, t = ti.floor(p[0]), ti.floor(p[1])
    fu, fv = p[0] - s, p[1] - t
    low = lerp(sample(vf, s, t), sample(vf, s + 1, t), fu)
    high = lerp(sample(vf, s, t + 1), sample(vf, s + 1, t + 1), fu)
    return lerp(low, high, fv)


@ti.kernel
def advect(vf: ti.template(), qf: ti.template(), new: ti.template()):
    for i, j in vf:
        p = ti.Vector([i, j]) - dt * vf[i, j]
        p[0] = ti.max(0.0, ti.min(n - 1.0, p[0]))
        p[1] = ti.max(0.0, ti.min(n - 1.0, p[1]))
        new[i, j] = bilerp(qf, p)


@ti.kernel
def measure(vf: ti.template()):
    for i, j in vf:
        left, right = sample(vf, i - 1, j), sample(vf, i + 1, j)
        below, above = sample(vf, i, j - 1), sample(vf, i, j + 1)
        divergence[i, j] = (right[0] - left[0] + above[1] - below[1]) * 0.5


@ti.kernel
def relax(pf: ti.template(), new: ti.template()):
    for i, j in pf:
        around = sample(pf, i - 1, j) + sample(pf, i + 1, j) + sample(pf, i, j - 1) + sample(pf, i, j + 1)
        new[i, j] = (around - divergence[i, j]) * 0.25


@ti.kernel
def correct(vf: ti.template(), pf: ti.template()):
    for i, j in vf:
        dx = sample(pf, i + 1, j) - sample(pf, i - 1, j)
        dy = sample(pf, i, j + 1) - sample(pf, i, j - 1)
        vf[i, j] -= 0.5 * ti.Vector([dx, dy])


start = np.random.default_rng(2).random((n, n, 2))
velocity.from_numpy(start)
pair = Pair(pressure, other)
advect(velocity, velocity, advected)
measure(advected)
for _ in range(iterations):
    relax(pair.now, pair.then)
    pair.swap()
correct(advected, pair.now)
result = {"velocity": advected.to_numpy()}


def truth():
    i, j = np.indices((n, n))
    p = np.clip(np.stack([i, j], -1) - dt * start, 0, n - 1)
    s = np.floor(p).astype(int)
    f = p - s

    def at(q, a, b):
        return q[np.clip(a, 0, n - 1), np.clip(b, 0, n - 1)]

    u, w = f[..., :1], f[..., 1:]
    low = at(start, s[..., 0], s[..., 1]) * (1 - u) + at(start, s[..., 0] + 1, s[..., 1]) * u
    high = at(start, s[..., 0], s[..., 1] + 1) * (1 - u) + at(start, s[..., 0] + 1, s[..., 1] + 1) * u
    v = low * (1 - w) + high * w
    div = 0.5 * (at(v, i + 1, j)[..., 0] - at(v, i - 1, j)[..., 0] + at(v, i, j + 1)[..., 1] - at(v, i, j - 1)[..., 1])
    q = np.zeros((n, n))
    for _ in range(iterations):
        q = 0.25 * (at(q, i - 1, j) + at(q, i + 1, j) + at(q, i, j - 1) + at(q, i, j + 1) - div)
    slope = np.stack([at(q, i + 1, j) - at(q, i - 1, j), at(q, i, j + 1) - at(q, i, j - 1)], -1)
    return {"velocity": v - 0.5 * slope}
