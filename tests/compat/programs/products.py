# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Products of matrices: of fields, and of small matrices in registers."""

import numpy as np
import taichi as ti

ti.init(arch=ti.cpu)
n = 20
a = ti.field(ti.f32, shape=(n, n))
b = ti.field(ti.f32, shape=(n, n))
c = ti.field(ti.f32, shape=(n, n))
small = ti.Matrix.field(3, 3, ti.f32, shape=n)
inverses = ti.Matrix.field(3, 3, ti.f32, shape=n)
numbers = ti.field(ti.f32, shape=(n, 4))
rng = np.random.default_rng(6)
left, right, matrices = rng.random((n, n), "f4"), rng.random((n, n), "f4"), rng.random((n, 3, 3), "f4") + 2 * np.eye(3, dtype="f4")
a.from_numpy(left)
b.from_numpy(right)
small.from_numpy(matrices)


@ti.kernel
def multiply():
    for i, j in c:
        total = 0.0
        for k in range(n):
            total += a[i, k] * b[k, j]
        c[i, j] = total


@ti.kernel
def invert():
    for i in small:
        m = small[i]
        inverses[i] = m.inverse()
        numbers[i, 0] = m.determinant()
        numbers[i, 1] = m.trace()
        numbers[i, 2] = (m @ m.transpose()).norm()
        v = ti.Vector([1.0, 2.0, 3.0])
        numbers[i, 3] = (m @ v).dot(v.normalized()) + v.cross(m @ v).sum() + v.max() - m.min()


multiply()
invert()
result = {"c": c.to_numpy(), "inverses": inverses.to_numpy(), "numbers": numbers.to_numpy()}


def truth():
    v = np.array([1.0, 2.0, 3.0])
    mv = matrices @ v
    numbers = [
        np.linalg.det(matrices),
        np.trace(matrices, axis1=1, axis2=2),
        np.linalg.norm(matrices @ matrices.transpose(0, 2, 1), axis=(1, 2)),
        mv @ v / np.linalg.norm(v) + np.cross(v, mv).sum(1) + 3 - matrices.min((1, 2)),
    ]
    return {"c": left @ right, "inverses": np.linalg.inv(matrices), "numbers": np.stack(numbers, 1)}
