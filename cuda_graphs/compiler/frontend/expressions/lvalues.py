# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Elements, components and compile-time containers: what an index or a member name stands for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from cuda_graphs.compiler.errors import (
    CompileIndexError,
    CompileNegativeIndexError,
    CompileTypeError,
    compile_error,
)
from cuda_graphs.compiler.frontend.frame.frame import Frame
from cuda_graphs.compiler.frontend.frame.values import (
    Component,
    Element,
    KnownArray,
    KnownVector,
    Packed,
    RunTimePart,
    RunTimeSlice,
    Static,
    StructArray,
    Vector,
    VectorElement,
    describe,
)
from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.ir.types import BY_DTYPE, i32, i64
from cuda_graphs.compiler.language.annotations import FieldSpec, PackedSpec, StructArraySpec
from cuda_graphs.compiler.language.host_vectors import SWIZZLES, HostVector

from .construction import make_vector
from .numbers import is_source_number


def is_swizzle(name: str) -> bool:
    """Return whether a name consists of the names of components, of one set."""
    return any(set(name) <= set(letters) for letters in SWIZZLES)


def swizzle(frame: Frame, vector: Vector, letters: str) -> Any:
    """Return the components of `v.x`, `v.xy` or `v.rgb`."""
    names = next(each for each in SWIZZLES if set(letters) <= set(each))
    numbers = [names.index(letter) for letter in letters]
    if max(numbers) >= len(vector.components):
        count = len(vector.components)
        raise compile_error(
            CompileIndexError,
            frame.builder.loc,
            f"a vector of {count} components has no .{letters}",
            f"use {', '.join('.' + name for name in names[:count])}",
        )
    found = tuple(vector.components[i] for i in numbers)
    return found[0] if len(found) == 1 else Vector(found)


def extent(frame: Frame, array: ir.Array, axis: int) -> ir.Value:
    if array.shape is not None:
        return ir.Const(array.shape[axis], i32, frame.builder.loc)
    return frame.builder.put(ir.Extent(array, axis, loc=frame.builder.loc))


def field_or_value(frame: Frame, found: Any) -> Any:
    """Return the meaning of a compile-time value in a kernel: a field is an array."""
    if isinstance(found, KnownArray):
        return found.array
    if isinstance(found, KnownVector):
        return found.vector
    if isinstance(found, RunTimePart):
        return found.found
    if type(found) in (tuple, list) and any(
        isinstance(each, (RunTimePart, KnownArray, KnownVector)) or hasattr(each, "__cuda_graphs_field__")
        for each in found
    ):
        return tuple(field_or_value(frame, each) for each in found)
    if isinstance(found, HostVector):
        return constant_vector(found.in_kernels())
    field = getattr(found, "__cuda_graphs_field__", None)
    return field_of(frame, field) if isinstance(field, (FieldSpec, StructArraySpec)) else found


def field_of(frame: Frame, spec: Any) -> Any:
    """Return a field in a kernel. A field of structures consists of fields."""
    if isinstance(spec, StructArraySpec):
        return StructArray(spec.cls, {name: field_of(frame, each) for name, each in spec.members})
    if isinstance(spec, PackedSpec):
        return Packed(field_of(frame, spec.array), spec.offset, spec.shape)
    return frame.field(spec)


def constant_vector(found: Any) -> Any:
    """Return a vector of the host as a vector of constants, a row of it, or a number."""
    if found.shape == ():
        return ir.Const(found.item(), BY_DTYPE[found.dtype.str])
    return Vector(tuple(constant_vector(found[i, ...]) for i in range(len(found))))


MAX_CHOSEN = 64  # items of a list from which a run-time index chooses: each costs a comparison


def is_number(found: Any) -> bool:
    """Return whether an item of a list is a number, known when compiling or not."""
    return is_source_number(found) or isinstance(found, (ir.Value, ir.Local, Element))


def is_of_python(key: Any) -> bool:
    """Return whether a key is a value of Python, which an error of Python names well."""
    return isinstance(key, (int, float, str, bytes, slice, tuple, type(None)))


def item(frame: Frame, owner: Any, key: Any) -> Any:
    """Return an item of a compile-time container."""
    key = frame.read(key) if isinstance(key, (Element, Component)) else key
    if isinstance(key, (ir.Value, ir.Local, RunTimeSlice)):
        is_chosen = not isinstance(key, RunTimeSlice) and isinstance(owner, (tuple, list))
        if is_chosen and 0 < len(owner) <= MAX_CHOSEN and all(map(is_number, owner)):
            return component(frame, make_vector(frame, None, tuple(owner)), (key,))
        raise compile_error(
            CompileTypeError, frame.builder.loc, f"{describe(owner)} is indexed with a value known at run time only",
            f"use a loop over cg.static(range(n)), an array, or a list of at most {MAX_CHOSEN} numbers",
        )  # fmt: skip
    try:
        return field_or_value(frame, owner[key])
    except (LookupError, TypeError) as error:
        raise compile_error(
            CompileIndexError,
            frame.builder.loc,
            f"{describe(owner)}: {error}"
            if is_of_python(key)
            else f"{describe(owner)} is indexed with {describe(key)}",
            "see its content, which is known when compiling",
        ) from None


