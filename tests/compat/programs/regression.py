# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""A line through points, by gradient descent with kernel.grad."""

import numpy as np
import taichi as ti

ti.init(arch=ti.cpu, default_fp=ti.f64)
n, rate, rounds = 50, 0.2, 60
x = ti.field(ti.f64, shape=n)
y = ti.field(ti.f64, shape=n)
line = ti.field(ti.f64, shape=2, needs_grad=True)
loss = ti.field(ti.f64, shape=(), needs_grad=True)
rng = np.random.default_rng(9)
xs = rng.random(n)
ys = 3 * xs - 1 + 0.1 * rng.standard_normal(n)
x.from_numpy(xs)
y.from_numpy(ys)


@ti.kernel
def measure():
    for i in x:
        error = line[0] * x[i] + line[1] - y[i]
        loss[None] += error**2 / n


@ti.kernel
def descend():
    for k in line:
        line[k] -= rate * line.grad[k]


for _ in range(rounds):
    loss[None], loss.grad[None] = 0.0, 1.0
    line.grad.fill(0.0)
    measure()
    measure.grad()
    descend()
result = {"line": line.to_numpy(), "loss": loss[None]}


def truth():
    a = b = 0.0
    for _ in range(rounds):
        error = a * xs + b - ys
        loss = (error**2).mean()
        a, b = a - rate * 2 * (error * xs).mean(), b - rate * 2 * error.mean()
    return {"line": np.array([a, b]), "loss": loss}
