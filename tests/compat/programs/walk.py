# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Random walks, whose means and spreads are known."""

import numpy as np
import taichi as ti

ti.init(arch=ti.cpu, random_seed=3)
count, steps = 4000, 50
ends = ti.field(ti.f32, shape=count)
areas = ti.field(ti.i32, shape=())


@ti.kernel
def walk():
    for i in ends:
        x = 0.0
        for _ in range(steps):
            x += 1.0 if ti.random() < 0.5 else -1.0
        ends[i] = x
        dx, dy = ti.random(ti.f32), ti.random(ti.f32)
        if dx * dx + dy * dy < 1:
            areas[None] += 1


walk()
e = ends.to_numpy()
result = {
    "mean": np.float64(abs(e.mean()) < 0.6), "spread": np.float64(abs(e.std() / np.sqrt(steps) - 1) < 0.06),
    "pi": np.float64(abs(4 * areas[None] / count - np.pi) < 0.12),
}


def truth():
    return {"mean": 1.0, "spread": 1.0, "pi": 1.0}
