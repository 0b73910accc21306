# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Vectors and matrices on the host: what `cg.vec3(1, 2, 3)` makes outside of kernels, and elements of arrays."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from cuda_graphs.compiler.ir.scalars import cast, scalar
from cuda_graphs.compiler.ir.types import BY_DTYPE, ScalarType, f64

from . import cofactors

__all__ = ["SWIZZLES", "HostVector", "host_vector", "swizzled"]

SWIZZLES = ("xyzw", "rgba", "stpq")  # names of the components: of a point, a colour, a texture coordinate


def swizzled(name: str, count: int) -> list[int] | None:
    """Return the places of the components that `xy` or `rgb` names in a vector of `count`; None for other names."""
    letters = next((each for each in SWIZZLES if name and set(name) <= set(each[:count])), None)
    return None if letters is None else [letters.index(each) for each in name]


class HostVector(np.ndarray[Any, Any]):
    """A vector or matrix as a value on the host. NumPy does its arithmetic, component by component, and `@`.

    It does not change: `v += w` gives the name another value. `==` compares whole values, and is one bool. A vector has
    its components by name, `v.x`, `v.xy`, `v.rgb`. Kernels use it as a constant, or take it as an argument.
    """

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        places = swizzled(name, len(self))
        if places is None:
            raise AttributeError(f"{self!r} has no member {name!r}")
        return self[places[0] if len(name) == 1 else places]

    def in_kernels(self) -> HostVector:
        """Return the vector that a kernel gets as a constant. Classes derived from this one may change its type."""
        return self

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{name!r} of {self!r} cannot change: {self._advice()}")

    def __setitem__(self, index: Any, value: Any) -> None:
        raise TypeError(f"a component of {self!r} cannot change: {self._advice()}")

    def _advice(self) -> str:
        return "it is a value, as a number is. Make another one, and assign the whole element: x[i] = cg.vec3(...)"

    def __eq__(self, other: Any) -> Any:
        return np.bool_(self.shape == np.shape(other) and np.equal(self.view(np.ndarray), other).all())

    def __ne__(self, other: Any) -> Any:
        return ~(self == other)

    def __hash__(self) -> int:  # type: ignore[override]
        return hash((self.shape, *self.ravel().tolist()))

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        """Return a number in place of an array without dimensions."""
        return array.view(type(self)) if array.ndim else array[()]

    def fill(self, value: Any) -> None:
        """Raise: a vector does not change on the host."""
        raise TypeError(f"{self!r} cannot change: {self._advice()}")

    # Without these, `v += w` would change the value of all names of v.
    def __iadd__(self, other: Any) -> Any:  # type: ignore[misc]
        return self + other

    def __isub__(self, other: Any) -> Any:  # type: ignore[misc]
        return self - other

    def __imul__(self, other: Any) -> Any:  # type: ignore[misc]
        return self * other

    def __itruediv__(self, other: Any) -> Any:  # type: ignore[misc]
        return self / other

    def __imatmul__(self, other: Any) -> Any:  # type: ignore[misc]
        return self @ other

    def __ifloordiv__(self, other: Any) -> Any:  # type: ignore[misc]
        return self // other

    def __imod__(self, other: Any) -> Any:  # type: ignore[misc]
        return self % other

    def __ipow__(self, other: Any) -> Any:  # type: ignore[misc, override]
        return self**other

    def __ilshift__(self, other: Any) -> Any:  # type: ignore[misc]
        return self << other

    def __irshift__(self, other: Any) -> Any:  # type: ignore[misc]
        return self >> other

    def __iand__(self, other: Any) -> Any:  # type: ignore[misc]
        return self & other

    def __ior__(self, other: Any) -> Any:  # type: ignore[misc]
        return self | other

    def __ixor__(self, other: Any) -> Any:  # type: ignore[misc]
        return self ^ other

    @property
    def n(self) -> int:
        """The number of components of a vector, or of rows of a matrix."""
        return len(self)

    @property
    def m(self) -> int:
        """The number of columns of a matrix. A vector is one column."""
        return 1 if self.ndim == 1 else int(self.shape[1])

    def norm_sqr(self) -> Any:
        """Return the sum of the squares of the components."""
        return (self * self).sum(dtype=self.dtype)

    def norm(self, eps: float = 0.0) -> Any:
        """Return the Euclidean length, the root of the sum of the squares and `eps`."""
        return np.sqrt(self.norm_sqr() + eps)

    def normalized(self, eps: float = 0.0) -> Any:
        """Return the vector times the reciprocal of the sum of its length and `eps`, as in kernels."""
        return 1 / (self.norm() + eps) * self

    def cross(self, other: Any) -> Any:
        """Return the cross product of vectors of three components; of two components its third one, a number."""
        if self.shape == np.shape(other) == (2,):
            return self[0] * other[1] - self[1] * other[0]
        return np.cross(self, other).view(type(self))

    def outer(self, other: Any) -> Any:
        """Return the matrix of all products of components."""
        return np.outer(self, other).view(type(self))

    outer_product = outer

    def norm_inv(self, eps: float = 0.0) -> Any:
        """Return 1 / norm."""
        return 1 / self.norm(eps)

    def distance(self, other: Any) -> Any:
        """Return the length of the difference."""
        return (self - other).norm()

    def determinant(self) -> Any:
        """Return the determinant of a square matrix, up to 4 x 4 as in kernels.

        Raises:
            ValueError: The matrix is not square.
        """
        m = self._square()
        if len(m) > cofactors.MOST_ROWS:
            return np.linalg.det(m)
        with np.errstate(all="ignore"):
            return cofactors.determinant(tuple(map(tuple, m)), cofactors.NUMBERS)

    def inverse(self) -> Any:
        """Return the inverse of a square matrix, up to 4 x 4 as in kernels. That of integers is one of floats.

        Components of the inverse of a singular matrix up to 4 x 4 are infinite or NaN.

        Raises:
            ValueError: The matrix is not square.
            numpy.linalg.LinAlgError: A larger matrix is singular.
        """
        m = self._square()
        if m.dtype.kind in "biu":
            m = m.astype(np.float64)
        if len(m) > cofactors.MOST_ROWS:
            return np.linalg.inv(m).view(type(self))
        rows = tuple(map(tuple, m))
        with np.errstate(all="ignore"):
            factor = 1 / cofactors.determinant(rows, cofactors.NUMBERS)
            scaled = factor if len(m) == 1 else factor * np.array(cofactors.adjugate(rows, cofactors.NUMBERS))
        return np.reshape(scaled, m.shape).view(type(self))

    def _square(self) -> np.ndarray[Any, Any]:
        """Return the components of a square matrix, or raise."""
        if self.ndim != 2 or self.n != self.m:
            raise ValueError(
                f"a square matrix has a determinant and an inverse, not one of shape {self.shape}"
            )
        return self.view(np.ndarray)

    def cast(self, dtype: ScalarType) -> Any:
        """Return the components converted to another type, as in kernels."""
        return host_vector(dtype, self.shape, self)

    def __repr__(self) -> str:
        dtype = BY_DTYPE.get(self.dtype.str)
        if dtype is None or self.ndim not in (1, 2):
            return repr(self.view(np.ndarray))
        kind = f"{'vec' if self.ndim == 1 else 'mat'}({', '.join(map(str, self.shape))}, {dtype})"
        return f"{kind}({', '.join(map(str, self.tolist()))})"


