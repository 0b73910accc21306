# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Parts of arrays, which slices name: `x[a:b, k]`. Indices into a part count from the beginning of its slices."""

from __future__ import annotations

import ast
from typing import Any

from cuda_graphs.compiler.errors import CompileIndexError, CompileNegativeIndexError, compile_error
from cuda_graphs.compiler.frontend.frame.frame import Frame
from cuda_graphs.compiler.frontend.frame.values import ArrayPart, Bounds
from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.ir.types import i32, i64, promote

from .lvalues import element, extent, flat_index, integer, require_indices

__all__ = ["array_part", "bounds_of", "has_bounds", "part_element", "shape_of_part"]


def bounds_of(frame: Frame, node: ast.Slice) -> Bounds:
    """Return the bounds of a slice of an array."""
    if node.step is not None:
        raise compile_error(
            CompileIndexError, frame.builder.loc, "a slice of an array has no step",
            "write a loop over the indices",
        )  # fmt: skip
    begin, end = (None if each is None else bound(frame, each) for each in (node.lower, node.upper))
    return Bounds(begin, end)


def bound(frame: Frame, node: ast.expr) -> ir.Value:
    value = integer(frame, frame.visit(node), "a bound")
    if isinstance(value, ir.Const) and value.value < 0:
        raise compile_error(
            CompileNegativeIndexError, frame.builder.loc, f"the bound {value.value} of a slice is below 0",
            f"write x.shape[0] - {-value.value} for {-value.value} elements from the end of x",
        )  # fmt: skip
    return value


def has_bounds(index: tuple[Any, ...]) -> bool:
    """Return whether there is a slice among indices."""
    return any(isinstance(each, Bounds) for each in index)


def array_part(frame: Frame, array: ir.Array, index: tuple[Any, ...]) -> ArrayPart:
    """Return the part of an array that indices with slices name."""
    places: list[Any] = []
    for each in index:
        places += [each] if isinstance(each, Bounds) else flat_index(frame, (each,))
    remedy = "give one index or slice for each dimension"
    require_indices(frame, array.path, array.ndim - len(array.inner), places, remedy)
    if array.offset is not None:
        raise compile_error(
            CompileIndexError, frame.builder.loc, f"{array.path!r} has an offset, and so no slices",
            "write a loop over the indices",
        )  # fmt: skip
    for axis, each in enumerate(places):
        if isinstance(each, Bounds):
            places[axis] = closed(frame, each, extent(frame, array, axis))
        else:
            places[axis] = integer(frame, each, "an index")
    return ArrayPart(array, tuple(places))


def closed(frame: Frame, bounds: Bounds, most: ir.Value) -> Bounds:
    """Return bounds that both are values. The end is at most the extent of the array, as in Python."""
    begin = ir.Const(0, i32) if bounds.begin is None else bounds.begin
    if bounds.end is None:
        return Bounds(begin, most)
    return Bounds(begin, frame.builder.op("min", *alike(frame, bounds.end, most)))


def alike(frame: Frame, a: ir.Value, b: ir.Value) -> tuple[ir.Value, ir.Value]:
    """Return two integers in one signed type."""
    found = promote(a.type, b.type)
    kind = found if found.kind == "int" and found.size >= i32.size else i64
    return frame.builder.cast(a, kind), frame.builder.cast(b, kind)


def part_element(frame: Frame, part: ArrayPart, index: tuple[Any, ...]) -> Any:
    """Return an element of a part of an array, or with slices a part of the part."""
    sliced = [each for each in part.index if isinstance(each, Bounds)]
    given: list[Any] = []
    for each in index:
        given += [each] if isinstance(each, Bounds) else flat_index(frame, (each,))
    if len(given) != len(sliced):
        raise compile_error(
            CompileIndexError, frame.builder.loc,
            f"a part of {part.array.path!r} with {len(sliced)} slices is indexed with {len(given)} indices",
            "give one index or slice for each slice",
        )  # fmt: skip
    left = iter(given)
    places = tuple(
        inside(frame, each, next(left)) if isinstance(each, Bounds) else each for each in part.index
    )
    return ArrayPart(part.array, places) if has_bounds(places) else element(frame, part.array, places)


def inside(frame: Frame, bounds: Bounds, index: Any) -> Any:
    """Return an index of a slice, or the bounds of a slice of it, as those of the array."""

    def moved(by: Any) -> ir.Value:
        return frame.builder.op("add", *alike(frame, bounds.begin, integer(frame, by, "an index")))

    if not isinstance(index, Bounds):
        return moved(index)
    begin = bounds.begin if index.begin is None else moved(index.begin)
    return closed(frame, Bounds(begin, None if index.end is None else moved(index.end)), bounds.end)


def shape_of_part(frame: Frame, part: ArrayPart) -> tuple[ir.Value, ...]:
    """Return the number of elements of each slice. A slice that ends before it begins has none."""
    return tuple(count_of(frame, each) for each in part.index if isinstance(each, Bounds))


def count_of(frame: Frame, bounds: Bounds) -> ir.Value:
    count: ir.Value = frame.builder.op("sub", *alike(frame, bounds.end, bounds.begin))
    starts_first = isinstance(bounds.begin, ir.Const) and bounds.begin.value == 0
    if starts_first and isinstance(bounds.end, ir.Extent):
        return count
    return frame.builder.op("max", count, ir.Const(0, count.type))
