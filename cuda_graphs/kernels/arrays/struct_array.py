# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Arrays and fields of structures: `cg.ndarray(Particle, n)` and `cg.field(Particle, n, layout="aos")`.

In the layout "soa" each member is an array of its own. In the layout "aos" there is one array of bytes, and each type
of numbers has a view of all of it (compiler/language/structs.py).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from cuda_graphs.compiler.ir.types import ScalarType, u8
from cuda_graphs.compiler.language.annotations import StructArraySpec, VectorType
from cuda_graphs.compiler.language.signature import struct_array_spec
from cuda_graphs.compiler.language.structs import LAYOUTS, is_struct, struct_dtype, struct_members
from cuda_graphs.objects.memory.array_shape import accept_shape, has_gaps, select
from cuda_graphs.objects.memory.array_view import packed_strides

from .ndarray import Field, NDArray, number_array, number_field
from .packed_member import PackedMember
from .packed_views import packed_view
from .struct_values import (
    converted,
    device_struct_dtype,
    element_of,
    element_type,
    host_struct_dtype,
    is_structured,
    record_of,
    scalar_of,
)

__all__ = ["StructArray", "StructField", "make_struct_array"]


OWN_ATTRIBUTES = ("cls", "shape", "members", "dtype")


class StructArray:
    """An array whose elements are instances of a dataclass: an argument of kernels. `cg.ndarray` makes one.

    `x[i]` reads one element on the host, and `x[i] = Particle(...)` writes one. An element is a value: it does not
    change. A slice (`x[2:5]`, `x[i]` with fewer indices than dimensions) is an array that shares the memory; its
    elements must follow one another. `x.mass` is the array of a member. In the layout "aos" it is a PackedMember, which
    reads and writes the member on the host.

    Attributes:
        cls: The dataclass.
        shape: A tuple of ints.
        dtype: The structured type of NumPy; members of bf16 are float32 there.
        members: The arrays by name; with "aos" they hold all numbers of the member's type.
    """

    __cuda_graphs_struct_array__ = True

    def __init__(
        self,
        cls: type,
        shape: tuple[int, ...],
        members: dict[str, Any],
        whole: NDArray | None = None,
        parent: tuple[StructArray, Any] | None = None,
    ) -> None:
        """Make an array of its members.

        Args:
            whole: The bytes of the elements in the layout "aos".
            parent: Of a slice, the array and the index in it.
        """
        self.cls, self.shape, self.members, self.dtype = cls, shape, members, host_struct_dtype(cls)
        self._whole, self._parent = whole, parent
        self._derivatives: dict[str, StructArray] = {}

    @property
    def layout(self) -> str:
        """ "soa": each member has an array of its own; or "aos": one element follows the other."""
        return "soa" if self._whole is None else "aos"

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
        return any(each.needs_grad for each in self.members.values())

    @property
    def needs_dual(self) -> bool:
        """True if the array has a `dual`; every array with a gradient has a dual."""
        return any(each.needs_dual for each in self.members.values())

    @property
    def grad(self) -> StructArray | Any:
        """An array of the same structures, for the gradients of float members; None without `needs_grad`."""
        return self._derivative("grad")

    @property
    def dual(self) -> StructArray | Any:
        """An array of the same structures, for forward derivatives; None without `needs_dual` and `needs_grad`.

        The first access makes it, filled with zeros.
        """
        return self._derivative("dual")

    def _derivative(self, which: str) -> StructArray | None:
        if which not in self._derivatives:
            found = self._find_derivative(which)
            if found is None:
                return None
            self._derivatives[which] = found
        return self._derivatives[which]

    def _find_derivative(self, which: str) -> StructArray | None:
        """Return the array of the gradients or duals, whose members are those of the members."""
        if self._parent is not None:
            parent, index = self._parent
            found = parent._derivative(which)
            return None if found is None else found._part(index)
        own = {name: getattr(member, which) for name, member in self.members.items()}
        if all(each is None for each in own.values()):
            return None
        if self._whole is not None:
            # The derivatives of a field are arrays: a part of a field is one.
            whole = next(base_of(each) for each in own.values() if each is not None)[...]
            return packed(self.cls, self.shape, whole, None, False, {})
        members = {
            name: zeros_like(self.members[name]) if each is None else each for name, each in own.items()
        }
        return StructArray(self.cls, self.shape, members)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError(f"{self!r} has no length: it has no dimensions")
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def __setattr__(self, name: str, value: Any) -> None:
        if not name.startswith("_") and name not in OWN_ATTRIBUTES:
            is_member = name in self.members
            remedy = (
                f"x.{name}.fill(value) writes it"
                if is_member
                else f"its members are {', '.join(self.members)}"
            )
            raise AttributeError(f"{name!r} of {self!r} cannot be assigned: {remedy}")
        super().__setattr__(name, value)

    def __getattr__(self, name: str) -> Any:
        members = self.__dict__.get("members", {})
        if name not in members:
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
        return members[name] if self._whole is None else PackedMember(self, (name,))

    def to_numpy(self) -> np.ndarray[Any, Any]:
        """Return a copy as a structured array of NumPy, with the members as fields. Waits for the device first."""
        if self._whole is not None:
            stored = self._whole.to_numpy().view(device_struct_dtype(self.cls)).reshape(self.shape)
            return converted(stored, self.dtype)
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
        if not is_structured(values) or set(values.dtype.names or ()) != set(self.members):
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
        stored = np.ascontiguousarray(converted(values, device_struct_dtype(self.cls)))
        self._whole.from_numpy(stored.reshape(-1).view(np.uint8).reshape(self._whole.shape))

    def fill(self, value: Any) -> None:
        """Set every element to an instance of the dataclass, or every number to a number.

        The members are filled one by one, and can be in a capture. With the layout "aos" the host writes the elements.
        """
        record = record_of(self.cls, value)
        if self._whole is not None:
            self.from_numpy(np.full(self.shape, record))
            return
        for name, member in self.members.items():
            member.fill(getattr(value, name) if isinstance(value, self.cls) else value)

    def copy_from(self, other: StructArray) -> None:
        """Copy the elements of another array of the same dataclass and shape.

        The host copies between arrays of different layouts. Other copies can be in a capture.

        Raises:
            ValueError: `other` has another dataclass or shape.
        """
        if (getattr(other, "cls", None), getattr(other, "shape", None)) != (self.cls, self.shape):
            raise ValueError(
                f"elements of {other!r} cannot be copied to {self!r}: dataclass and shape must be the same"
            )
        if self._whole is not None and other._whole is not None:
            self._whole.copy_from(other._whole)
        elif self._whole is None and other._whole is None:
            for name, member in self.members.items():
                member.copy_from(other.members[name])
        else:
            self.from_numpy(other.to_numpy())

    def __getitem__(self, index: Any) -> Any:
        if not self._is_element(index):
            return self._part(index)
        if self._whole is not None:
            return element_of(self.cls, self._stored(index)[0])
        return element_type(self.cls).made({name: member[index] for name, member in self.members.items()})

    def __setitem__(self, index: Any, value: Any) -> None:
        if not self._is_element(index):
            assign(self._part(index), value)
            return
        record = record_of(self.cls, value)
        if self._whole is not None:
            self._store(index, np.array([record], self.dtype))
            return
        element = element_of(self.cls, record)
        for name, member in self.members.items():
            member[index] = getattr(element, name)

    def _stored(self, index: Any) -> np.ndarray[Any, Any]:
        """Return one element in the layout "aos", as an array of one element of NumPy."""
        return converted(self._bytes(index).to_numpy().view(device_struct_dtype(self.cls)), self.dtype)

    def _store(self, index: Any, values: np.ndarray[Any, Any]) -> None:
        part = self._bytes(index)
        stored = converted(values, device_struct_dtype(self.cls))
        part.from_numpy(stored.view(np.uint8).reshape(part.shape))

    def _bytes(self, index: Any) -> Any:
        """Return the bytes of one element in the layout "aos"."""
        return self._whole[index] if self.shape and self._whole is not None else self._whole

    def _is_element(self, index: Any) -> bool:
        """Return True for the index of one element, False for an index with slices."""
        indices = index if isinstance(index, tuple) else (index,)
        return len(indices) == len(self.shape) and not any(
            isinstance(each, slice) or each is ... for each in indices
        )

    def _part(self, index: Any) -> StructArray:
        """Return an array that shares the memory of the elements at an index with slices."""
        size = device_struct_dtype(self.cls).itemsize
        _, shape, strides = select(self.__repr__, index, self.shape, packed_strides(self.shape, size))
        if has_gaps(shape, strides, size):
            raise ValueError(
                f"the elements of {self!r} at this index are not next to each other in C order, as those of an array "
                "are: index a copy (to_numpy), or write the loop in a kernel"
            )
        indices = index if isinstance(index, tuple) else (index,)
        if self._whole is None:
            members = {name: part_of(member, indices) for name, member in self.members.items()}
            return StructArray(self.cls, shape, members, None, (self, index))
        rows = (*indices, slice(None))  # all bytes of each element
        grad = self.grad
        part_of_grad = None if grad is None or grad._whole is None else grad._whole[rows]
        return packed(self.cls, shape, self._whole[rows], part_of_grad, self.needs_dual, {}, (self, index))

    def __reduce__(self) -> Any:
        kinds = isinstance(self, StructField), self.layout, self.needs_grad, self.needs_dual
        grad, dual = (None if each is None else each.to_numpy() for each in (self.grad, self.dual))
        return rebuilt, (self.cls, *kinds, self.to_numpy(), grad, dual)

    def __repr__(self) -> str:
        kind = " needs_grad=True" if self.needs_grad else " needs_dual=True" if self.needs_dual else ""
        return f"<{type(self).__name__} {self.cls.__name__} shape={self.shape} layout={self.layout!r}{kind}>"


