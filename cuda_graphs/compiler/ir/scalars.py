# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Scalars of the IR as NumPy scalars, and the semantics of casts.

NumPy has no bf16. A bf16 is an f32 whose low bits are 0 in computations, and a uint16 in memory.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .types import ScalarType, bf16

__all__ = ["bit_cast", "cast", "is_small", "memory_dtype", "read", "scalar", "written"]


def is_small(type: ScalarType) -> bool:
    """Return whether arithmetic on the type is computed in f32 and rounded once."""
    return type.kind == "float" and type.size == 2


def memory_dtype(type: ScalarType) -> np.dtype[Any]:
    """Return the dtype of an array of the type."""
    return np.dtype(type.dtype or "<u2")


def scalar(value: Any, type: ScalarType) -> Any:
    """Return a number of Python or NumPy in its register form."""
    if type == bf16:
        return np.float32(_nearest_bf16(float(value)))
    with np.errstate(all="ignore"):
        return np.dtype(type.dtype).type(value)


def read(element: Any, type: ScalarType) -> Any:
    """Return an element of memory in its register form."""
    if type == bf16:
        return np.array(int(element) << 16, np.uint32).view(np.float32)[()]
    return element


def written(value: Any, type: ScalarType) -> Any:
    """Return a register in its memory form."""
    if type == bf16:
        return np.uint16(int(np.float32(value).view(np.uint32)) >> 16)
    return value


def _to_odd(value: Any) -> float:
    """Return a number as a float64 such that a second rounding to fewer bits equals a direct rounding.

    Long integers keep their first 40 bits. The last of these is set if a dropped bit is set.
    """
    if isinstance(value, np.floating):
        return float(value)
    size = abs(int(value))
    dropped = max(size.bit_length() - 40, 0)
    kept = size >> dropped | int(size & (1 << dropped) - 1 != 0)
    return math.copysign(math.ldexp(kept, dropped), int(value))


def _nearest_bf16(x: float) -> float:
    """Return the bf16 nearest to a float64, ties to even."""
    if not math.isfinite(x) or x == 0:
        return x
    exponent = max(math.frexp(x)[1], -125) - 8  # exponent of the last of 8 bits; -133 for subnormal numbers
    nearest = round(math.ldexp(x, -exponent))
    return math.copysign(
        math.inf if abs(nearest) * 2.0**exponent >= 2.0**128 else abs(nearest) * 2.0**exponent, x
    )


def cast(value: Any, source: ScalarType, to: ScalarType) -> Any:
    """Return a scalar cast to another type.

    From a float to an integer, the cast rounds towards zero and saturates; NaN becomes 0. Between integers the low bits
    stay. To bool, the result is whether the value is not 0. To a float, it is the nearest float.
    """
    if to.kind == "bool":
        return np.bool_(value != 0)
    if to.kind == "float":
        return scalar(_to_odd(value) if to == bf16 else value, to)
    if source.kind == "float":
        number = _saturated(value, to)
    else:
        number = int(value)
    return np.array(number & ((1 << to.bits) - 1), f"u{to.size}").view(memory_dtype(to))[()]


def _saturated(value: Any, to: ScalarType) -> int:
    if value != value:
        return 0
    if np.isinf(value):
        return to.maximum if value > 0 else to.minimum
    return min(max(int(value), to.minimum), to.maximum)


def bit_cast(value: Any, source: ScalarType, to: ScalarType) -> Any:
    """Return the same bits as another type of the same size."""
    return read(written(value, source).view(memory_dtype(to)), to)
