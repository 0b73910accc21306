# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Arrays of structures: their elements, members and extents."""

from __future__ import annotations

from typing import Any

from cuda_graphs.compiler.errors import CompileNameError, compile_error
from cuda_graphs.compiler.frontend.frame.frame import Frame
from cuda_graphs.compiler.frontend.frame.values import (
    Element,
    Packed,
    Struct,
    StructArray,
    Vector,
    VectorElement,
)
from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.ir.types import i32

from .lvalues import element, extent, flat_index, require_indices

__all__ = ["arrays_in", "extents_of", "is_array", "member_of", "struct_element"]


def is_array(found: Any) -> bool:
    """Return whether a value is an array, of numbers, vectors or structures."""
    return isinstance(found, (ir.Array, StructArray, Packed))


def extents_of(frame: Frame, found: Any) -> list[ir.Value]:
    """Return the extents of an array, without the dimensions of its elements."""
    array, count = outline(found)
    return [extent(frame, array, axis) for axis in range(count)]


def arrays_in(found: Any) -> list[ir.Array]:
    """Return the arrays that hold the elements of an array."""
    if isinstance(found, StructArray):
        return [array for member in found.members.values() for array in arrays_in(member)]
    return [found.array if isinstance(found, Packed) else found]


def outline(found: Any) -> tuple[ir.Array, int]:
    """Return an array with the extents of an array, and the number of its indices."""
    while isinstance(found, StructArray):
        found = next(iter(found.members.values()))
    if isinstance(found, Packed):
        return found.array, found.array.ndim - 1
    return found, found.ndim - len(found.inner)


def struct_element(frame: Frame, found: Any, index: tuple[Any, ...]) -> Any:
    """Return an element of an array of structures, or of a member of it, as places."""
    if isinstance(found, ir.Array):
        return element(frame, found, index)
    if isinstance(found, StructArray):
        return Struct(
            found.cls, {name: struct_element(frame, each, index) for name, each in found.members.items()}
        )
    flat = flat_index(frame, index)
    require_indices(frame, found.array.path, found.array.ndim - 1, flat)
    first = element(frame, found.array, (*flat, ir.Const(found.offset, i32)))
    return VectorElement(packed(first, found.shape, found.offset)) if found.shape else first


def packed(first: Element, shape: tuple[int, ...], offset: int) -> Vector:
    """Return the places of the components of a vector or matrix, which follow one another from `offset` on."""
    if len(shape) > 1:
        return Vector(tuple(packed(first, shape[1:], offset + i * shape[1]) for i in range(shape[0])))
    places = (ir.Const(offset + i, i32) for i in range(shape[0]))
    return Vector(tuple(Element(first.array, (*first.index[:-1], place)) for place in places))


def member_of(frame: Frame, owner: StructArray | Packed, name: str) -> Any:
    """Return a member of an array of structures: `particles.x`, or its shape."""
    if name == "shape":
        return tuple(extents_of(frame, owner))
    members = owner.members if isinstance(owner, StructArray) else {}
    if name not in members:
        what = (
            f"an array of {owner.cls.__name__}" if isinstance(owner, StructArray) else "a member of an array"
        )
        raise compile_error(
            CompileNameError, frame.builder.loc, f"{what} has no member {name!r}",
            f"it has {', '.join(('shape', *members))}",
        )  # fmt: skip
    return members[name]