class StructField(StructArray):
    """An array of structures whose addresses and shape are constants of kernels. `cg.field` makes one."""

    @property
    def __cuda_graphs_field__(self) -> StructArraySpec:
        """The compiler's description of the field."""
        return struct_array_spec(self, "field")


def make_struct_array(
    make: Callable[..., NDArray],
    cls: Any,
    shape: Any,
    layout: str,
    needs_grad: bool,
    needs_dual: bool,
    device: Any,
) -> StructArray:
    """Return an array or field of structures; `make` makes those of numbers and vectors.

    Raises:
        TypeError: A member of the dataclass cannot be an element of an array, or `needs_grad` or `needs_dual` is set
            and no member is a float.
        ValueError: `layout` is unknown.
    """
    if layout not in LAYOUTS:
        raise ValueError(f"layout is 'soa' or 'aos', not {layout!r}")
    struct_members(cls)
    if (needs_grad or needs_dual) and not has_floats(cls):
        raise TypeError(
            f"an array of {cls.__name__} has no gradient: needs_grad and needs_dual are for floats, and no member is "
            "one"
        )
    shape = accept_shape(shape)
    if layout == "soa":
        return separate(make, cls, shape, needs_grad, needs_dual, device)
    bytes_ = (*shape, struct_dtype(cls).itemsize)
    grad = make(u8, bytes_, False, False, device) if needs_grad else None
    return packed(cls, shape, make(u8, bytes_, False, False, device), grad, needs_grad or needs_dual, {})


