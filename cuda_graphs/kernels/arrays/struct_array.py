# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Arrays and fields of structures: `cg.ndarray(Particle, n)` and `cg.field(Particle, n, layout="aos")`.

In the layout "soa" each member is an array of its own. In the layout "aos" there is one array of bytes, and each type
of numbers has a view of all of it (compiler/language/structs.py).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from cuda_graphs.compiler.ir.types import ScalarType, u8
from cuda_graphs.compiler.language.annotations import StructArraySpec, VectorType
from cuda_graphs.compiler.language.host_vectors import HostVector
from cuda_graphs.compiler.language.signature import struct_array_spec
from cuda_graphs.compiler.language.structs import LAYOUTS, is_struct, struct_dtype, struct_members
from cuda_graphs.objects.memory.array_shape import accept_shape

from .ndarray import Field, NDArray, packed_view

__all__ = ["StructArray", "StructField", "make_struct_array"]


class StructArray:
    """An array whose elements are instances of a dataclass: an argument of kernels. `cg.ndarray` makes one.

    `x[i]` reads one element on the host, and `x[i] = Particle(...)` writes one. An element is a value: it does not
    change. `x.mass` is the array of a member, if each member has an array of its own (`layout="soa"`).

    Attributes:
        cls: The dataclass.
        layout: "soa" or "aos".
        shape: A tuple of ints.
        dtype: The structured type of NumPy.
        members: The arrays by name; with "aos" they hold all numbers of the member's type.
        grad: An array of the same structures, for gradients; None without `needs_grad`.
    """

    __cuda_graphs_struct_array__ = True

    def __init__(
        self,
        cls: type,
        layout: str,
        shape: tuple[int, ...],
        members: dict[str, Any],
        whole: NDArray | None,
        grad: StructArray | None,
    ) -> None:
        self.cls, self.layout, self.shape, self.members, self.grad = cls, layout, shape, members, grad
        self.dtype, self._whole = struct_dtype(cls), whole

    @property
    def ndim(self) -> int:
        """The number of indices of an element."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    @property
    def needs_grad(self) -> bool:
        """True if the array has a `grad`."""
        return self.grad is not None

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError(f"{self!r} has no length: it has no dimensions")
        return self.shape[0]

    def __getattr__(self, name: str) -> Any:
        members = self.__dict__.get("members", {})
        if name not in members:
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
        if self.layout == "aos":
            raise AttributeError(
                f"the member {name!r} of {self!r} is no array of its own: use to_numpy()[{name!r}], or layout='soa'"
            )
        return members[name]

    def to_numpy(self) -> np.ndarray[Any, Any]:
        """Return a copy as a structured array of NumPy, with the members as fields. Waits for the device first."""
        if self._whole is not None:
            return self._whole.to_numpy().view(self.dtype).reshape(self.shape)
        found = np.zeros(self.shape, self.dtype)
        for name, member in self.members.items():
            found[name] = member.to_numpy()
        return found

    def from_numpy(self, values: np.ndarray[Any, Any]) -> None:
        """Copy the elements of a structured array of NumPy with the same shape and names of fields, in any order.

        Raises:
            TypeError: `values` is not a structured array with these fields.
            ValueError: `values` has another shape.
        """
        names = getattr(getattr(values, "dtype", None), "names", None)
        if not isinstance(values, np.ndarray) or names is None or set(names) != set(self.members):
            raise TypeError(
                f"values must be a structured array of NumPy with the fields {', '.join(self.members)}, got "
                f"{getattr(values, 'dtype', type(values).__name__)}"
            )
        if values.shape != self.shape:
            raise ValueError(f"values have the shape {values.shape}, but {self!r} takes {self.shape}")
        if self._whole is None:
            for name, member in self.members.items():
                member.from_numpy(np.ascontiguousarray(values[name]))
            return
        ordered = np.zeros(self.shape, self.dtype)
        copy_fields(ordered, values)
        self._whole.from_numpy(ordered.reshape(-1).view(np.uint8).reshape(self._whole.shape))

    def fill(self, value: Any) -> None:
        """Set every element to an instance of the dataclass, or every number to a number."""
        self.from_numpy(np.full(self.shape, record_of(self.cls, value)))

    def copy_from(self, other: StructArray) -> None:
        """Copy the elements of another array of the same dataclass and shape.

        Raises:
            ValueError: `other` has another dataclass or shape.
        """
        if (getattr(other, "cls", None), getattr(other, "shape", None)) != (self.cls, self.shape):
            raise ValueError(
                f"elements of {other!r} cannot be copied to {self!r}: dataclass and shape must be the same"
            )
        self.from_numpy(other.to_numpy())

    def __getitem__(self, index: Any) -> Any:
        self._require_element(index)
        if self._whole is not None:
            part = self._whole[index] if self.shape else self._whole
            return element_of(self.cls, part.to_numpy().view(self.dtype)[0])
        return element_type(self.cls).made({name: member[index] for name, member in self.members.items()})

    def __setitem__(self, index: Any, value: Any) -> None:
        self._require_element(index)
        record = record_of(self.cls, value)
        if self._whole is not None:
            part = self._whole[index] if self.shape else self._whole
            part.from_numpy(np.array([record]).view(np.uint8))
            return
        element = element_of(self.cls, record)
        for name, member in self.members.items():
            member[index] = getattr(element, name)

    def _require_element(self, index: Any) -> None:
        indices = index if isinstance(index, tuple) else (index,)
        if len(indices) != len(self.shape) or any(isinstance(each, slice) or each is ... for each in indices):
            raise IndexError(
                f"{self!r} takes {len(self.shape)} ints, which are the index of one element, not {index!r}: slice "
                "an array of a member, or to_numpy()"
            )

    def __repr__(self) -> str:
        grad = " needs_grad=True" if self.needs_grad else ""
        return f"<{type(self).__name__} {self.cls.__name__} shape={self.shape} layout={self.layout!r}{grad}>"


class StructField(StructArray):
    """An array of structures whose addresses and shape are constants of kernels. `cg.field` makes one."""

    @property
    def __cuda_graphs_field__(self) -> StructArraySpec:
        """The compiler's description of the field."""
        return struct_array_spec(self, "field")


