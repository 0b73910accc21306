# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Decompositions of small matrices, whose peers' names take the type of the computation as a further argument."""

from __future__ import annotations

from typing import Any

import cuda_graphs as cg

from .words import for_kernels

__all__ = ["eig", "make_spd", "polar_decompose", "solve", "svd", "sym_eig"]


def typed(a: Any, dt: cg.template) -> Any:
    """Return a matrix in the type, if one is given."""
    if cg.static(dt is None):
        return a
    else:
        return a.cast(dt)


def svd_of(A: Any, dt: cg.template = None) -> Any:  # noqa: N803
    return cg.svd(typed(A, dt))


def polar_of(A: Any, dt: cg.template = None) -> Any:  # noqa: N803
    """Return the factors of the peers. A 2 x 2 matrix with a negative determinant has a reflection."""
    if cg.static(A.n == 3):
        return cg.polar_decompose(typed(A, dt))
    else:
        m = typed(A, dt)
        sign = cg.select(m.determinant() < 0, -cg.one(m[0, 0]), cg.one(m[0, 0]))
        m[0, 1], m[1, 1] = sign * m[0, 1], sign * m[1, 1]
        u, p = cg.polar_decompose(m)
        u[0, 1], u[1, 1] = sign * u[0, 1], sign * u[1, 1]
        p[0, 1], p[1, 0] = sign * p[0, 1], sign * p[1, 0]
        return u, p


def eig_of(A: Any, dt: cg.template = None) -> Any:  # noqa: N803
    return cg.eig(typed(A, dt))


def sym_eig_of(A: Any, dt: cg.template = None) -> Any:  # noqa: N803
    return cg.sym_eig(typed(A, dt))


def solve_of(A: Any, b: Any, dt: cg.template = None) -> Any:  # noqa: N803
    return cg.solve(typed(A, dt), typed(b, dt))


def spd_of(A: Any, dt: cg.template = None) -> Any:  # noqa: N803
    """Return the positive semi-definite matrix nearest to a symmetric one: the same with negative eigenvalues at 0."""
    values, vectors = cg.sym_eig(typed(A, dt))
    scaled = vectors
    for i in cg.static(range(A.n)):
        for j in cg.static(range(A.n)):
            scaled[i, j] = vectors[i, j] * max(values[j], 0.0)
    return scaled @ vectors.transpose()


make_spd = for_kernels(spd_of)
svd, polar_decompose, eig, sym_eig, solve = (
    for_kernels(each) for each in (svd_of, polar_of, eig_of, sym_eig_of, solve_of)
)