def separate(
    make: Callable[..., NDArray],
    cls: Any,
    shape: tuple[int, ...],
    needs_grad: bool,
    needs_dual: bool,
    device: Any,
) -> StructArray:
    """Return an array of structures with an array for each member."""
    members: dict[str, Any] = {}
    for name, kind in struct_members(cls).items():
        if is_struct(kind):
            members[name] = separate(make, kind, shape, needs_grad, needs_dual, device)
        else:
            is_float = scalar_of(kind).kind == "float"
            members[name] = make(kind, shape, needs_grad and is_float, needs_dual and is_float, device)
    whole_class = StructField if is_field(members) else StructArray
    return whole_class(cls, shape, members)


def packed(
    cls: Any,
    shape: tuple[int, ...],
    whole: NDArray,
    grad: NDArray | None,
    needs_dual: bool,
    views: dict[ScalarType, NDArray],
    parent: tuple[StructArray, Any] | None = None,
) -> StructArray:
    """Return an array of structures in memory of bytes. `views` has the view of each type of numbers."""
    members: dict[str, Any] = {}
    for name, kind in struct_members(cls).items():
        if is_struct(kind):
            members[name] = packed(kind, shape, whole, grad, needs_dual, views)
            continue
        scalar = scalar_of(kind)
        if scalar not in views:
            is_float = scalar.kind == "float"
            views[scalar] = packed_view(whole, scalar, grad if is_float else None, needs_dual and is_float)
        members[name] = views[scalar]
    whole_class = StructField if isinstance(whole, Field) else StructArray
    return whole_class(cls, shape, members, whole, parent)


def is_field(members: dict[str, Any]) -> bool:
    return isinstance(next(iter(members.values())), (Field, StructField))


def has_floats(cls: Any) -> bool:
    """Return True if a dataclass has a member of floats, at any depth."""
    return any(
        has_floats(kind) if is_struct(kind) else scalar_of(kind).kind == "float"
        for kind in struct_members(cls).values()
    )


def base_of(member: Any) -> Any:
    """Return the bytes that hold a member in the layout "aos"."""
    return member._whole if isinstance(member, StructArray) else member.base


def zeros_like(member: Any) -> Any:
    """Return the place of a member without floats in an array of derivatives."""
    if isinstance(member, StructArray):
        members = {name: zeros_like(each) for name, each in member.members.items()}
        return StructArray(member.cls, member.shape, members)
    kind = VectorType(member.dtype, member.element_shape) if member.element_shape else member.dtype
    return number_array(kind, member.shape, False, False, member.device)


def part_of(member: Any, indices: tuple[Any, ...]) -> Any:
    """Return the part of a member's array at an index with slices."""
    return member._part(indices) if isinstance(member, StructArray) else member[indices]


def assign(part: StructArray, value: Any) -> None:
    """Set the elements of a part of an array: to those of another array, or to one value."""
    if isinstance(value, StructArray):
        part.copy_from(value)
    elif is_structured(value):
        part.from_numpy(np.broadcast_to(value, part.shape))
    else:
        part.fill(value)


def rebuilt(
    cls: Any,
    is_of_field: bool,
    layout: str,
    needs_grad: bool,
    needs_dual: bool,
    values: Any,
    grad: Any,
    dual: Any,
) -> StructArray:
    """Return the array from its pickled parts."""
    make = number_field if is_of_field else number_array
    found = make_struct_array(make, cls, values.shape, layout, needs_grad, needs_dual, None)
    for to, each in ((found, values), (found.grad, grad), (found.dual, dual)):
        if to is not None and each is not None:
            to.from_numpy(each)
    return found
