# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Shapes of arrays, and the memory that an index selects, with the rules of NumPy's basic indexing."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from cuda_graphs.objects.numbers import as_int

from .array_view import packed_strides

__all__ = ["accept_shape", "has_gaps", "reshaped", "select"]

# Largest extent: extents are i32 in kernels.
LARGEST_EXTENT = 2**31 - 1


def accept_shape(shape: Any) -> tuple[int, ...]:
    """Return a shape as a tuple of ints.

    Raises:
        TypeError: An extent is not an int.
        ValueError: An extent is not from 0 to 2**31 - 1.
    """
    given = shape if isinstance(shape, (tuple, list)) else (shape,)
    extents = []
    for extent in given:
        number = as_int(extent)
        if number is None or isinstance(extent, bool):
            raise TypeError(f"shape must be an int or a tuple of ints, got {shape!r}")
        if not 0 <= number <= LARGEST_EXTENT:
            raise ValueError(f"{shape!r} is not a valid shape: extents must be from 0 to {LARGEST_EXTENT}")
        extents.append(int(number))
    return tuple(extents)


def select(
    describe: Callable[[], str], index: Any, shape: Sequence[int], strides: Sequence[int]
) -> tuple[int, tuple[int, ...], tuple[int, ...]]:
    """Return the offset in bytes, the shape and the strides of the part of an array that `index` selects.

    Args:
        describe: Returns the name of the array in messages.
        index: An int, a slice, ``...``, or a tuple of these. An int removes its axis.
        shape, strides: Those of the array; strides in bytes.

    Raises:
        TypeError: An index is of another type.
        IndexError: An int is out of bounds, or there are more indices than axes.
    """
    at = list(index) if isinstance(index, tuple) else [index]
    places = [place for place, each in enumerate(at) if each is Ellipsis]
    if len(places) > 1:
        raise IndexError(f"an index of {describe()} can have only one '...'")
    missing = len(shape) - (len(at) - len(places))
    if missing < 0:
        raise IndexError(f"{describe()} takes {len(shape)} indices, got {len(at) - len(places)}")
    place = places[0] if places else len(at)
    at[place : place + 1] = [slice(None)] * missing
    offset, extents, steps = 0, [], []
    for axis, (each, extent, stride) in enumerate(zip(at, shape, strides, strict=True)):
        if isinstance(each, slice):
            begin, end, step = each.indices(extent)
            count = len(range(begin, end, step))
            offset += begin * stride if count else 0
            extents.append(count)
            steps.append(step * stride)
        else:
            offset += position(describe, each, axis, extent) * stride
    return offset, tuple(extents), tuple(steps)


def position(describe: Callable[[], str], index: Any, axis: int, extent: int) -> int:
    """Return an int index, counted from the beginning."""
    number = None if isinstance(index, bool) else as_int(index)
    if number is None:
        raise TypeError(
            f"an index of {describe()} must be an int, a slice or '...', got {type(index).__name__}: "
            "copy the array to NumPy (to_numpy) for other indices"
        )
    if not -extent <= number < extent:
        raise IndexError(
            f"index {number} is out of bounds for axis {axis} of {describe()}, which has {extent}"
        )
    return number + extent if number < 0 else number


def has_gaps(shape: tuple[int, ...], strides: Sequence[int], itemsize: int) -> bool:
    """Return True for an array that is not in C order without gaps."""
    packed = packed_strides(shape, itemsize)
    differs = any(n > 1 and a != b for n, a, b in zip(shape, strides, packed, strict=True))
    return differs and 0 not in shape


def reshaped(describe: Callable[[], str], shape: tuple[int, ...], wanted: Any) -> tuple[int, ...]:
    """Return a new shape of an array in C order; one extent may be -1 and is then computed.

    Raises:
        TypeError: An extent is not an int.
        ValueError: The new shape has another number of elements.
    """
    given = wanted if isinstance(wanted, (tuple, list)) else (wanted,)
    unknown = [axis for axis, extent in enumerate(given) if as_int(extent) == -1]
    known = list(accept_shape([1 if axis in unknown else extent for axis, extent in enumerate(given)]))
    size, count = math.prod(shape), math.prod(known)
    if len(unknown) == 1 and count and size % count == 0:
        known[unknown[0]] = size // count
    if len(unknown) > 1 or math.prod(known) != size:
        raise ValueError(f"{describe()} has {size} elements and cannot take the shape {tuple(given)}")
    return tuple(known)
