# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Heat in a rod, with the peers' arrays as arguments."""

import numpy as np
import taichi as ti

ti.init(arch=ti.cpu, default_fp=ti.f64)
n, steps = 50, 100
now = ti.ndarray(dtype=ti.f64, shape=n)
then = ti.ndarray(dtype=ti.f64, shape=n)
array = ti.types.ndarray(dtype=ti.f64, ndim=1)


@ti.kernel
def begin(a: array, width: ti.f64):
    for i in a:
        a[i] = ti.exp(-((i - a.shape[0] / 2) ** 2) / width)


@ti.kernel
def step(a: array, b: array, rate: ti.f64):
    for i in a:
        left, right = ti.max(i - 1, 0), ti.min(i + 1, a.shape[0] - 1)
        b[i] = a[i] + rate * (a[left] - 2 * a[i] + a[right])


@ti.kernel
def total(a: array) -> ti.f64:
    found = 0.0
    for i in a:
        found += a[i]
    return found


begin(now, 20.0)
before = total(now)
for _ in range(steps):
    step(now, then, 0.3)
    now, then = then, now
result = {"now": now.to_numpy(), "before": before, "after": total(now)}


def truth():
    a = np.exp(-((np.arange(n) - n / 2) ** 2) / 20)
    sums = [a.sum()]
    for _ in range(steps):
        p = np.pad(a, 1, mode="edge")
        a = a + 0.3 * (p[:-2] - 2 * a + p[2:])
    return {"now": a, "before": sums[0], "after": a.sum()}