def make_struct_array(
    make: Callable[..., NDArray], cls: Any, shape: Any, layout: str, needs_grad: bool, device: Any
) -> StructArray:
    """Return an array or field of structures; `make` makes those of numbers and vectors.

    Raises:
        TypeError: A member of the dataclass cannot be an element of an array.
        ValueError: `layout` is unknown.
    """
    if layout not in LAYOUTS:
        raise ValueError(f"layout is 'soa' or 'aos', not {layout!r}")
    struct_members(cls)
    shape = accept_shape(shape)
    if layout == "soa":
        return separate(make, cls, shape, needs_grad, device)
    bytes_ = (*shape, struct_dtype(cls).itemsize)
    grad = make(u8, bytes_, False, False, device) if needs_grad else None
    return packed(cls, shape, make(u8, bytes_, False, False, device), grad, {})


def separate(
    make: Callable[..., NDArray], cls: Any, shape: tuple[int, ...], needs_grad: bool, device: Any
) -> StructArray:
    """Return an array of structures with an array for each member."""
    members: dict[str, Any] = {}
    for name, kind in struct_members(cls).items():
        if is_struct(kind):
            members[name] = separate(make, kind, shape, needs_grad, device)
        else:
            members[name] = make(kind, shape, needs_grad and scalar_of(kind).kind == "float", False, device)
    whole_class = StructArray if not is_field(members) else StructField
    grads = {name: member.grad for name, member in members.items() if member.grad is not None}
    grad = StructArray(cls, "soa", shape, grads, None, None) if grads else None
    return whole_class(cls, "soa", shape, members, None, grad)


