# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Orbits of the Lorenz system, by the method of Runge and Kutta."""

import numpy as np
import taichi as ti

ti.init(arch=ti.cpu, default_fp=ti.f64)
count, steps, dt = 16, 200, 0.005
state = ti.Vector.field(3, ti.f64, shape=count)
most = ti.field(ti.f64, shape=count)


@ti.func
def slope(s):
    return ti.Vector([10.0 * (s.y - s.x), s.x * (28.0 - s.z) - s.y, s.x * s.y - 8.0 / 3.0 * s.z])


@ti.kernel
def run():
    for i in state:
        s = ti.Vector([1.0 + 0.01 * i, 1.0, 20.0])
        for _ in range(steps):
            a = slope(s)
            b = slope(s + 0.5 * dt * a)
            c = slope(s + 0.5 * dt * b)
            d = slope(s + dt * c)
            s += dt / 6 * (a + 2 * b + 2 * c + d)
            most[i] = ti.max(most[i], s.z)
        state[i] = s


run()
result = {"state": state.to_numpy(), "most": most.to_numpy()}


def truth():
    def slope(s):
        x, y, z = s.T
        return np.stack([10 * (y - x), x * (28 - z) - y, x * y - 8 / 3 * z], 1)

    s = np.stack([1 + 0.01 * np.arange(count), np.ones(count), np.full(count, 20.0)], 1)
    most = np.zeros(count)
    for _ in range(steps):
        a = slope(s)
        b = slope(s + dt / 2 * a)
        c = slope(s + dt / 2 * b)
        d = slope(s + dt * c)
        s = s + dt / 6 * (a + 2 * b + 2 * c + d)
        most = np.maximum(most, s[:, 2])
    return {"state": s, "most": most}
