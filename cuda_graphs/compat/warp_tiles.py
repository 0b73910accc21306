# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""`simt.Tile16x16` and `Tile32x32` of the peers: square matrices of which each lane of a warp holds one row.

    t = qd.simt.Tile16x16.eye(dtype=qd.f32)
    t[:] = a[i : i + 16, k : k + 16]    # the elements inside of `a`; others stay
    t -= qd.outer(v, w)                 # each lane gives one element of v and of w
    t.cholesky_(1e-6)
    a[i : i + 16, k : k + 16] = t

A tile is a dataclass with one vector, the row of the lane. Rows of other lanes come by shuffles. Lanes from the number
of rows on hold rows that no operation uses.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import cuda_graphs as cg

from .program import settings
from .words import for_kernels

__all__ = ["OuterProduct", "TileMaker"]


@dataclasses.dataclass(frozen=True)
class OuterProduct:
    """`outer(a, b)`, which `tile -= outer(a, b)` takes. `a` and `b`: a number of each lane, or a column of an array."""

    a: cg.template
    b: cg.template


@cg.func
def own_element(column: cg.template) -> Any:
    """Return the element of a column of an array that belongs to this lane; 0 beyond the end."""
    found = cg.cast(0, column.dtype)
    if cg.warp.lane() < column.shape[0]:
        found = column[cg.warp.lane()]
    return found


class Rows:
    """The methods of tiles."""

    r: Any

    @cg.func
    def __setitem__(self: Any, index: cg.template, part: cg.template) -> None:
        """Take the rows and columns of a part of an array. The others stay."""
        if cg.warp.lane() < part.shape[0]:
            for j in cg.static(range(self.r.n)):
                if j < part.shape[1]:
                    self.r[j] = part[cg.warp.lane(), j]

    @cg.func
    def store_to(self: Any, part: cg.template) -> None:
        """Write the rows and columns that are inside of a part of an array."""
        if cg.warp.lane() < part.shape[0]:
            for j in cg.static(range(self.r.n)):
                if j < part.shape[1]:
                    part[cg.warp.lane(), j] = self.r[j]

    @cg.func
    def __getitem__(self: Any, index: cg.template) -> Any:
        """Return `tile[:]`."""
        return self

    @cg.func
    def eye_(self: Any) -> None:
        """Become the identity."""
        for j in cg.static(range(self.r.n)):
            self.r[j] = cg.cast(cg.warp.lane() == j, self.r.dtype)

    @cg.func
    def __isub__(self: Any, product: cg.template) -> Any:
        """Subtract an outer product."""
        a = own_element(product.a) if cg.static(hasattr(product.a, "ndim")) else product.a
        b = own_element(product.b) if cg.static(hasattr(product.b, "ndim")) else product.b
        for j in cg.static(range(self.r.n)):
            self.r[j] -= a * cg.warp.shuffle(b, j)
        return self

    @cg.func
    def cholesky_(self: Any, eps: Any) -> None:
        """Replace the lower triangle of A by L with A = L @ L.T.

        Column by column, lane i computes element i. The squares of the diagonal are at least `eps`, of which lane k
        gives that of row k. Products of even and of odd columns have sums of their own, as in Quadrants: an addition
        waits for half as many others, and both libraries round to the same bits.
        """
        lane = cg.warp.lane()
        squares = cg.cast(0, self.r.dtype)  # the sum of the squares in the row of this lane
        for k in cg.static(range(self.r.n)):
            diagonal = cg.warp.shuffle(cg.sqrt(max(self.r[k] - squares, eps)), k)
            even = odd = cg.cast(0, self.r.dtype)
            for j in cg.static(range(k)):
                product = self.r[j] * cg.warp.shuffle(self.r[j], k)
                if cg.static(j % 2 == 0):
                    even += product
                else:
                    odd += product
            if lane == k:
                self.r[k] = diagonal
            elif lane > k:
                found = (self.r[k] - (even + odd)) / diagonal
                self.r[k] = found
                squares += found * found

    @cg.func
    def solve_triangular_(self: Any, B: cg.template, lower: cg.template = True) -> None:  # noqa: N803
        """Replace B by X with X @ L.T = B, where L is the lower triangle of this tile."""
        cg.static_assert(lower, "solve_triangular_() takes lower=True")
        for c in cg.static(range(self.r.n)):
            sum_ = cg.cast(0, self.r.dtype)
            for j in cg.static(range(c)):
                sum_ += B.r[j] * cg.warp.shuffle(self.r[j], c)
            B.r[c] = (B.r[c] - sum_) / cg.warp.shuffle(self.r[c], c)


@dataclasses.dataclass
class Tile16F32(Rows):
    r: cg.types.vec(16, cg.f32)  # type: ignore[valid-type]


@dataclasses.dataclass
class Tile16F64(Rows):
    r: cg.types.vec(16, cg.f64)  # type: ignore[valid-type]


@dataclasses.dataclass
class Tile32F32(Rows):
    r: cg.types.vec(32, cg.f32)  # type: ignore[valid-type]


@dataclasses.dataclass
class Tile32F64(Rows):
    r: cg.types.vec(32, cg.f64)  # type: ignore[valid-type]


CLASSES = {(16, "f32"): Tile16F32, (16, "f64"): Tile16F64, (32, "f32"): Tile32F32, (32, "f64"): Tile32F64}


def made(n: int, dtype: Any) -> Any:
    """Return the class of tiles and the type of their rows. None: floats of the type of `init`."""
    kind = settings().default_fp if dtype is None else dtype
    return CLASSES[n, kind.name], cg.types.vec(n, kind)


class TileMaker:
    """`Tile16x16` or `Tile32x32`."""

    def __init__(self, n: int) -> None:
        def zeros(dtype: cg.template = None) -> Any:
            kind, row = cg.static(made(n, dtype))
            return kind(row(0))

        def eye(dtype: cg.template = None) -> Any:
            kind, row = cg.static(made(n, dtype))
            tile = kind(row(0))
            tile.eye_()
            return tile

        self.SIZE, self.zeros, self.eye = n, for_kernels(zeros), for_kernels(eye)