def packed(
    cls: Any, shape: tuple[int, ...], whole: NDArray, grad: NDArray | None, views: dict[ScalarType, NDArray]
) -> StructArray:
    """Return an array of structures in memory of bytes. `views` has the view of each type of numbers."""
    members: dict[str, Any] = {}
    for name, kind in struct_members(cls).items():
        if is_struct(kind):
            members[name] = packed(kind, shape, whole, grad, views)
            continue
        scalar = scalar_of(kind)
        if scalar not in views:
            views[scalar] = packed_view(whole, scalar, grad if scalar.kind == "float" else None)
        members[name] = views[scalar]
    whole_class = StructField if isinstance(whole, Field) else StructArray
    gradient = None if grad is None else packed(cls, shape, grad, None, {})
    return whole_class(cls, "aos", shape, members, whole, gradient)


def is_field(members: dict[str, Any]) -> bool:
    return isinstance(next(iter(members.values())), (Field, StructField))


def scalar_of(kind: Any) -> ScalarType:
    found = kind.dtype if isinstance(kind, VectorType) else kind
    assert isinstance(found, ScalarType)
    return found


def copy_fields(to: np.ndarray[Any, Any], values: np.ndarray[Any, Any]) -> None:
    """Copy the fields of a structured array by their names."""
    for name in to.dtype.names or ():
        if to.dtype[name].names:
            copy_fields(to[name], values[name])
        else:
            to[name] = values[name]


def record_of(cls: Any, value: Any) -> Any:
    """Return an instance of a dataclass, or one number for all numbers, as an element of NumPy's structured type."""
    record = np.zeros((), struct_dtype(cls))
    fill_record(record, cls, value)
    return record[()]


def fill_record(record: Any, cls: Any, value: Any) -> None:
    if not isinstance(value, (cls, int, float)):
        raise TypeError(f"an element is a {cls.__name__}, got {value!r} ({type(value).__name__})")
    for name, kind in struct_members(cls).items():
        part = getattr(value, name) if isinstance(value, cls) else value
        if is_struct(kind):
            fill_record(record[name], kind, part)
        else:
            shape = kind.shape if isinstance(kind, VectorType) else (1,)
            made = VectorType(scalar_of(kind), shape)(part)
            record[name] = made.view(np.ndarray) if isinstance(kind, VectorType) else made[0]


def element_of(cls: Any, record: Any) -> Any:
    """Return an element of NumPy's structured type as an instance of the dataclass."""
    values: dict[str, Any] = {}
    for name, kind in struct_members(cls).items():
        if is_struct(kind):
            values[name] = element_of(kind, record[name])
        elif isinstance(kind, VectorType):
            values[name] = np.array(record[name]).view(HostVector)
        else:
            values[name] = record[name].item()
    return element_type(cls).made(values)


@cache
def element_type(cls: Any) -> Any:
    """Return the subclass of a dataclass whose instances do not change: a change would be lost with the copy."""

    def made(values: dict[str, Any]) -> Any:
        self = object.__new__(found)
        for name, value in values.items():
            object.__setattr__(self, name, value)
        return self

    def refuse(self: Any, name: str, value: Any) -> None:
        raise TypeError(
            f"{name!r} of an element cannot change: it is a copy. Assign the whole element: x[i] = {cls.__name__}(...)"
        )

    def equal(self: Any, other: Any) -> Any:
        if not isinstance(other, cls):
            return NotImplemented
        return all(np.array_equal(getattr(self, name), getattr(other, name)) for name in struct_members(cls))

    def replaced(self: Any) -> tuple[Any, ...]:
        return copy_of, (cls, {name: getattr(self, name) for name in struct_members(cls)})

    names = {"__setattr__": refuse, "__eq__": equal, "__hash__": None, "__reduce__": replaced}
    found: Any = type(
        cls.__name__, (cls,), {**names, "made": staticmethod(made), "__module__": cls.__module__}
    )
    return found


def copy_of(cls: Any, values: dict[str, Any]) -> Any:
    """Return the element with these values of members, from its pickled form."""
    return element_type(cls).made(values)
