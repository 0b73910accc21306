# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The types of functions of the language that have several signatures, for type checkers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Protocol, overload

if TYPE_CHECKING:
    from .declarations import Array, Array1, Array2, Array3, D, E, Matrix, N, T, V, Vector

__all__ = ["Cast", "FloatFunction", "MakeVector", "Predicate", "Random", "Rounding", "SharedArray"]


class FloatFunction(Protocol):
    """The type of `sqrt` and the like: an integer becomes a float, a vector or matrix one of its kind."""

    @overload
    def __call__(self, x: float) -> float: ...
    @overload
    def __call__(self, x: V) -> V: ...


class Rounding(Protocol):
    """The type of `floor` and the like, whose result may have another type."""

    @overload
    def __call__(self, x: float, dtype: None = None) -> float: ...
    @overload
    def __call__(self, x: float, dtype: type[D]) -> D: ...
    @overload
    def __call__(self, x: Vector[N, T], dtype: None = None) -> Vector[N, T]: ...
    @overload
    def __call__(self, x: Vector[N, Any], dtype: type[D]) -> Vector[N, D]: ...


class Predicate(Protocol):
    """The type of `isnan` and `isinf`."""

    @overload
    def __call__(self, x: float) -> bool: ...
    @overload
    def __call__(self, x: Vector[N, Any]) -> Vector[N, bool]: ...


class Cast(Protocol):
    """The type of `cast` and `bit_cast`."""

    @overload
    def __call__(self, x: float, dtype: type[D]) -> D: ...
    @overload
    def __call__(self, x: Vector[N, Any], dtype: type[D]) -> Vector[N, D]: ...
    @overload
    def __call__(self, x: Matrix[Any, Any, Any], dtype: type[D]) -> Matrix[Any, Any, D]: ...


class Random(Protocol):
    """The type of `random` and `random_normal`."""

    @overload
    def __call__(self) -> float: ...
    @overload
    def __call__(self, dtype: type[D]) -> D: ...


class MakeVector(Protocol):
    """The type of `vector`. Vectors among the arguments give a vector or matrix of any size."""

    @overload
    def __call__(self, x: int, y: int, /) -> Vector[Literal[2], int]: ...
    @overload
    def __call__(self, x: float, y: float, /) -> Vector[Literal[2], float]: ...
    @overload
    def __call__(self, x: int, y: int, z: int, /) -> Vector[Literal[3], int]: ...
    @overload
    def __call__(self, x: float, y: float, z: float, /) -> Vector[Literal[3], float]: ...
    @overload
    def __call__(self, x: int, y: int, z: int, w: int, /) -> Vector[Literal[4], int]: ...
    @overload
    def __call__(self, x: float, y: float, z: float, w: float, /) -> Vector[Literal[4], float]: ...
    @overload
    def __call__(self, *components: Any) -> Any: ...


class SharedArray(Protocol):
    """The type of `block.shared_array`."""

    @overload
    def __call__(self, dtype: type[E], shape: int | tuple[int]) -> Array1[E]: ...
    @overload
    def __call__(self, dtype: type[E], shape: tuple[int, int]) -> Array2[E]: ...
    @overload
    def __call__(self, dtype: type[E], shape: tuple[int, int, int]) -> Array3[E]: ...
    @overload
    def __call__(self, dtype: type[E], shape: Any) -> Array[E]: ...
