# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Functions that make arrays and fields: `ndarray`, `field`, and those with NumPy's names and order of arguments.

Without a dtype, floats become f32, ints become i32, and bools become bool, as in kernels. Arrays of other libraries
keep their type.
"""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar, Literal, Protocol, overload

import numpy as np

from cuda_graphs.compiler.ir.types import f32, i32
from cuda_graphs.compiler.language.annotations import VectorType
from cuda_graphs.compiler.language.structs import is_struct

from .dtypes import PYTHON, accept_element, exact_integers, numbers_in
from .foreign import from_dlpack
from .ndarray import Field, NDArray, check_host_may_write, empty_array, number_array, number_field
from .struct_array import StructArray, StructField, make_struct_array

__all__ = ["arange", "array", "empty", "field", "full", "ndarray", "ones", "zeros"]

LOW, HIGH = i32.minimum, i32.maximum


class _Structure(Protocol):
    """A dataclass, for type checkers."""

    __dataclass_fields__: ClassVar[dict[str, Any]]


@overload
def ndarray(
    dtype: type[_Structure],
    shape: Any,
    needs_grad: bool = False,
    *,
    needs_dual: bool = False,
    device: Any = None,
    layout: Literal["soa", "aos"] | None = None,
) -> StructArray: ...
@overload
def ndarray(
    dtype: Any,
    shape: Any,
    needs_grad: bool = False,
    *,
    needs_dual: bool = False,
    device: Any = None,
    layout: None = None,
) -> NDArray: ...
def ndarray(
    dtype: Any,
    shape: Any,
    needs_grad: bool = False,
    *,
    needs_dual: bool = False,
    device: Any = None,
    layout: str | None = None,
) -> Any:
    """Make an array for kernels, filled with zeros.

    While the current stream is captured (`capture`), the array is memory of the graph, and each launch fills it with
    zeros. If the array dies in the block, the graph frees it. Otherwise the graph keeps it: after a launch the values
    are valid until the next launch.

    Args:
        dtype: The type of the elements: an element type such as `f32`, or a NumPy type. For vector and matrix
            elements, a type such as `vec3` or `types.mat(2, 3, f64)`. For structures, a dataclass.
        shape: An int or a tuple of ints from 0 to 2**31 - 1; ``()`` for one element without an index.
        needs_grad: Whether the array has a `grad`; its `dual` is made at the first access.
        needs_dual: Whether the array has a `dual` without a `grad`.
        device: A Device or its number; None for the current device of this thread, or device 0 if no device is
            current.
        layout: For structures, "soa" (the default): an array for each member; or "aos": one element after the other.

    Raises:
        TypeError: `dtype` is not an element type; an extent is not an int; or `needs_grad` or `needs_dual` is set for
            elements that are not floats, or for structures without floats.
        ValueError: An extent is out of range, or `layout` is unknown.
        CUDAError: The device has not enough memory.
    """
    return make_elements(number_array, dtype, shape, needs_grad, needs_dual, device, layout)


@overload
def field(
    dtype: type[_Structure],
    shape: Any,
    needs_grad: bool = False,
    *,
    needs_dual: bool = False,
    device: Any = None,
    layout: Literal["soa", "aos"] | None = None,
) -> StructField: ...
@overload
def field(
    dtype: Any,
    shape: Any,
    needs_grad: bool = False,
    *,
    needs_dual: bool = False,
    device: Any = None,
    layout: None = None,
    offset: Any = None,
) -> Field: ...
def field(
    dtype: Any,
    shape: Any,
    needs_grad: bool = False,
    *,
    needs_dual: bool = False,
    device: Any = None,
    layout: str | None = None,
    offset: Any = None,
) -> Any:
    """Make a Field: an array like `ndarray`, whose address and shape are constants of kernels.

    The first use, by a kernel or by the host, allocates the memory and fills it with zeros. Without a
    `device`, the field is on the device that is current at the first use.

    Args:
        dtype, shape, needs_grad, needs_dual, device, layout: As in `ndarray`.
        offset: The first index of each dimension, in kernels and on the host: an int or a tuple of ints. Indices of a
            field with an offset do not count from its end, and it has no slices.

    Raises:
        TypeError: `offset` is not made of ints, or the elements are structures.
        ValueError: `offset` has not one number for each dimension, or indices exceed 32 bits.
    """
    make = field_maker(dtype, offset, Field)
    return make_elements(make, dtype, shape, needs_grad, needs_dual, device, layout)


def field_maker(dtype: Any, offset: Any, cls: type[Field]) -> Any:
    """Return the function that makes the fields of numbers and vectors of a field, for `make_elements`.

    Raises:
        TypeError: `offset` is not None, and the elements are structures.
    """
    if offset is not None and is_struct(dtype):
        raise TypeError(
            "offset is for fields of numbers and vectors: subtract it from the indices of structures"
        )
    return partial(number_field, offset=offset, cls=cls)


def make_elements(
    make: Any, dtype: Any, shape: Any, needs_grad: bool, needs_dual: bool, device: Any, layout: str | None
) -> Any:
    """Return an array or field. `make` makes those of numbers and vectors."""
    if is_struct(dtype):
        layout = "soa" if layout is None else layout
        return make_struct_array(make, dtype, shape, layout, needs_grad, needs_dual, device)
    if layout is not None:
        raise TypeError(f"layout={layout!r} is for arrays of structures, and {dtype!r} is not a dataclass")
    return make(dtype, shape, needs_grad, needs_dual, device)


def zeros(shape: Any, dtype: Any = f32, *, needs_grad: bool = False, device: Any = None) -> NDArray:
    """Return an array of zeros. See `ndarray` for the arguments."""
    made: NDArray = ndarray(dtype, shape, needs_grad, device=device)
    return made


def ones(shape: Any, dtype: Any = f32, *, needs_grad: bool = False, device: Any = None) -> NDArray:
    """Return an array of ones; all components of vector elements are 1. See `ndarray` for the arguments."""
    return full(shape, 1, dtype, needs_grad=needs_grad, device=device)


def full(
    shape: Any, fill_value: Any, dtype: Any = None, *, needs_grad: bool = False, device: Any = None
) -> NDArray:
    """Return an array whose elements have one value. Arguments: see `ndarray`; values: see `NDArray.fill`."""
    made: NDArray = ndarray(type_of(fill_value) if dtype is None else dtype, shape, needs_grad, device=device)
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
        OverflowError: An int in the lists does not fit an integer type.
        RuntimeError: The current stream is captured.
    """
    if hasattr(obj, "__cuda_array_interface__") and not isinstance(obj, NDArray):
        obj = from_dlpack(obj)
    values = obj.to_numpy() if isinstance(obj, NDArray) else numbers_in(obj)
    if dtype is None:
        dtype = type_of(obj)
    scalar, inner = accept_element(dtype)
    if isinstance(obj, list | tuple | int):
        values = exact_integers(obj, values, scalar)
    if values.shape[max(values.ndim - len(inner), 0) :] != inner:
        raise ValueError(
            f"values of shape {values.shape} do not end with the components {inner} of {dtype!r}"
        )
    check_host_may_write()
    made: NDArray = ndarray(dtype, values.shape[: values.ndim - len(inner)], needs_grad, device=device)
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
