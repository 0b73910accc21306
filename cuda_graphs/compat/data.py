# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Fields and arrays: the peers' constructors, which make objects of the library."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any
from weakref import WeakSet

from cuda_graphs.compiler.language.annotations import VectorType

from .arrays import make_field, make_ndarray
from .elements import PeerVectorType
from .program import settings

__all__ = ["Layout", "UnplacedField", "axes", "element_type", "field", "ndarray", "root"]


class Layout:
    """Orders of memory. Here members of structures are arrays of their own in both."""

    AOS, SOA = "aos", "soa"


def element_type(dtype: Any) -> Any:
    """Return an element type. `float`, `int` and vectors without a type have the default types of `init`."""
    if getattr(dtype, "is_open", False):
        return dtype[settings().default_fp]
    return {float: settings().default_fp, int: settings().default_ip}.get(dtype, dtype)


def field(
    dtype: Any,
    shape: Any = None,
    name: str = "",
    offset: Any = None,
    needs_grad: bool = False,
    needs_dual: bool = False,
    order: str | None = None,
    layout: Any = None,
) -> Any:
    """Return a field. Without a shape it gets one by `root.dense(...).place(field)`.

    `name`, `order` and `layout` change no result, and are ignored: elements are in C order.
    """
    dtype = element_type(dtype)
    options: dict[str, Any] = {"needs_grad": needs_grad, "needs_dual": needs_dual, "offset": offset}
    return UnplacedField(dtype, options) if shape is None else make_field(dtype, shape, **options)


def ndarray(dtype: Any, shape: Any, needs_grad: bool = False, layout: Any = None) -> Any:
    """Return an array. `layout` changes no result, and is ignored."""
    return make_ndarray(element_type(dtype), shape, needs_grad)


# Types of vectors and matrices make fields and arrays of themselves: `vec3.field(shape=8)`.
PeerVectorType.field, PeerVectorType.ndarray = field, ndarray


class UnplacedField:
    """A field that gets its shape after it was made. It passes all uses on to a field of the library."""

    def __init__(self, dtype: Any, options: dict[str, Any]) -> None:
        self.__dict__.update(element=dtype, options=options, found=None, extents=None)

    def place(self, shape: tuple[int, ...], offset: Any) -> None:
        """Give the field its shape. It gets memory at its first use, since it may get a gradient until then."""
        if self.extents is not None:
            raise RuntimeError(f"{self!r} is placed already")
        if offset is not None:
            self.options["offset"] = offset
        self.__dict__["extents"] = shape

    def add_partner(self, option: str) -> None:
        """Give a field without memory a gradient ("needs_grad") or a dual ("needs_dual").

        Raises:
            RuntimeError: The field has memory already.
        """
        if self.found is not None and not self.options[option]:
            raise RuntimeError(f"{self.found!r} was used without it: make the field with {option}=True")
        self.options[option] = True

    def placed(self) -> Any:
        """Return the field of the library."""
        if self.extents is None:
            raise RuntimeError(
                "the field has no shape yet: place it with root.dense(...).place(field), or give shape="
            )
        if self.found is None:
            self.__dict__["found"] = make_field(self.element, self.extents, **self.options)
        return self.found

    @property
    def grad(self) -> Any:
        """The gradient; before the field is placed, its place in root.dense(...).place(field, field.grad)."""
        return Partner(self, "needs_grad") if self.extents is None else self.placed().grad

    @property
    def dual(self) -> Any:
        """The dual; before the field is placed, its place, as that of the gradient."""
        return Partner(self, "needs_dual") if self.extents is None else self.placed().dual

    @property
    def __cuda_graphs_field__(self) -> Any:
        return self.placed().__cuda_graphs_field__

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.placed(), name)

    def __getitem__(self, index: Any) -> Any:
        return self.placed()[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        self.placed()[index] = value

    def __len__(self) -> int:
        return len(self.placed())

    def __str__(self) -> str:
        return repr(self) if self.extents is None else str(self.placed())

    def __repr__(self) -> str:
        return "<a field without a shape>" if self.extents is None else repr(self.placed())


class Partner:
    """The place of the gradient or dual of a field that has no shape yet."""

    def __init__(self, field: UnplacedField, option: str) -> None:
        self.field, self.option = field, option

    def place(self, shape: tuple[int, ...], offset: Any) -> None:
        """Give the field the partner, which has the shape of the field."""
        self.field.add_partner(self.option)


class Axes(tuple[int, ...]):
    """The axes that a layer of a layout has extents for."""


def axes(*numbers: int) -> Axes:
    """Return the axes with these numbers, as `i`, `ij` and so on are."""
    return Axes(numbers)


class Node:
    """A dense layer: the extents of the fields that are placed in it."""

    def __init__(self, extents: Mapping[int, int]) -> None:
        self.extents = dict(extents)

    def dense(self, axes: Axes, dimensions: int | tuple[int, ...]) -> Node:
        """Return a layer in this one. Extents of the same axis multiply."""
        sizes = (dimensions,) * len(axes) if isinstance(dimensions, int) else tuple(dimensions)
        if len(sizes) != len(axes):
            raise ValueError(f"{len(axes)} axes take {len(axes)} dimensions, not {len(sizes)}")
        found = dict(self.extents)
        for axis, size in zip(axes, sizes, strict=True):
            found[axis] = found.get(axis, 1) * size
        return Node(found)

    def place(self, *fields: Any, offset: Any = None) -> Node:
        """Give fields the shape of this layer, and the fields of their gradients too."""
        shape = tuple(self.extents[axis] for axis in sorted(self.extents))
        for each in fields:
            if not isinstance(each, (UnplacedField, Partner)):
                raise TypeError(f"{each!r} has its shape already: make the field without shape=")
            each.place(shape, offset)
            if isinstance(each, UnplacedField):
                PLACED.add(each)
        return self

    def lazy_grad(self) -> None:
        """Give a gradient to all fields of floats that are placed and not used yet."""
        add_partners("needs_grad")

    def lazy_dual(self) -> None:
        """Give a dual to all fields of floats that are placed and not used yet."""
        add_partners("needs_dual")

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(
            f"layers have no {name!r} in cuda_graphs.compat: fields are dense, so write dense(...), and a field of "
            "flags for what is active"
        )

    @property
    def elements(self) -> int:
        """The number of elements of a field that is placed here."""
        return math.prod(self.extents.values())


PLACED: WeakSet[UnplacedField] = WeakSet()


def add_partners(option: str) -> None:
    """Give all placed fields of floats that are not used yet a gradient ("needs_grad") or a dual ("needs_dual")."""
    for each in list(PLACED):
        if each.found is None and has_floats(each.element):
            each.add_partner(option)


def has_floats(element: Any) -> bool:
    """Return True for numbers and vectors that can have a gradient."""
    scalar = element.dtype if isinstance(element, VectorType) else element
    return getattr(scalar, "kind", None) == "float"


root = Node({})
