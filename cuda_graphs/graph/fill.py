# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""What a memset node writes into an array, and where: from values and layouts to elements of 1, 2 or 4 bytes."""

from __future__ import annotations

from typing import Any

from cuda_graphs._objects.array_view import ArrayView
from cuda_graphs.graph.layout import Layout, layout_of

__all__: list[str] = []

ELEMENT_SIZES = (4, 2, 1)  # of memset nodes


def element_of(array: ArrayView, value: Any) -> bytes:
    """One element of an array with the value, or a part of it that repeats.

    A number becomes an element of the array's type, as if it was assigned to one; any other object is taken for its
    bytes. TypeError and OverflowError as in NumPy for a number that the type does not hold; ValueError for an element
    that a node cannot write.
    """
    import numpy as np  # here: nothing else needs it when this package is imported

    if isinstance(value, bool | int | float | complex | np.generic):
        element = number(array, value)
        if len(element) in ELEMENT_SIZES:
            return element
        for size in ELEMENT_SIZES:
            if element == element[:size] * (len(element) // size):
                return element[:size]
        raise ValueError(
            f"a memset node repeats 1, 2 or 4 bytes, and {value!r} as an element of type {array.dtype!r} is "
            f"{len(element)} different ones: fill with a kernel"
        )
    pattern = bytes(memoryview(value).cast("B"))
    if len(pattern) not in ELEMENT_SIZES:
        raise ValueError(f"a fill value must have 1, 2 or 4 bytes, got {len(pattern)}")
    return pattern


def number(array: ArrayView, value: Any) -> bytes:
    import numpy as np

    if not array.dtype:
        raise TypeError("the elements of dst are of a type that NumPy does not have: give the bytes of one")
    dtype = np.dtype(array.dtype)
    if isinstance(value, np.generic) and value.dtype != dtype:
        value = value.item()
    # Python ints are checked for their range, all else for its kind: 1.5 is no int.
    if not isinstance(value, int) and not np.can_cast(np.asarray(value).dtype, dtype, "same_kind"):
        raise TypeError(f"{value!r} is not of type {array.dtype!r}, that of the elements of dst")
    return np.array(value, dtype).tobytes()


def rows_of(name: str, array: ArrayView, element_size: int) -> tuple[int, int, int]:
    """(width in elements, height, pitch) of a fill of a whole array. ValueError for what takes more than one node."""
    layout = layout_of(name, array.shape, array.strides, array.itemsize).in_memory_order()
    rows = layout.axes[0] if layout.axes else (1, 0)
    if len(layout.axes) > 1 or 0 < rows[1] < layout.run:
        raise ValueError(f"one memset node fills rows that do not overlap, not {layout}: fill in parts")
    if layout.run % element_size or rows[1] % element_size:
        raise ValueError(f"elements of {element_size} bytes do not fill {layout} evenly")
    return layout.run // element_size, rows[0], rows[1]


def layout_of_fill(width: int, height: int, pitch: int, element_size: int) -> Layout:
    """The bytes that a fill touches."""
    return Layout(width * element_size, ((height, pitch),) if height > 1 else ())
