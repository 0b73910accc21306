# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The offset of a field: the first index of each dimension, where that is not 0."""

from __future__ import annotations

import numbers
from collections.abc import Callable
from typing import Any

__all__ = ["accept_offset", "from_zero"]


def accept_offset(offset: Any, shape: tuple[int, ...]) -> tuple[int, ...] | None:
    """Return the first index of each dimension; None for zeros."""
    found = offset if isinstance(offset, (tuple, list)) else (offset,)
    if not all(isinstance(each, numbers.Integral) and not isinstance(each, bool) for each in found):
        raise TypeError(f"offset must be an int for each dimension, got {offset!r}")
    if len(found) != len(shape):
        raise ValueError(
            f"offset={offset!r} has {len(found)} numbers, and the field has {len(shape)} dimensions"
        )
    for each, extent in zip(found, shape, strict=True):
        if not -(1 << 31) <= each <= (1 << 31) - 1 - extent:
            raise ValueError(f"offset={offset!r}: indices must be from -2**31 to 2**31 - 1")
    return tuple(int(each) for each in found) if any(found) else None


def from_zero(
    identify: Callable[[], str], index: Any, offset: tuple[int, ...], shape: tuple[int, ...]
) -> Any:
    """Return an index of an array with an offset as one that counts from 0. `identify` names the array in messages."""
    if index is ...:
        return index
    indices = index if isinstance(index, tuple) else (index,)
    if len(indices) != len(shape) or not all(isinstance(each, numbers.Integral) for each in indices):
        raise TypeError(f"{identify()} has an offset: give one int for each dimension, or ...")
    for each, first, extent in zip(indices, offset, shape, strict=True):
        if not first <= each < first + extent:
            raise IndexError(
                f"index {each} is outside of {identify()}, whose indices there are from {first} to {first + extent - 1}"
            )
    return tuple(each - first for each, first in zip(indices, offset, strict=True))
