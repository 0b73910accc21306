# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""A jelly square that falls, by the material point method with affine velocities."""

import numpy as np
import taichi as ti

ti.init(arch=ti.cpu)
count, grid, steps, dt = 64, 16, 60, 2e-3
dx, volume, mass, stiffness = 1 / grid, 1.0, 1.0, 4.0
x = ti.Vector.field(2, dtype=float, shape=count)
v = ti.Vector.field(2, dtype=float, shape=count)
C = ti.Matrix.field(2, 2, dtype=float, shape=count)
J = ti.field(dtype=float, shape=count)
grid_v = ti.Vector.field(2, dtype=float, shape=(grid, grid))
grid_m = ti.field(dtype=float, shape=(grid, grid))


@ti.kernel
def begin():
    for p in range(count):
        x[p] = [0.3 + 0.4 * (p % 8) / 8, 0.3 + 0.4 * (p // 8) / 8]
        v[p] = [0, -1]
        J[p] = 1


@ti.kernel
def substep():
    for i, j in grid_m:
        grid_v[i, j] = [0, 0]
        grid_m[i, j] = 0
    for p in x:
        base = (x[p] / dx - 0.5).cast(int)
        fx = x[p] / dx - base.cast(float)
        w = [0.5 * (1.5 - fx) ** 2, 0.75 - (fx - 1) ** 2, 0.5 * (fx - 0.5) ** 2]
        stress = -dt * stiffness * volume * (J[p] - 1) * 4 / dx**2
        affine = ti.Matrix([[stress, 0], [0, stress]]) + mass * C[p]
        for i, j in ti.static(ti.ndrange(3, 3)):
            offset = ti.Vector([i, j])
            dpos = (offset.cast(float) - fx) * dx
            weight = w[i][0] * w[j][1]
            grid_v[base + offset] += weight * (mass * v[p] + affine @ dpos)
            grid_m[base + offset] += weight * mass
    for i, j in grid_m:
        if grid_m[i, j] > 0:
            grid_v[i, j] /= grid_m[i, j]
        grid_v[i, j][1] -= dt * 9.8
        if i < 3 and grid_v[i, j][0] < 0:
            grid_v[i, j][0] = 0
        if i > grid - 3 and grid_v[i, j][0] > 0:
            grid_v[i, j][0] = 0
        if j < 3 and grid_v[i, j][1] < 0:
            grid_v[i, j][1] = 0
        if j > grid - 3 and grid_v[i, j][1] > 0:
            grid_v[i, j][1] = 0
    for p in x:
        base = (x[p] / dx - 0.5).cast(int)
        fx = x[p] / dx - base.cast(float)
        w = [0.5 * (1.5 - fx) ** 2, 0.75 - (fx - 1) ** 2, 0.5 * (fx - 0.5) ** 2]
        new_v = ti.Vector.zero(float, 2)
        new_C = ti.Matrix.zero(float, 2, 2)
        for i, j in ti.static(ti.ndrange(3, 3)):
            offset = ti.Vector([i, j])
            dpos = (offset.cast(float) - fx) * dx
            weight = w[i][0] * w[j][1]
            g_v = grid_v[base + offset]
            new_v += weight * g_v
            new_C += 4 * weight * g_v.outer_product(dpos) / dx**2
        v[p] = new_v
        x[p] += dt * v[p]
        J[p] *= 1 + dt * new_C.trace()
        C[p] = new_C


begin()
for _ in range(steps):
    substep()
result = {"x": x.to_numpy(), "J": J.to_numpy()}


def truth():
    p = np.arange(count)
    x = np.stack([0.3 + 0.4 * (p % 8) / 8, 0.3 + 0.4 * (p // 8) / 8], 1)
    v, C, J = np.tile([0.0, -1.0], (count, 1)), np.zeros((count, 2, 2)), np.ones(count)
    for _ in range(steps):
        gv, gm = np.zeros((grid, grid, 2)), np.zeros((grid, grid))
        base = (x / dx - 0.5).astype(int)
        fx = x / dx - base
        w = np.stack([0.5 * (1.5 - fx) ** 2, 0.75 - (fx - 1) ** 2, 0.5 * (fx - 0.5) ** 2])
        stress = -dt * stiffness * volume * (J - 1) * 4 / dx**2
        affine = stress[:, None, None] * np.eye(2) + mass * C
        for i in range(3):
            for j in range(3):
                dpos = (np.array([i, j]) - fx) * dx
                weight = w[i, :, 0] * w[j, :, 1]
                momentum = weight[:, None] * (mass * v + np.einsum("pab,pb->pa", affine, dpos))
                np.add.at(gv, (base[:, 0] + i, base[:, 1] + j), momentum)
                np.add.at(gm, (base[:, 0] + i, base[:, 1] + j), weight * mass)
        gv = np.where(gm[..., None] > 0, gv / np.where(gm > 0, gm, 1)[..., None], gv)
        gv[..., 1] -= dt * 9.8
        gv[:3, :, 0] = np.maximum(gv[:3, :, 0], 0)
        gv[grid - 2 :, :, 0] = np.minimum(gv[grid - 2 :, :, 0], 0)
        gv[:, :3, 1] = np.maximum(gv[:, :3, 1], 0)
        gv[:, grid - 2 :, 1] = np.minimum(gv[:, grid - 2 :, 1], 0)
        v, C = np.zeros_like(v), np.zeros_like(C)
        for i in range(3):
            for j in range(3):
                dpos = (np.array([i, j]) - fx) * dx
                weight = w[i, :, 0] * w[j, :, 1]
                g = gv[base[:, 0] + i, base[:, 1] + j]
                v += weight[:, None] * g
                C += 4 / dx**2 * weight[:, None, None] * g[:, :, None] * dpos[:, None, :]
        x = x + dt * v
        J = J * (1 + dt * np.trace(C, axis1=1, axis2=2))
    return {"x": x, "J": J}