def host_vector(dtype: ScalarType, shape: tuple[int, ...], *args: Any) -> HostVector:
    """Return a vector or matrix of all components, of rows, of another vector, or of one number for all components.

    Several vectors and numbers stand for the components of a vector, in order.

    Raises:
        TypeError: A component is not a number.
        ValueError: The components have another shape.
        OverflowError: An integer is outside of the range of the type.
    """
    if len(shape) == 1 and len(args) > 1:
        args = tuple(
            number for each in args for number in (each if isinstance(each, HostVector) else (each,))
        )
    given = np.array(args[0] if len(args) == 1 else args, object)
    if given.shape == ():
        given = np.full(shape, given[()], object)
    if given.shape not in (shape, (math.prod(shape),)):
        raise ValueError(
            f"a vector or matrix of shape {shape} is made of components of the shape {given.shape}: give "
            "all components, or one number for all of them"
        )
    numbers = [component(dtype, each) for each in given.flat]
    return np.array(numbers, scalar(0, dtype).dtype).reshape(shape).view(HostVector)


def component(dtype: ScalarType, value: Any) -> Any:
    """Return one component, converted as in kernels."""
    if isinstance(value, (float, np.floating)):
        return cast(np.float64(value), f64, dtype)
    if not isinstance(value, (int, np.integer, np.bool_)):
        raise TypeError(f"a component is a number, not {value!r} ({type(value).__name__})")
    if dtype.kind in ("int", "uint") and not dtype.minimum <= value <= dtype.maximum:
        raise OverflowError(f"{dtype} takes values from {dtype.minimum} to {dtype.maximum}, got {value}")
    return scalar(bool(value) if dtype.kind == "bool" else value, dtype)
