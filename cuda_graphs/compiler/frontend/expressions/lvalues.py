# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Elements, components and vectors: indexing, and construction from parts."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
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
from cuda_graphs.compiler.ir.scalars import scalar
from cuda_graphs.compiler.ir.types import BY_DTYPE, ScalarType, i32, i64, promote
from cuda_graphs.compiler.language.annotations import FieldSpec, PackedSpec, StructArraySpec, VectorType
from cuda_graphs.compiler.language.host_vectors import SWIZZLES, HostVector

from .numbers import exact_constant, is_source_number, source_type


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


def make_vector(frame: Frame, type: VectorType | None, *args: Any) -> Vector:
    """Return a vector from components, rows, another vector or one number. Without a type it has their common type.

    Vectors among numbers stand for their components, as do all vectors in a vector type: `cg.vec4(v, 1.0)`.
    """
    found = (
        unless_number(frame, args[0]) if len(args) == 1 else tuple(unless_number(frame, arg) for arg in args)
    )
    if isinstance(found, Vector):
        parts = found
    elif isinstance(found, tuple) and found:
        rows = [
            make_vector(frame, None, part) if isinstance(part, tuple) else unless_number(frame, part)
            for part in found
        ]
        if takes_vectors(found, rows, type):
            rows = [leaf for row in rows for leaf in (row.components if isinstance(row, Vector) else (row,))]
        if len({row.shape if isinstance(row, Vector) else () for row in rows}) > 1:
            raise compile_error(
                CompileTypeError, frame.builder.loc, "the rows of a matrix have different lengths",
                "give each row as many numbers; cg.vector(*v, *w) has the components of both vectors",
            )  # fmt: skip
        parts = Vector(tuple(rows))
    elif type is not None:
        parts = filled(found if is_source_number(found) else frame.scalar(found, "a component"), type.shape)
    else:
        raise compile_error(
            CompileTypeError,
            frame.builder.loc,
            f"a vector is made of numbers, not {describe(found)}",
            "cg.vec3(x, y, z)",
        )
    scalars = [
        leaf if is_source_number(leaf) else frame.scalar(leaf, "a component") for leaf in parts.leaves()
    ]
    if type is None:
        wide = reduce(
            lambda a, b: a if a == b else promote(a, b), [type_of_component(frame, leaf) for leaf in scalars]
        )
    elif type.shape != parts.shape and len(type.shape) == 2 and len(scalars) == type.shape[0] * type.shape[1]:
        wide, columns = type.dtype, type.shape[1]
        parts = Vector(
            tuple(Vector(tuple(scalars[i : i + columns])) for i in range(0, len(scalars), columns))
        )
    else:
        wide = type.dtype
        if type.shape != parts.shape:
            raise compile_error(
                CompileTypeError,
                frame.builder.loc,
                f"{type!r} is made of a value of shape {parts.shape}",
                "give all components, or one number for all of them",
            )
    made = parts.map(lambda part: component_in(frame, part, wide))
    if type is not None:
        return made.map(rounded_constant)
    numbers = source_numbers(args)
    return made if numbers is None else Vector(made.components, tuple(numbers))


def unless_number(frame: Frame, found: Any) -> Any:
    """Read a value, but leave a number of the source, which is exact in the type of the vector."""
    return found if is_source_number(found) else frame.read(found)


def type_of_component(frame: Frame, found: Any) -> ScalarType:
    return source_type(frame, found) if is_source_number(found) else found.type


def component_in(frame: Frame, found: Any, type: ScalarType) -> ir.Value:
    """Return a component in the type of the vector. The call of the type converts, so nothing is reported."""
    exact = exact_constant(found, type) if is_source_number(found) else None
    return frame.builder.cast(frame.scalar(found), type) if exact is None else exact


def rounded_constant(value: ir.Value) -> ir.Value:
    """Return a constant with the digits that its type holds, and other values as they are."""
    return (
        ir.Const(scalar(value.value, value.type).item(), value.type) if isinstance(value, ir.Const) else value
    )


def source_numbers(parts: Any) -> list[Any] | None:
    """Return the numbers in nested tuples if all of them are numbers of the source, else None."""
    found: list[Any] = []
    for part in parts:
        inner = (
            source_numbers(part) if isinstance(part, tuple) else [part] if is_source_number(part) else None
        )
        if inner is None:
            return None
        found += inner
    return found


def takes_vectors(parts: tuple[Any, ...], rows: list[Any], type: VectorType | None) -> bool:
    """Return whether vectors among the parts of a vector stand for their components; they may be rows of a matrix."""
    shapes = [row.shape if isinstance(row, Vector) else () for row in rows]
    if any(isinstance(part, tuple) for part in parts) or any(len(shape) > 1 for shape in shapes):
        return False
    if type is None:
        return () in shapes
    return len(type.shape) == 1 or len(set(shapes)) > 1  # also mat2(a, vec3(b, c, d))


def filled(value: ir.Value, shape: tuple[int, ...]) -> Vector:
    """Return a vector whose components are all one value."""
    return Vector(tuple(filled(value, shape[1:]) if shape[1:] else value for _ in range(shape[0])))


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


def item(frame: Frame, owner: Any, key: Any) -> Any:
    """Return an item of a compile-time container."""
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
            f"{describe(owner)}: {error}",
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


def element(frame: Frame, array: ir.Array, index: tuple[Any, ...]) -> Any:
    """Return an element of an array. For an array of vectors, it is the whole vector or an indexed component."""
    flat = flat_index(frame, index)
    free_name = array.ndim - len(array.inner)
    if len(flat) != free_name:
        raise compile_error(
            CompileIndexError, frame.builder.loc,
            f"{array.path!r} has {free_name} dimension{'s' * (free_name != 1)} and {len(flat)} were indexed",
            "give one index for each dimension" if free_name else "x[()] is the element of an array without dimensions",
        )  # fmt: skip
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
