# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Conway's game of life on a torus."""

import numpy as np
import taichi as ti

ti.init(arch=ti.cpu)
n, steps = 32, 20
alive = ti.field(int, shape=(n, n))
count = ti.field(int, shape=(n, n))
start = np.random.default_rng(5).integers(0, 2, (n, n)).astype(np.int32)
alive.from_numpy(start)


@ti.func
def neighbours(i, j):
    total = 0
    for di, dj in ti.static(ti.ndrange((-1, 2), (-1, 2))):
        if ti.static(di != 0 or dj != 0):
            total += alive[(i + di + n) % n, (j + dj + n) % n]
    return total


@ti.kernel
def step():
    for i, j in alive:
        count[i, j] = neighbours(i, j)
    for i, j in alive:
        alive[i, j] = int(count[i, j] == 3 or (alive[i, j] == 1 and count[i, j] == 2))


for _ in range(steps):
    step()
result = {"alive": alive.to_numpy()}


def truth():
    a = start
    for _ in range(steps):
        c = sum(np.roll(a, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1)) - a
        a = ((c == 3) | ((a == 1) & (c == 2))).astype(int)
    return {"alive": a}
