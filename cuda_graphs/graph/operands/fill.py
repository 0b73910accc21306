# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Fills of arrays: converts values and layouts to the parameters of a memset node (elements of 1, 2 or 4 bytes)."""

from __future__ import annotations

import struct
from typing import Any

from cuda_graphs.objects.memory.array_view import ArrayView

from .layout import Layout, layout_of

__all__: list[str] = []

ELEMENT_SIZES = (4, 2, 1)  # bytes of an element of a memset node


def element_bytes(array: ArrayView, value: Any) -> bytes:
    """Return the bytes of one array element with the value, or the part of it that repeats.

    A number is converted to the array's type as in an assignment. Any other object stands for its bytes. Raises
    TypeError or OverflowError, like NumPy, for a number that the type cannot hold. Raises ValueError for an element
    that a memset node cannot write.
    """
    import numpy as np  # imported late: importing this package does not need NumPy

    if isinstance(value, bool | int | float | complex | np.generic):
        element = bytes_of_number(array, value)
        if len(element) in ELEMENT_SIZES:
            return element
        for size in ELEMENT_SIZES:
            if element == element[:size] * (len(element) // size):
                return element[:size]
        raise ValueError(
            f"a memset node repeats 1, 2 or 4 bytes, but {value!r} of type {array.dtype!r} has {len(element)} bytes "
            "that do not repeat: fill with a kernel"
        )
    try:
        pattern = bytes(memoryview(value).cast("B"))
    except TypeError:
        raise TypeError(
            f"a fill value must be a number or an object of 1, 2 or 4 bytes, got {type(value).__name__}"
        ) from None
    if len(pattern) not in ELEMENT_SIZES:
        raise ValueError(f"a fill value must have 1, 2 or 4 bytes, got {len(pattern)}")
    return pattern


def bytes_of_number(array: ArrayView, value: Any) -> bytes:
    import numpy as np

    if not array.dtype:
        raise TypeError("NumPy does not have the element type of dst: give the value as bytes")
    dtype = np.dtype(array.dtype)
    if isinstance(value, np.generic) and value.dtype != dtype:
        value = value.item()
    # NumPy checks the range of Python ints. Other values are checked for their kind: 1.5 is not an int.
    if not isinstance(value, int) and not np.can_cast(np.asarray(value).dtype, dtype, "same_kind"):
        raise TypeError(misfit(array, value))
    try:
        with np.errstate(over="ignore"):
            element = np.array(value, dtype)
    except OverflowError:
        raise OverflowError(misfit(array, value)) from None
    if np.isinf(element) and (isinstance(value, int) or not np.isinf(value)):
        raise OverflowError(misfit(array, value))
    return element.tobytes()


def misfit(array: ArrayView, value: Any) -> str:
    return f"{value!r} does not fit the type {array.dtype!r} of the elements of dst"


def rows_of(name: str, array: ArrayView, element_size: int) -> tuple[int, int, int]:
    """Return (width in elements, height, pitch in bytes) of a fill of a whole array.

    Raises ValueError for an array that needs more than one node.
    """
    layout = layout_of(name, array.shape, array.strides, array.itemsize).in_memory_order()
    rows = layout.axes[0] if layout.axes else (1, 0)
    if len(layout.axes) > 1 or 0 < rows[1] < layout.run:
        raise ValueError(f"one memset node fills rows that do not overlap, not {layout}: fill in parts")
    if layout.run % element_size or rows[1] % element_size:
        raise ValueError(f"elements of {element_size} bytes do not fill {layout} evenly")
    return layout.run // element_size, rows[0], rows[1]


def layout_of_fill(width: int, height: int, pitch: int, element_size: int) -> Layout:
    """Return the layout of the bytes that a fill writes."""
    return Layout(width * element_size, ((height, pitch),) if height > 1 else ())


def number_of(bits: int, size: int, kind: str) -> int | float:
    """Return the number of the bits of an element of `size` bytes: f(loat), i(nt) or e (bfloat16). Bits of
    another kind are an unsigned integer."""
    data = bits.to_bytes(4, "little")[:size]
    if kind == "e":
        data, size, kind = b"\0\0" + data, 4, "f"
    form = FORMS.get((kind, size))
    number: int | float = bits if form is None else struct.unpack(form, data)[0]
    return number


FORMS = {("f", 2): "<e", ("f", 4): "<f", ("i", 1): "<b", ("i", 2): "<h", ("i", 4): "<i"}
