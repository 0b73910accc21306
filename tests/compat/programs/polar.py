# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Rotations and stretches of random matrices, from decompositions."""

import numpy as np
import taichi as ti

ti.init(arch=ti.cpu, default_fp=ti.f64)
n = 12
F = ti.Matrix.field(3, 3, ti.f64, shape=n)
parts = ti.field(ti.f64, shape=(n, 5))
given = np.random.default_rng(8).random((n, 3, 3))
F.from_numpy(given)


@ti.kernel
def decompose():
    for i in F:
        U, S, V = ti.svd(F[i], ti.f64)
        parts[i, 0] = (U @ S @ V.transpose() - F[i]).norm()
        parts[i, 1] = ti.abs(S[0, 0]) + ti.abs(S[1, 1]) + ti.abs(S[2, 2])
        R, P = ti.polar_decompose(F[i], ti.f64)
        parts[i, 2] = (R @ P - F[i]).norm()
        parts[i, 3] = (R.transpose() @ R - ti.Matrix.identity(ti.f64, 3)).norm()
        values, vectors = ti.sym_eig(F[i] @ F[i].transpose(), ti.f64)
        parts[i, 4] = values.sum()


decompose()
result = {"parts": parts.to_numpy()}


def truth():
    s = np.linalg.svd(given, compute_uv=False)
    zeros = np.zeros(n)
    return {"parts": np.stack([zeros, s.sum(1), zeros, zeros, (s**2).sum(1)], 1)}
