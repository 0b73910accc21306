# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""One cycle on two grids for a line, with fields in lists and static loops."""

import numpy as np
import taichi as ti

ti.init(arch=ti.cpu, default_fp=ti.f64)
sizes = [32, 16]
u = [ti.field(ti.f64, shape=s + 1) for s in sizes]
f = [ti.field(ti.f64, shape=s + 1) for s in sizes]
r = [ti.field(ti.f64, shape=s + 1) for s in sizes]


@ti.kernel
def begin():
    for i in f[0]:
        f[0][i] = ti.sin(3.0 * i / sizes[0])


@ti.kernel
def relax(level: ti.template(), colour: ti.i32):
    h2 = (1.0 / sizes[level]) ** 2
    for i in range(1, sizes[level]):
        if i % 2 == colour:
            u[level][i] = 0.5 * (u[level][i - 1] + u[level][i + 1] + h2 * f[level][i])


@ti.kernel
def coarsen():
    h2 = (1.0 / sizes[0]) ** 2
    for i in range(1, sizes[0]):
        r[0][i] = f[0][i] + (u[0][i - 1] - 2 * u[0][i] + u[0][i + 1]) / h2
    for i in range(1, sizes[1]):
        f[1][i] = 0.25 * (r[0][2 * i - 1] + 2 * r[0][2 * i] + r[0][2 * i + 1])


@ti.kernel
def refine():
    for i in range(1, sizes[0]):
        if i % 2 == 0:
            u[0][i] += u[1][i // 2]
        else:
            u[0][i] += 0.5 * (u[1][i // 2] + u[1][i // 2 + 1])


begin()
for _ in range(3):
    relax(0, 0)
    relax(0, 1)
coarsen()
for _ in range(200):
    relax(1, 0)
    relax(1, 1)
refine()
result = {"u": u[0].to_numpy()}


def truth():
    def relax(u, f, times):
        n = len(u) - 1
        for _ in range(times):
            for first in (2, 1):
                u[first:n:2] = 0.5 * (u[first - 1 : n - 1 : 2] + u[first + 1 : n + 1 : 2] + f[first:n:2] / n**2)

    n = sizes[0]
    fine, right = np.zeros(n + 1), np.sin(3.0 * np.arange(n + 1) / n)
    relax(fine, right, 3)
    rest = np.zeros(n + 1)
    rest[1:n] = right[1:n] + (fine[: n - 1] - 2 * fine[1:n] + fine[2:]) * n**2
    coarse, cf = np.zeros(n // 2 + 1), np.zeros(n // 2 + 1)
    cf[1:-1] = 0.25 * (rest[1 : n - 2 : 2] + 2 * rest[2 : n - 1 : 2] + rest[3:n:2])
    relax(coarse, cf, 200)
    fine[1:n] += np.interp(np.arange(1, n) / 2, np.arange(n // 2 + 1), coarse)
    return {"u": fine}
