# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""A directional derivative in forward mode, and a tape over a placed field."""

import numpy as np
import taichi as ti

ti.init(arch=ti.cpu, default_fp=ti.f64)
n = 8
x = ti.field(ti.f64, shape=n, needs_dual=True)
y = ti.field(ti.f64, shape=n, needs_dual=True)
a = ti.field(ti.f64, shape=n, needs_grad=True)
total = ti.field(ti.f64, shape=(), needs_grad=True)


@ti.kernel
def powers():
    for i in x:
        y[i] = x[i] ** 3 + ti.sin(x[i])


@ti.kernel
def sum_up():
    for i in a:
        total[None] += a[i] * a[i] * (i + 1)


values = np.linspace(0.1, 2.0, n)
x.from_numpy(values)
a.from_numpy(values)
with ti.ad.FwdMode(loss=y, param=x, seed=[1.0] * n):
    powers()
with ti.ad.Tape(total):
    sum_up()
result = {"dual": y.dual.to_numpy(), "grad": a.grad.to_numpy(), "total": total[None]}


def truth():
    weights = np.arange(n) + 1
    return {
        "dual": 3 * values**2 + np.cos(values), "grad": 2 * values * weights, "total": (values**2 * weights).sum(),
    }
