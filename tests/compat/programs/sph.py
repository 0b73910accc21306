# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Densities and pressure forces of smoothed particles, over all pairs."""

import numpy as np
import taichi as ti

ti.init(arch=ti.cpu, default_fp=ti.f64)
count, h = 40, 0.3
x = ti.Vector.field(2, ti.f64, shape=count)
density = ti.field(ti.f64, shape=count)
force = ti.Vector.field(2, ti.f64, shape=count)
x.from_numpy(np.random.default_rng(1).random((count, 2)))


@ti.func
def kernel_value(r):
    result = 0.0
    q = r / h
    if q < 1:
        result = (1 - q * q) ** 3
    return result


@ti.func
def kernel_slope(r):
    q = r / h
    return ti.select(q < 1, -6 * q / h * (1 - q * q) ** 2, 0.0)


@ti.kernel
def measure():
    for p in x:
        total = 0.0
        for q in range(count):
            total += kernel_value((x[p] - x[q]).norm())
        density[p] = total


@ti.kernel
def push():
    for p in x:
        total = ti.Vector([0.0, 0.0])
        for q in range(count):
            r = x[p] - x[q]
            if p != q and r.norm() < h:
                pressure = (density[p] + density[q]) / (2 * density[q])
                total -= pressure * kernel_slope(r.norm()) * r / r.norm()
        force[p] = total


measure()
push()
result = {"density": density.to_numpy(), "force": force.to_numpy()}


def truth():
    x = np.random.default_rng(1).random((count, 2))
    r = x[:, None] - x[None]
    length = np.linalg.norm(r, axis=-1)
    q = length / h
    density = np.where(q < 1, (1 - q * q) ** 3, 0).sum(1)
    pressure = (density[:, None] + density[None]) / (2 * density[None])
    slope = np.where(q < 1, -6 * q / h * (1 - q * q) ** 2, 0)
    scale = pressure * slope / np.where(length > 0, length, 1)
    return {"density": density, "force": -(scale[..., None] * r).sum(1)}
