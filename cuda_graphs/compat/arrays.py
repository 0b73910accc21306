# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Arrays and fields with the members that the peers' have: objects of the library, which take further attributes."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

import cuda_graphs as cg
from cuda_graphs.compiler.language.annotations import VectorType
from cuda_graphs.compiler.language.host_vectors import HostVector
from cuda_graphs.kernels.arrays.creation import field_maker, make_elements
from cuda_graphs.kernels.arrays.ndarray import number_array
from cuda_graphs.kernels.arrays.struct_array import StructArray, StructField

from .absent import DENSE_MEMBERS, OTHER_MEMBERS, AbsentMember
from .elements import converted, peer_type, structure_element, vector_element

__all__ = ["PeerField", "PeerNdarray", "PeerStructArray", "PeerStructField", "make_field", "make_ndarray"]


class PeerMembers:
    """The members of the peers' arrays and fields that those of the library lack, or that have further arguments."""

    def __getitem__(self, index: Any) -> Any:
        index = plain_index(index)
        found = super().__getitem__(index)  # type: ignore[misc]
        if isinstance(found, HostVector):
            return vector_element(found, lambda changed: self.__setitem__(index, changed))
        return found

    def __setitem__(self: Any, index: Any, value: Any) -> None:
        super().__setitem__(plain_index(index), converted(self.dtype, value))  # type: ignore[misc]

    def fill(self: Any, value: Any) -> None:
        """Set all elements to a number or vector. Numbers become those of the array: 2.9 is 2 in integers."""
        super().fill(converted(self.dtype, value))  # type: ignore[misc]

    def copy_from(self: Any, other: Any) -> None:
        """Copy the elements of a field or array of the same shape. Numbers become those of this one.

        Raises:
            TypeError: `other` is no field or array.
            ValueError: `other` has another shape.
        """
        other = other.placed() if hasattr(other, "placed") else other
        if isinstance(other, cg.NDArray) and other.dtype != self.dtype:
            self.from_numpy(other.to_numpy())
        else:
            super().copy_from(other)  # type: ignore[misc]

    @property
    def element_type(self: Any) -> Any:
        """The type of the elements: that of numbers, vectors or matrices."""
        return peer_type(VectorType(self.dtype, self.element_shape)) if self.element_shape else self.dtype

    @property
    def n(self: Any) -> int:
        """The number of components of the vectors, or of rows of the matrices."""
        return extent_of(self, 0)

    @property
    def m(self: Any) -> int:
        """The number of columns of the matrices; 1 for vectors."""
        return extent_of(self, 1)

    @property
    def layout(self: Any) -> None:
        """The order of the axes in memory; None: C order, as everywhere here."""

    def has_grad(self: Any) -> bool:
        return bool(self.needs_grad)

    def has_dual(self: Any) -> bool:
        return bool(self.needs_dual)

    def to_dlpack(self: Any, versioned: bool = False) -> Any:
        """Return a capsule of the memory."""
        return self.__dlpack__(max_version=(1, 0) if versioned else None)

    def to_numpy(self, dtype: Any = None, *, copy: bool | None = True) -> Any:
        """Return the elements as an array of NumPy, converted to `dtype`. Without a copy it shares the memory."""
        found = super().to_numpy(copy=copy)  # type: ignore[misc]
        return found if dtype is None else found.astype(dtype, copy=False)

    def to_torch(self, device: Any = None, *, copy: bool | None = True) -> Any:
        """Return the elements as a tensor of PyTorch on `device`. Without a copy it shares the memory.

        Raises:
            ValueError: `copy` is False, and the memory is on another device.
        """
        shared = super().to_torch(copy=False)  # type: ignore[misc]
        found = shared if device is None else shared.to(device)
        if copy is False and found.device != shared.device:
            raise ValueError(
                f"to_torch(copy=False): the elements are on {shared.device}, not on {found.device}"
            )
        return found.clone() if copy and found is shared else found


for absent, why in DENSE_MEMBERS.items():
    setattr(PeerMembers, absent, AbsentMember(absent, why))
for path, spelling in OTHER_MEMBERS.items():
    absent = path.rpartition(".")[2]
    setattr(PeerMembers, absent, AbsentMember(absent, f"use {spelling}"))


class PeerNdarray(PeerMembers, cg.NDArray):  # type: ignore[misc]
    """An array with the peers' members."""


