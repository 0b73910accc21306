# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Determinants and inverses on the host: of small matrices by cofactors, exact where the numbers and quotients are.

The steps grow with the factorial of the rows, so NumPy's decompositions take larger matrices.
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["determinant", "inverse"]

SMALL = 4  # rows


def determinant(m: Any) -> Any:
    """Return the determinant of a square array, along its first row."""
    if len(m) > SMALL:
        return np.linalg.det(m)
    if len(m) == 1:
        return m[0, 0]
    return sum(m[0, j] * cofactor(m, 0, j) for j in range(len(m)))


def cofactor(m: Any, i: int, j: int) -> Any:
    """Return the determinant without a row and a column, with the sign of their place."""
    rest = determinant(np.delete(np.delete(m, i, 0), j, 1))
    return -rest if (i + j) % 2 else rest


def inverse(m: Any) -> Any:
    """Return the inverse of a square array of floats. Components of a small singular one are infinite or NaN.

    Raises:
        numpy.linalg.LinAlgError: A larger one is singular.
    """
    n = len(m)
    if n > SMALL:
        return np.linalg.inv(m)
    if n == 1:
        cofactors = np.ones((1, 1), m.dtype)
    else:
        cofactors = np.array([[cofactor(m, i, j) for j in range(n)] for i in range(n)])
    with np.errstate(divide="ignore", invalid="ignore"):
        return cofactors.T * (1 / determinant(m))
