# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Element types: conversion from NumPy's types, and the representation of elements on the host.

NumPy has no bfloat16. Its elements are float32 on the host, so that all of NumPy works with them. Copies to the device
round them to nearest, ties to even. `ml_dtypes` is the type that JAX and TensorFlow use too: arrays of it are accepted,
and its casts convert. It is a required package, as it needs NumPy alone and a second implementation of its casts would
have to be tested. This module is imported at the first conversion, and `ml_dtypes` at the first of bfloat16.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np

from cuda_graphs.compiler.ir.types import SCALARS, ScalarType, bf16, bool_, f32, i32
from cuda_graphs.compiler.language.annotations import VectorType
from cuda_graphs.objects.numbers import as_int, is_address

__all__ = [
    "accept_dtype",
    "accept_element",
    "exact_integers",
    "from_device",
    "host_dtype",
    "numbers_in",
    "to_device",
    "to_element",
]

# Element types of Python's built-in types, as in annotations of kernels.
PYTHON = {int: i32, float: f32, bool: bool_}
BY_NUMPY = {np.dtype(t.dtype): t for t in SCALARS.values() if t.dtype is not None}


@cache
def bfloat16() -> np.dtype[Any]:
    """Return the NumPy type of bfloat16."""
    import ml_dtypes

    found: np.dtype[Any] = np.dtype(ml_dtypes.bfloat16)
    return found


def accept_dtype(given: Any) -> ScalarType:
    """Return the element type for `given`: an element type, a NumPy type of the same layout, or int, float, bool.

    Raises:
        TypeError: `given` is not such a type.
    """
    if isinstance(given, ScalarType) and given.name in SCALARS:
        return given
    found = PYTHON.get(given) if isinstance(given, type) else None
    if found is None and (
        isinstance(given, np.dtype) or (isinstance(given, type) and issubclass(given, np.generic))
    ):
        numpy_type = np.dtype(given)
        found = bf16 if numpy_type.name == "bfloat16" else BY_NUMPY.get(numpy_type)
    if found is None:
        raise TypeError(
            "dtype must be an element type (cg.i8 to cg.u64, cg.f16, cg.bf16, cg.f32, cg.f64, cg.bool_, one of NumPy, "
            f"or a vector type), got {given!r}"
        )
    return found


def accept_element(given: Any) -> tuple[ScalarType, tuple[int, ...]]:
    """Return the type of the components and the shape of an element; the shape is () for a number.

    Raises:
        TypeError: `given` is neither a vector type nor an argument for `accept_dtype`.
    """
    if isinstance(given, VectorType):
        return accept_dtype(given.dtype), given.shape
    return accept_dtype(given), ()


def host_dtype(dtype: ScalarType) -> np.dtype[Any]:
    """Return the NumPy type of elements on the host."""
    return np.dtype(np.float32 if dtype is bf16 else dtype.dtype)


def device_dtype(dtype: ScalarType) -> np.dtype[Any]:
    """Return the NumPy type with the layout of elements on the device."""
    return bfloat16() if dtype is bf16 else np.dtype(dtype.dtype)


def to_device(values: np.ndarray[Any, Any], dtype: ScalarType) -> np.ndarray[Any, Any]:
    """Convert `values` of type `host_dtype(dtype)` to elements of the device, of type `device_dtype(dtype)`."""
    with np.errstate(invalid="ignore"):  # a signalling NaN stays a NaN
        return values.astype(device_dtype(dtype), copy=False)


def from_device(elements: np.ndarray[Any, Any], dtype: ScalarType) -> np.ndarray[Any, Any]:
    """Convert elements of the device to values of type `host_dtype(dtype)`."""
    with np.errstate(invalid="ignore"):
        return elements.astype(host_dtype(dtype), copy=False)


def numbers_in(values: Any) -> np.ndarray[Any, Any]:
    """Return a number or nested lists as an array of NumPy."""
    try:
        return np.asarray(values)
    except ValueError as error:
        if not isinstance(values, (list, tuple)):
            raise
        remedy = "give all lists of one level the same length"
        raise ValueError(f"the nested lists are ragged: {remedy}") from error


def exact_integers(values: Any, found: np.ndarray[Any, Any], dtype: ScalarType) -> np.ndarray[Any, Any]:
    """Return the ints of nested lists as elements of an integer type.

    NumPy takes ints beyond i64 beside smaller ones for floats. Returns `found`, the array of NumPy, for other lists and
    other types.

    Raises:
        OverflowError: An int does not fit the type.
    """
    host = host_dtype(dtype)
    if host.kind not in "iu" or found.dtype.kind in "bc" or not found.size:
        return found
    if found.dtype.kind not in "iu":
        found_ints = np.asarray(values, object)
        if not all(isinstance(each, int | np.integer) for each in found_ints.ravel()):
            return found
        found = found_ints
    limits, low, high = np.iinfo(host), int(found.min()), int(found.max())
    if low < limits.min or high > limits.max:
        wrong = low if low < limits.min else high
        raise OverflowError(
            f"{wrong} does not fit {dtype}, whose numbers go from {limits.min} to {limits.max}"
        )
    return found.astype(host)


def to_element(value: Any, dtype: ScalarType, what: str, inner: tuple[int, ...] = ()) -> bytes:
    """Return the bytes of one element with this value. A vector takes all components, or one number for all of them.

    Raises:
        TypeError: `value` is a float for an integer type, or is not a number.
        OverflowError: `value` is an integer outside the range of the type.
        ValueError: The components have a shape other than `inner`.
    """
    if not inner:
        return to_number(value, dtype, what)
    parts = np.asarray(value, object)
    if parts.shape == ():
        return to_number(value, dtype, what) * math.prod(inner)
    if parts.shape != inner:
        raise ValueError(
            f"{what} takes components of shape {inner}, or one number, got the shape {parts.shape}"
        )
    return b"".join(to_number(part, dtype, what) for part in parts.flat)


def to_number(value: Any, dtype: ScalarType, what: str) -> bytes:
    if dtype.kind in ("int", "uint", "bool"):
        value = as_integer(value, dtype, what)
    elif not is_real(value):
        raise TypeError(f"{what} takes a number, got {type(value).__name__}")
    with np.errstate(over="ignore"):  # overflow gives an infinity, as in a kernel
        return to_device(np.array([value], host_dtype(dtype)), dtype).tobytes()


def is_real(value: Any) -> bool:
    """Return True for a number that `float` accepts. Arrays of one element also have __float__, but are rejected."""
    if isinstance(value, (str, bytes)) or np.iscomplexobj(value) or getattr(value, "ndim", 0) != 0:
        return False
    return (hasattr(value, "__float__") or hasattr(value, "__index__")) and not is_address(value)


def as_integer(value: Any, dtype: ScalarType, what: str) -> int:
    number = int(value) if isinstance(value, np.bool_) else as_int(value)
    if number is None:
        raise TypeError(f"{what} takes an integer, got {value!r} ({type(value).__name__}): convert it")
    bits = 1 if dtype.kind == "bool" else 8 * dtype.size
    low, high = (-(1 << bits - 1), 1 << bits - 1) if dtype.kind == "int" else (0, 1 << bits)
    if not low <= number < high:
        raise OverflowError(f"{what} takes values from {low} to {high - 1}, got {number}")
    return number
