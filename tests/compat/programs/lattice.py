# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""A flow by the lattice Boltzmann method, on a torus."""

import numpy as np
import taichi as ti

ti.init(arch=ti.cpu, default_fp=ti.f64)
n, steps, tau = 16, 20, 0.8
ways = np.array([[0, 0], [1, 0], [0, 1], [-1, 0], [0, -1], [1, 1], [-1, 1], [-1, -1], [1, -1]])
shares = np.array([4 / 9] + [1 / 9] * 4 + [1 / 36] * 4)
f = ti.Vector.field(9, ti.f64, shape=(n, n))
g = ti.Vector.field(9, ti.f64, shape=(n, n))
rho = ti.field(ti.f64, shape=(n, n))
vel = ti.Vector.field(2, ti.f64, shape=(n, n))
e = ti.field(ti.i32, shape=(9, 2))
w = ti.field(ti.f64, shape=9)
e.from_numpy(ways.astype(np.int32))
w.from_numpy(shares)


@ti.func
def equilibrium(k, density, u):
    along = e[k, 0] * u[0] + e[k, 1] * u[1]
    return w[k] * density * (1.0 + 3.0 * along + 4.5 * along * along - 1.5 * u.dot(u))


@ti.kernel
def begin():
    for i, j in rho:
        u = ti.Vector([0.1 * ti.sin(2 * 3.141592653589793 * j / n), 0.0])
        for k in ti.static(range(9)):
            f[i, j][k] = equilibrium(k, 1.0, u)


@ti.kernel
def step():
    for i, j in rho:
        total, flow = 0.0, ti.Vector([0.0, 0.0])
        for k in ti.static(range(9)):
            a, b = (i - e[k, 0] + n) % n, (j - e[k, 1] + n) % n
            g[i, j][k] = f[a, b][k]
        for k in ti.static(range(9)):
            total += g[i, j][k]
            flow += g[i, j][k] * ti.Vector([e[k, 0], e[k, 1]])
        rho[i, j] = total
        vel[i, j] = flow / total
    for i, j in rho:
        for k in ti.static(range(9)):
            f[i, j][k] = g[i, j][k] - (g[i, j][k] - equilibrium(k, rho[i, j], vel[i, j])) / tau


begin()
for _ in range(steps):
    step()
result = {"vel": vel.to_numpy(), "rho": rho.to_numpy()}


def truth():
    def equilibrium(rho, u):
        along = u @ ways.T
        return shares * rho[..., None] * (1 + 3 * along + 4.5 * along**2 - 1.5 * (u * u).sum(-1)[..., None])

    _, j = np.indices((n, n))
    u = np.stack([0.1 * np.sin(2 * np.pi * j / n), 0 * j], -1)
    f = equilibrium(np.ones((n, n)), u)
    for _ in range(steps):
        f = np.stack([np.roll(f[..., k], ways[k], (0, 1)) for k in range(9)], -1)
        rho = f.sum(-1)
        u = f @ ways / rho[..., None]
        f = f - (f - equilibrium(rho, u)) / tau
    return {"vel": u, "rho": rho}
