# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Members of arrays of structures in the layout "aos", on the host.

Such a member is no array: its numbers do not follow one another. Reads and writes of a member go through whole
elements. Kernels name the member itself, `particles[i].mass` or `particles.mass[i]`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from cuda_graphs.compiler.ir.types import ScalarType
from cuda_graphs.compiler.language.annotations import VectorType
from cuda_graphs.compiler.language.structs import is_struct, struct_members

from .struct_values import host_struct_dtype, record_of, scalar_of

__all__ = ["PackedMember"]


class PackedMember:
    """A member of all elements of an array of structures, `x.mass`.

    Attributes:
        owner: The array of structures.
        path: The names that lead to the member.
        kind: The type of the member: a scalar type, a vector type or a dataclass.
    """

    def __init__(self, owner: Any, path: tuple[str, ...]) -> None:
        self.owner, self.path = owner, path
        kind: Any = owner.cls
        for name in path:
            kind = struct_members(kind)[name]
        self.kind = kind

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the array of structures."""
        shape: tuple[int, ...] = self.owner.shape
        return shape

    @property
    def ndim(self) -> int:
        """The number of indices of an element."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    @property
    def dtype(self) -> ScalarType | np.dtype[Any]:
        """The type of the numbers, or NumPy's structured type of a dataclass."""
        return host_struct_dtype(self.kind) if is_struct(self.kind) else scalar_of(self.kind)

    @property
    def element_shape(self) -> tuple[int, ...]:
        """The shape of an element: () for numbers and structures."""
        return tuple(self.kind.shape) if isinstance(self.kind, VectorType) else ()

    @property
    def grad(self) -> PackedMember | None:
        """The gradients of the member; None without any."""
        return None if self.owner.grad is None else PackedMember(self.owner.grad, self.path)

    def __len__(self) -> int:
        return len(self.owner)

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def __getattr__(self, name: str) -> Any:
        kind = self.__dict__.get("kind")
        if kind is None or not is_struct(kind) or name not in struct_members(kind):
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
        return PackedMember(self.owner, (*self.path, name))

    def __getitem__(self, index: Any) -> Any:
        if not self.owner._is_element(index):
            return PackedMember(self.owner._part(index), self.path)
        found = self.owner[index]
        for name in self.path:
            found = getattr(found, name)
        return found

    def __setitem__(self, index: Any, value: Any) -> None:
        if not self.owner._is_element(index):
            self[index]._set_all(value)
            return
        stored = self.owner._stored(index)
        self._in(stored)[...] = self._element(value)
        self.owner._store(index, stored)

    def to_numpy(self) -> np.ndarray[Any, Any]:
        """Return a copy as an array of NumPy. Waits for the device first."""
        return np.ascontiguousarray(self._in(self.owner.to_numpy()))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        return self.to_numpy().astype(dtype, copy=False) if dtype is not None else self.to_numpy()

    def from_numpy(self, values: Any) -> None:
        """Copy an array of NumPy with the shape of the array and of an element. The other members stay.

        Raises:
            ValueError: `values` has another shape.
        """
        if np.shape(values) != (*self.shape, *self.element_shape):
            raise ValueError(
                f"values have the shape {np.shape(values)}, but {self!r} takes {(*self.shape, *self.element_shape)}"
            )
        self._set(values)

    def fill(self, value: Any) -> None:
        """Set the member of every element to a value."""
        self._set(self._element(value))

    def copy_from(self, other: Any) -> None:
        """Copy another array or member of the same shape."""
        self.from_numpy(other.to_numpy())

    def _set_all(self, value: Any) -> None:
        """Set the member to those of an array of the same shape, or to one value."""
        if hasattr(value, "to_numpy"):
            self.copy_from(value)
        elif np.shape(value) == (*self.shape, *self.element_shape) and not is_struct(self.kind):
            self.from_numpy(value)
        else:
            self.fill(value)

    def _set(self, values: Any) -> None:
        whole = self.owner.to_numpy()
        self._in(whole)[...] = values
        self.owner.from_numpy(whole)

    def _in(self, structured: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Return the view of the member in a structured array."""
        for name in self.path:
            structured = structured[name]
        return structured

    def _element(self, value: Any) -> Any:
        """Return a value as an element of NumPy's type, checked as the elements of arrays are."""
        if is_struct(self.kind):
            return record_of(self.kind, value)
        shape = self.element_shape or (1,)
        made = VectorType(scalar_of(self.kind), shape)(value).view(np.ndarray)
        return made if self.element_shape else made[0]

    def __repr__(self) -> str:
        return f"<member {'.'.join(self.path)} of {self.owner!r}>"