def flat_index(frame: Frame, index: tuple[Any, ...]) -> list[Any]:
    """Return the numbers of an index, of which vectors, tuples and lists give several."""
    flat: list[Any] = []
    for each in map(frame.read, index):
        is_sequence = isinstance(each, (tuple, list))
        parts = each.components if isinstance(each, Vector) else each if is_sequence else [each]
        flat += map(frame.read, parts)
    return flat


def require_indices(
    frame: Frame, path: str, ndim: int, given: list[Any], remedy: str = "give one index for each dimension"
) -> None:
    """Raise unless there are as many indices as the array at `path` has dimensions."""
    if len(given) != ndim:
        raise compile_error(
            CompileIndexError, frame.builder.loc,
            f"{path!r} has {ndim} dimension{'s' * (ndim != 1)} and {len(given)} were indexed",
            remedy if ndim else "x[()] is the element of an array without dimensions",
        )  # fmt: skip


def element(frame: Frame, array: ir.Array, index: tuple[Any, ...]) -> Any:
    """Return an element of an array. For an array of vectors, it is the whole vector or an indexed component."""
    flat = flat_index(frame, index)
    require_indices(frame, array.path, array.ndim - len(array.inner), flat)
    if array.offset is not None:
        flat = [from_zero(frame, array, *pair) for pair in zip(flat, array.offset, strict=True)]
    components_ = tuple(integer_index(frame, array, axis, each) for axis, each in enumerate(flat))
    if not array.inner:
        return Element(array, components_)
    return VectorElement(components(array, components_, array.inner))


def from_zero(frame: Frame, array: ir.Array, found: Any, first: int) -> ir.Value:
    """Return an index of an array with an offset as one that counts from 0."""
    index = integer(frame, found, "an index")
    if isinstance(index, ir.Const):
        if index.value < first:
            raise compile_error(
                CompileIndexError, frame.builder.loc, f"index {index.value} is outside of {array.path!r}",
                f"its first index there is {first}",
            )  # fmt: skip
        return ir.Const(int(index.value) - first, i64, frame.builder.loc)
    type = index.type if index.type.size >= i32.size and index.type.kind == "int" else i64
    return frame.builder.op("sub", frame.builder.cast(index, type), ir.Const(first, type))


def components(array: ir.Array, index: tuple[ir.Value, ...], inner: tuple[int, ...]) -> Vector:
    parts = [(*index, ir.Const(i, i32)) for i in range(inner[0])]
    return Vector(
        tuple(components(array, part, inner[1:]) if inner[1:] else Element(array, part) for part in parts)
    )


def integer(frame: Frame, found: Any, what: str) -> ir.Value:
    value = frame.scalar(found, what)
    if value.type.kind not in ("int", "uint"):
        raise compile_error(
            CompileTypeError,
            frame.builder.loc,
            f"{what} must be an integer, not {value.type}",
            "cg.cast(n, cg.i32)",
        )
    return value


def integer_index(frame: Frame, array: ir.Array, axis: int, index: Any) -> ir.Value:
    value = integer(frame, index, "an index")
    if isinstance(value, ir.Const):
        limit = None if array.shape is None else array.shape[axis]
        if value.value < 0:
            raise compile_error(
                CompileNegativeIndexError, frame.builder.loc, f"index {value.value} is outside of {array.path!r}",
                f"write {array.path}.shape[{axis}] - {-value.value}",
            )  # fmt: skip
        if limit is not None and value.value >= limit:
            raise compile_error(
                CompileIndexError, frame.builder.loc, f"index {value.value} is outside of {array.path!r}",
                f"it has {limit} elements there, from 0 to {limit - 1}",
            )  # fmt: skip
    return value


def component(frame: Frame, found: Any, index: tuple[Any, ...]) -> Any:
    """Return a component of a vector, a row or component of a matrix, or the part of it that slices name."""
    if not index:
        return found
    if not isinstance(found, Vector):
        raise compile_error(
            CompileIndexError,
            frame.builder.loc,
            "too many indices for a vector",
            "v[i] of a vector, m[i, j] of a matrix",
        )
    i = python_value(frame, index[0])
    count = len(found.components)
    if isinstance(i, slice):
        rows = [component(frame, row, index[1:]) for row in found.components[i]]
        return Vector(tuple(rows)) if rows else refuse_index(frame, count, "a slice without components")
    if isinstance(i, RunTimeSlice):
        return moving_part(frame, found, i, index[1:])
    if isinstance(i, int):
        return (
            component(frame, found.components[i], index[1:])
            if 0 <= i < count
            else refuse_index(frame, count, repr(i))
        )
    return component(frame, component_at(frame, found, integer(frame, i, "an index")), index[1:])


