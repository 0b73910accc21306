# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Determinants and inverses of small matrices by cofactors: one order of operations for kernels and for the host.

The numbers are operations of a kernel or numbers of NumPy, so results on the host have the bits of those in kernels.
Matrices are tuples of rows. The steps grow with the factorial of the rows, so callers take matrices up to MOST_ROWS.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import reduce
from typing import Any, NamedTuple

__all__ = ["MOST_ROWS", "NUMBERS", "Arithmetic", "adjugate", "determinant"]

MOST_ROWS = 4

Rows = tuple[tuple[Any, ...], ...]


class Arithmetic(NamedTuple):
    """The operations of one kind of numbers."""

    add: Callable[[Any, Any], Any]
    multiply: Callable[[Any, Any], Any]
    negate: Callable[[Any], Any]


NUMBERS = Arithmetic(operator.add, operator.mul, operator.neg)


def determinant(m: Rows, numbers: Arithmetic) -> Any:
    """Return the determinant of a square matrix, by expansion along the first column."""
    if len(m) == 1:
        return m[0][0]
    terms = (numbers.multiply(row[0], cofactor(m, i, 0, numbers)) for i, row in enumerate(m))
    return reduce(numbers.add, terms)


def cofactor(m: Rows, i: int, j: int, numbers: Arithmetic) -> Any:
    """Return the derivative of the determinant with respect to an element of a matrix of 2 or more rows.

    The minor has its rows and columns in the order around the element, so only matrices of even size alternate signs.
    """
    minor = determinant(tuple(around(row, j) for row in around(m, i)), numbers)
    return numbers.negate(minor) if len(m) % 2 == 0 and (i + j) % 2 == 1 else minor


def around(parts: tuple[Any, ...], i: int) -> tuple[Any, ...]:
    """Return the parts after part i, and then those before it."""
    return parts[i + 1 :] + parts[:i]


def adjugate(m: Rows, numbers: Arithmetic) -> Rows:
    """Return the transposed matrix of cofactors of a matrix of 2 or more rows: the inverse times the determinant."""
    places = range(len(m))
    return tuple(tuple(cofactor(m, j, i, numbers) for j in places) for i in places)
