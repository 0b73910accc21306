# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The rest length of springs, found by gradient descent through a simulation."""

import numpy as np
import taichi as ti

ti.init(arch=ti.cpu, default_fp=ti.f64)
count, steps, dt, rate = 4, 12, 0.1, 0.02
x = ti.field(ti.f64, shape=(steps + 1, count), needs_grad=True)
v = ti.field(ti.f64, shape=(steps + 1, count), needs_grad=True)
rest = ti.field(ti.f64, shape=(), needs_grad=True)
loss = ti.field(ti.f64, shape=(), needs_grad=True)


@ti.kernel
def begin():
    for i in range(count):
        x[0, i] = 1.0 * i


@ti.kernel
def advance(t: ti.i32):
    for i in range(count):
        force = 0.0
        if i > 0:
            force -= x[t, i] - x[t, i - 1] - rest[None]
        if i < count - 1:
            force += x[t, i + 1] - x[t, i] - rest[None]
        v[t + 1, i] = v[t, i] + dt * force
        x[t + 1, i] = x[t, i] + dt * (v[t, i] + dt * force)


@ti.kernel
def measure():
    loss[None] += (x[steps, count - 1] - x[steps, 0] - 2.5) ** 2


rest[None] = 1.2
losses = []
for _ in range(10):
    begin()
    with ti.ad.Tape(loss=loss):
        for t in range(steps):
            advance(t)
        measure()
    losses.append(loss[None])
    rest[None] -= rate * rest.grad[None]
result = {"rest": rest[None], "losses": np.array(losses)}


def truth():
    def final(rest):
        x, v = np.arange(count, dtype=float), np.zeros(count)
        for _ in range(steps):
            stretch = np.diff(x) - rest
            force = np.append(stretch, 0) - np.append(0, stretch)
            v = v + dt * force
            x = x + dt * v
        return (x[-1] - x[0] - 2.5) ** 2

    rest, losses = 1.2, []
    for _ in range(10):
        losses.append(final(rest))
        rest -= rate * (final(rest + 1e-5) - final(rest - 1e-5)) / 2e-5
    return {"rest": rest, "losses": np.array(losses)}
