# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""`Vector` and `Matrix`: values in kernels and on the host, and the makers of fields and arrays of them."""

from __future__ import annotations

from typing import Any

import numpy as np

import cuda_graphs as cg
from cuda_graphs.compiler.language.host_vectors import HostVector

from .data import element_type, field, ndarray
from .elements import PeerVector
from .tensors import tensor
from .words import Inlined

__all__ = ["Matrix", "Vector"]


def in_kernels(parts: Any, dt: cg.template = None) -> Any:
    """Return the vector of the components, or the matrix of the rows, in a kernel."""
    if cg.static(dt is None):
        return cg.vector(parts)
    else:
        return cg.vector(parts).cast(dt)


def on_host(parts: Any, dt: Any = None) -> Any:
    """Return a vector or matrix as a value on the host, without a dtype in the types that NumPy gives the numbers.

    Raises:
        TypeError: A component is not a number.
        ValueError: Rows have different lengths.
    """
    values = np.array(parts)
    if values.dtype.kind not in "biuf" or not values.ndim:
        raise TypeError(f"a vector or matrix is made of a list of numbers or of rows, got {parts!r}")
    if dt is None:
        return values.view(PeerVector)
    make: Any = cg.types.vec if values.ndim == 1 else cg.types.mat
    return make(*values.shape, element_type(dt))(parts).view(PeerVector)


def vector_zero(dt: cg.template, n: cg.template) -> Any:
    return cg.types.vec(n, dt)(0)


def vector_one(dt: cg.template, n: cg.template) -> Any:
    return cg.types.vec(n, dt)(1)


def vector_unit(n: cg.template, i: cg.template, dt: cg.template = cg.i32) -> Any:
    return cg.types.vec(n, dt)([1 if j == i else 0 for j in cg.static(range(n))])


def matrix_zero(dt: cg.template, n: cg.template, m: cg.template = 1) -> Any:
    return cg.types.mat(n, m, dt)(0)


def matrix_one(dt: cg.template, n: cg.template, m: cg.template = 1) -> Any:
    return cg.types.mat(n, m, dt)(1)


def matrix_identity(dt: cg.template, n: cg.template) -> Any:
    return cg.types.mat(n, n, dt)(
        [[1 if i == j else 0 for j in cg.static(range(n))] for i in cg.static(range(n))]
    )


def matrix_diag(dim: cg.template, val: Any) -> Any:
    return cg.vector(
        [[val if i == j else val * 0 for j in cg.static(range(dim))] for i in cg.static(range(dim))]
    )


def matrix_rows(rows: Any) -> Any:
    return cg.vector(rows)


def matrix_cols(cols: Any) -> Any:
    return cg.vector(cols).transpose()


def host_rows(rows: Any) -> Any:
    return on_host([list(each) for each in rows])


class Maker:
    """The common part of `Vector` and `Matrix`, which are called in kernels and on the host."""

    __cuda_graphs_func__ = staticmethod(in_kernels)
    rows = Inlined(matrix_rows, host_rows)
    cols = Inlined(matrix_cols, lambda cols: on_host(np.array([list(each) for each in cols]).T))

    dimensions: tuple[int, ...]

    def __call__(self, parts: Any, dt: Any = None) -> Any:
        return on_host(parts, dt)

    def __instancecheck__(self, value: Any) -> bool:
        return isinstance(value, HostVector) and value.ndim in self.dimensions


class VectorMaker(Maker):
    """`Vector`."""

    dimensions = (1,)

    zero = Inlined(vector_zero, lambda dt, n: on_host([0] * n, dt))
    one = Inlined(vector_one, lambda dt, n: on_host([1] * n, dt))
    unit = Inlined(vector_unit, lambda n, i, dt=cg.i32: on_host([int(j == i) for j in range(n)], dt))

    @staticmethod
    def field(n: int, dtype: Any, shape: Any = None, **options: Any) -> Any:
        """Return a field of vectors. Options are those of `field`."""
        return field(cg.types.vec(n, element_type(dtype)), shape, **options)

    @staticmethod
    def ndarray(n: int, dtype: Any, shape: Any, **options: Any) -> Any:
        """Return an array of vectors. Options are those of `ndarray`."""
        return ndarray(cg.types.vec(n, element_type(dtype)), shape, **options)

    @staticmethod
    def tensor(n: int, dtype: Any, shape: Any, **options: Any) -> Any:
        """Return a tensor of vectors, in Quadrants' words. Options are those of `tensor`."""
        return tensor(cg.types.vec(n, element_type(dtype)), shape, **options)


class MatrixMaker(Maker):
    """`Matrix`. Vectors are matrices too."""

    dimensions = (1, 2)

    zero = Inlined(matrix_zero, lambda dt, n, m=1: on_host([[0] * m] * n, dt))
    one = Inlined(matrix_one, lambda dt, n, m=1: on_host([[1] * m] * n, dt))
    identity = Inlined(matrix_identity, lambda dt, n: on_host(np.eye(n, dtype=int), dt))
    diag = Inlined(matrix_diag, lambda dim, val: on_host(np.eye(dim, dtype=int) * val))

    @staticmethod
    def field(n: int, m: int, dtype: Any, shape: Any = None, **options: Any) -> Any:
        """Return a field of matrices. Options are those of `field`."""
        return field(cg.types.mat(n, m, element_type(dtype)), shape, **options)

    @staticmethod
    def ndarray(n: int, m: int, dtype: Any, shape: Any, **options: Any) -> Any:
        """Return an array of matrices. Options are those of `ndarray`."""
        return ndarray(cg.types.mat(n, m, element_type(dtype)), shape, **options)

    @staticmethod
    def tensor(n: int, m: int, dtype: Any, shape: Any, **options: Any) -> Any:
        """Return a tensor of matrices, in Quadrants' words. Options are those of `tensor`."""
        return tensor(cg.types.mat(n, m, element_type(dtype)), shape, **options)


Vector, Matrix = VectorMaker(), MatrixMaker()
