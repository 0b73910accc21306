# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Functions that make arrays, with NumPy's names and order of arguments.

Without a dtype, floats become f32, ints become i32, and bools become bool, as in kernels. Arrays of other libraries
keep their type.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cuda_graphs.compiler.ir.types import f32, i32
from cuda_graphs.compiler.language.annotations import VectorType

from .dtypes import PYTHON, accept_element
from .foreign import from_dlpack
from .ndarray import NDArray, empty_array, ndarray

__all__ = ["arange", "array", "empty", "full", "ones", "zeros"]

LOW, HIGH = i32.minimum, i32.maximum


def zeros(shape: Any, dtype: Any = f32, *, needs_grad: bool = False, device: Any = None) -> NDArray:
    """Return an array of zeros. See `ndarray` for the arguments."""
    return ndarray(dtype, shape, needs_grad, device=device)


def ones(shape: Any, dtype: Any = f32, *, needs_grad: bool = False, device: Any = None) -> NDArray:
    """Return an array of ones; all components of vector elements are 1. See `ndarray` for the arguments."""
    return full(shape, 1, dtype, needs_grad=needs_grad, device=device)


def full(
    shape: Any, fill_value: Any, dtype: Any = None, *, needs_grad: bool = False, device: Any = None
) -> NDArray:
    """Return an array whose elements have one value. Arguments: see `ndarray`; values: see `NDArray.fill`."""
    made = ndarray(type_of(fill_value) if dtype is None else dtype, shape, needs_grad, device=device)
    made.fill(fill_value)
    return made


def empty(shape: Any, dtype: Any = f32, *, device: Any = None) -> NDArray:
    """Return an array whose elements are not set: the memory may hold any values. See `ndarray` for the arguments."""
    return empty_array(dtype, shape, device)


def arange(
    start: Any,
    stop: Any = None,
    step: Any = 1,
    dtype: Any = None,
    *,
    needs_grad: bool = False,
    device: Any = None,
) -> NDArray:
    """Return the numbers from `start` up to `stop`, `step` apart; from 0 up to `start` without a `stop`.

    Raises:
        TypeError: `start`, `stop` or `step` is not a number.
        ZeroDivisionError: `step` is 0.
    """
    begin, end = (0, start) if stop is None else (start, stop)
    for name, given in (("start", start), ("stop", end), ("step", step)):
        if not isinstance(given, (int, float, np.integer, np.floating)) or isinstance(given, bool):
            raise TypeError(f"{name} must be a number, got {given!r} ({type(given).__name__})")
    dtype = type_of([begin, end, step]) if dtype is None else dtype
    return array(np.arange(begin, end, step), dtype, needs_grad=needs_grad, device=device)


def array(obj: Any, dtype: Any = None, *, needs_grad: bool = False, device: Any = None) -> NDArray:
    """Return an array with a copy of the values of a number, of nested lists, or of an array.

    Args:
        obj: The values.
        dtype: The type of the elements. None: the type of an array, else that of the numbers.
        needs_grad, device: As in `ndarray`.

    Raises:
        TypeError: The values are not numbers.
        ValueError: The lists are ragged, or the last dimensions do not fit the vector type `dtype`.
    """
    if hasattr(obj, "__cuda_array_interface__") and not isinstance(obj, NDArray):
        obj = from_dlpack(obj)
    values = obj.to_numpy() if isinstance(obj, NDArray) else np.asarray(obj)
    if dtype is None:
        dtype = type_of(obj)
    _, inner = accept_element(dtype)
    if values.shape[max(values.ndim - len(inner), 0) :] != inner:
        raise ValueError(
            f"values of shape {values.shape} do not end with the components {inner} of {dtype!r}"
        )
    made = ndarray(dtype, values.shape[: values.ndim - len(inner)], needs_grad, device=device)
    made.from_numpy(values)
    return made


def type_of(value: Any) -> Any:
    """Return the type of the elements of an array, or of the numbers in lists."""
    if isinstance(value, NDArray):
        return VectorType(value.dtype, value.element_shape) if value.element_shape else value.dtype
    if hasattr(value, "dtype"):
        return value.dtype
    values = np.asarray(value)
    kind = {"b": bool, "i": int, "u": int, "f": float}.get(values.dtype.kind)
    if kind is None:
        raise TypeError(f"the values must be numbers, got {value!r} ({type(value).__name__})")
    if kind is int and values.size and not LOW <= int(values.min()) <= int(values.max()) <= HIGH:
        raise OverflowError(f"{value!r} does not fit i32, the type of ints: give a dtype such as cg.i64")
    return PYTHON[kind]