def moving_part(frame: Frame, found: Vector, part: RunTimeSlice, index: tuple[Any, ...]) -> Vector:
    """Return the components in a slice with a run-time beginning."""
    if not 0 < part.count <= len(found.components):
        refuse_index(frame, len(found.components), f"a slice of {part.count} components")
    places = [frame.builder.op("add", part.begin, ir.Const(k, part.begin.type)) for k in range(part.count)]
    return Vector(tuple(component(frame, found, (place, *index)) for place in places))


def refuse_index(frame: Frame, count: int, what: str) -> Any:
    raise compile_error(
        CompileIndexError,
        frame.builder.loc,
        f"a vector of {count} components is indexed with {what}",
        f"components are counted from 0 to {count - 1}",
    )


def component_at(frame: Frame, vector: Vector, index: ir.Value) -> Any:
    """Return a component, or a row of a matrix, at a run-time index. With debug, the kernel checks the index."""
    first = vector.leaves()[0]
    if isinstance(first, Element) and first.array.inner:
        depth = len(first.index) - len(vector.shape)
        return at_depth(vector.components[0], depth, index)  # the code that loads or stores checks the index
    builder, count = frame.builder, len(vector.components)
    in_range = builder.op("less", index, ir.Const(count, index.type))
    if index.type.kind == "int":
        in_range = builder.op("bit_and", builder.op("less_equal", ir.Const(0, index.type), index), in_range)
    message = ("index ", (index, "d"), f" is outside of a vector of {count} components")
    builder.put(ir.Assert(in_range, message, builder.loc, "index"))
    rows = vector.components
    if isinstance(first, Element):
        return packed_at(frame, rows, index)
    if not isinstance(rows[0], Vector):
        return Component(rows, index)
    return Vector(
        tuple(Component(tuple(parts), index) for parts in zip(*(r.components for r in rows), strict=True))
    )


def packed_at(frame: Frame, rows: tuple[Any, ...], index: ir.Value) -> Any:
    """Return the component or row at a run-time index in a member of an array of structures (struct_elements.py)."""
    builder = frame.builder
    if len(rows) == 1:
        return rows[0]
    leaves = [row.leaves()[0] if isinstance(row, Vector) else row for row in rows[:2]]
    step = ir.Const(fixed_part(leaves[1].index[-1]) - fixed_part(leaves[0].index[-1]), i32)
    way = builder.op("mul", builder.cast(index, i32), step)

    def moved(place: Element) -> Element:
        return Element(place.array, (*place.index[:-1], builder.op("add", place.index[-1], way)))

    return rows[0].map(moved) if isinstance(rows[0], Vector) else moved(rows[0])


def fixed_part(index: ir.Value) -> int:
    """Return the part of an index that is known at compile time: of k, or of k plus the results of packed_at."""
    while isinstance(index, ir.Op):
        index = index.args[0]
    assert isinstance(index, ir.Const)
    return int(index.value)


def at_depth(found: Any, depth: int, index: ir.Value) -> Any:
    """Return elements of an array of vectors with another index along the axis `depth`."""
    if isinstance(found, Vector):
        return found.map(lambda part: at_depth(part, depth, index))
    return Element(found.array, (*found.index[:depth], index, *found.index[depth + 1 :]))


def python_value(frame: Frame, found: Any) -> Any:
    """Return a compile-time number as Python's number, or another object itself."""
    found = found.value if isinstance(found, Static) else found
    if isinstance(found, ir.Const):
        return found.value
    return int(found) if isinstance(found, np.integer) else found


def broadcast(frame: Frame, function: Callable[..., Any], *args: Any) -> Vector:
    """Return the vector of a function's results by component. A scalar operand is used for each component.

    Tuples are vectors here.
    """
    args = tuple(make_vector(frame, None, arg) if isinstance(arg, tuple) else arg for arg in args)
    vectors = [arg for arg in args if isinstance(arg, Vector)]
    if any(vector.shape != vectors[0].shape for vector in vectors):
        shapes = " and ".join(str(vector.shape) for vector in vectors)
        raise compile_error(
            CompileTypeError,
            frame.builder.loc,
            f"vectors of different shapes: {shapes}",
            "give vectors of one shape, or a number",
        )

    def apply(*parts: Any) -> Any:
        return function(*(frame.scalar(part) for part in parts))

    first = next(i for i, arg in enumerate(args) if isinstance(arg, Vector))
    rest = [arg for i, arg in enumerate(args) if i != first]
    return vectors[0].map(lambda part, *others: apply(*others[:first], part, *others[first:]), *rest)
