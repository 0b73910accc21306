# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Fields that get their shapes from layers, and fields whose indices begin elsewhere."""

import numpy as np
import taichi as ti

ti.init(arch=ti.cpu)
a = ti.field(ti.f32)
b = ti.Vector.field(2, ti.f32)
c = ti.field(ti.i32)
ti.root.dense(ti.ij, (8, 12)).place(a, b)
block = ti.root.dense(ti.i, 4)
block.dense(ti.i, 5).place(c)
shifted = ti.field(ti.f32, shape=(6, 6), offset=(-3, -3))


@ti.kernel
def fill():
    for i, j in a:
        a[i, j] = i * 10 + j
        b[i, j] = [i, j]
    for i in c:
        c[i] = i * i
    for i, j in shifted:
        shifted[i, j] = i * j


fill()
a[1, 2] += 0.5
result = {"a": a.to_numpy(), "b": b.to_numpy(), "c": c.to_numpy(), "shifted": shifted.to_numpy(), "one": shifted[-3, 2]}


def truth():
    i, j = np.indices((8, 12))
    a = 10.0 * i + j
    a[1, 2] += 0.5
    r = np.arange(-3, 3)
    return {"a": a, "b": np.stack([i, j], -1), "c": np.arange(20) ** 2, "shifted": np.outer(r, r), "one": -6}