class FieldMembers(PeerMembers):
    """The members of the peers' fields. Other libraries get matrices of one column as vectors, unless `keep_dims`."""

    def to_numpy(self, dtype: Any = None, *, keep_dims: bool = False, copy: bool | None = True) -> Any:
        """Return the elements as an array of NumPy, converted to `dtype`. Without a copy it shares the memory.

        Args:
            keep_dims: Vectors are matrices of one column in the result.
        """
        return self._columns(super().to_numpy(dtype, copy=copy), keep_dims)

    def to_torch(self, device: Any = None, *, keep_dims: bool = False, copy: bool | None = True) -> Any:
        """Return the elements as a tensor of PyTorch on `device`. `keep_dims` and `copy` are those of `to_numpy`."""
        return self._columns(super().to_torch(device, copy=copy), keep_dims)

    def from_numpy(self, values: Any) -> None:
        """Copy the elements of an array of NumPy. Vectors may be matrices of one column in it, and the reverse."""
        super().from_numpy(self._stored(values))  # type: ignore[misc]

    def from_torch(self, tensor: Any) -> None:
        """Copy the elements of a tensor of PyTorch, as `from_numpy` does."""
        super().from_torch(self._stored(tensor))  # type: ignore[misc]

    def _columns(self: Any, found: Any, keep_dims: bool) -> Any:
        """Return vectors and matrices of one column in the form of matrices, or of vectors."""
        rows, *columns = self.element_shape or (0, 0)
        return found.reshape((*self.shape, rows, *[1] * keep_dims)) if columns in ([], [1]) else found

    def _stored(self: Any, values: Any) -> Any:
        """Return values for vectors or for matrices of one column in the shape of this field."""
        rows, *columns = self.element_shape or (0, 0)
        column = (*self.shape, rows)
        is_column = columns in ([], [1]) and getattr(values, "shape", None) in (column, (*column, 1))
        return values.reshape(self.shape + self.element_shape) if is_column else values

    def __str__(self) -> str:
        return str(self.to_numpy())


class PeerPartner(FieldMembers, cg.NDArray):  # type: ignore[misc]
    """The gradient of a field, with the members of the field."""


class PeerField(FieldMembers, cg.Field):  # type: ignore[misc]
    """A field with the peers' members."""

    _partner_class = PeerPartner


class PeerStructMembers:
    """The members of the peers' structures of arrays."""

    def __getitem__(self: Any, index: Any) -> Any:
        index = plain_index(index)
        found = super().__getitem__(index)  # type: ignore[misc]
        if isinstance(found, StructArray):
            return with_peer_members(found)
        return structure_element(found, self.cls, lambda changed: self.__setitem__(index, changed))

    def __setitem__(self: Any, index: Any, value: Any) -> None:
        super().__setitem__(plain_index(index), converted(self.cls, value))  # type: ignore[misc]

    def fill(self: Any, value: Any) -> None:
        """Set all elements to a structure, or to a dict of its members, or all numbers to a number."""
        super().fill(converted(self.cls, value))  # type: ignore[misc]

    def to_numpy(self: Any) -> dict[str, Any]:
        """Return a copy of the members as arrays of NumPy, by name."""
        return {name: member.to_numpy() for name, member in self.members.items()}

    def from_numpy(self: Any, values: Any) -> None:
        """Copy arrays of NumPy to the members. `values` has them by name, as a dict or a structured array."""
        for name, member in self.members.items():
            member.from_numpy(values[name])

    def get_member_field(self: Any, name: str) -> Any:
        """Return the field of a member."""
        return self.members[name]

    @property
    def keys(self: Any) -> list[str]:
        """The names of the members."""
        return list(self.members)

    def __str__(self) -> str:
        return str(self.to_numpy())


class PeerStructArray(PeerStructMembers, StructArray):  # type: ignore[misc]
    """An array of structures with the peers' members."""


class PeerStructField(PeerStructMembers, StructField):  # type: ignore[misc]
    """A field of structures with the peers' members."""


def with_peer_members(found: StructArray) -> StructArray:
    """Give an array or field of structures, and those inside it, the peers' members."""
    found.__class__ = PeerStructField if isinstance(found, StructField) else PeerStructArray
    for each in found.members.values():
        if isinstance(each, StructArray):
            with_peer_members(each)
    return found


def plain_index(index: Any) -> Any:
    """Return an index, which the peers also take as a vector of ints, or None for no index."""
    return () if index is None else tuple(index.tolist()) if isinstance(index, HostVector) else index


def plain_shape(shape: Any) -> Any:
    """Return a shape, which the peers also take as a list, a vector or an array of NumPy."""
    return tuple(shape.tolist()) if isinstance(shape, np.ndarray) and shape.ndim else shape


def extent_of(array: Any, axis: int) -> int:
    """Return an extent of the vectors or matrices of an array.

    Raises:
        AttributeError: The elements are numbers.
    """
    if not array.element_shape:
        raise AttributeError(f"{array!r} has numbers, which have no rows and columns")
    return int((*array.element_shape, 1)[axis])


def peer_elements(made: Any) -> Any:
    return with_peer_members(made) if isinstance(made, StructArray) else made


PeerNdarray._partner_class = PeerNdarray  # type: ignore[attr-defined]
PeerPartner._partner_class = PeerPartner  # type: ignore[attr-defined]


def make_ndarray(dtype: Any, shape: Any, needs_grad: bool = False) -> Any:
    """Return an array. The arguments are those of `cg.ndarray`."""
    make = partial(number_array, cls=PeerNdarray)
    return peer_elements(make_elements(make, dtype, plain_shape(shape), needs_grad, False, None, None))


def make_field(
    dtype: Any, shape: Any, *, needs_grad: bool = False, needs_dual: bool = False, offset: Any = None
) -> Any:
    """Return a field. The arguments are those of `cg.field`."""
    make = field_maker(dtype, offset, PeerField)
    return peer_elements(make_elements(make, dtype, plain_shape(shape), needs_grad, needs_dual, None, None))
