# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Structures on the host: elements of arrays as instances of their dataclass, and structured arrays of NumPy.

NumPy's structured type of a dataclass has two forms. Programs get the one whose bf16 members are float32, as elements
of bf16 are in all arrays (dtypes.py). The other one has the layout of the elements in memory.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from cuda_graphs.compiler.ir.types import ScalarType
from cuda_graphs.compiler.language.annotations import VectorType
from cuda_graphs.compiler.language.host_vectors import HostVector
from cuda_graphs.compiler.language.structs import is_struct, struct_dtype, struct_members

from .dtypes import device_dtype, host_dtype

__all__ = [
    "NumpyStructures", "converted", "copy_fields", "device_struct_dtype", "element_of", "element_type",
    "host_struct_dtype", "is_structured", "numpy_structures", "record_of", "scalar_of",
]  # fmt: skip


def host_struct_dtype(cls: Any) -> np.dtype[Any]:
    """Return NumPy's structured type of a dataclass on the host."""
    return struct_dtype(cls, host_dtype)


def device_struct_dtype(cls: Any) -> np.dtype[Any]:
    """Return NumPy's structured type with the layout of the elements on the device."""
    return struct_dtype(cls, device_dtype)


def scalar_of(kind: Any) -> ScalarType:
    """Return the type of the numbers of a member that is no structure."""
    found = kind.dtype if isinstance(kind, VectorType) else kind
    assert isinstance(found, ScalarType)
    return found


def is_structured(value: Any) -> bool:
    """Return True for a structured array of NumPy."""
    return isinstance(value, np.ndarray) and value.dtype.names is not None


def converted(values: np.ndarray[Any, Any], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """Return the elements of a structured array in another type with the same names of fields, in any order."""
    if values.dtype == dtype:
        return values
    found = np.zeros(values.shape, dtype)
    with np.errstate(all="ignore"):  # NumPy decides the result of an overflow
        copy_fields(found, values)
    return found


def copy_fields(to: np.ndarray[Any, Any], values: np.ndarray[Any, Any]) -> None:
    """Copy the fields of a structured array by their names."""
    for name in to.dtype.names or ():
        if to.dtype[name].names:
            copy_fields(to[name], values[name])
        else:
            to[name] = values[name]


class NumpyStructures:
    """A structured array of NumPy in the form of a `StructArray` in the layout "aos", for one call of a kernel.

    Attributes:
        values: The array of NumPy.
        members: Views of all bytes of the array, as the members of `StructArray` are.
    """

    layout = "aos"

    def __init__(self, cls: Any, values: np.ndarray[Any, Any], views: dict[ScalarType, Any]) -> None:
        self.cls, self.values, self.ndim = cls, values, values.ndim
        self.members: dict[str, Any] = {}
        for name, kind in struct_members(cls).items():
            if is_struct(kind):
                self.members[name] = NumpyStructures(kind, values, views)
                continue
            scalar = scalar_of(kind)
            if scalar not in views:
                views[scalar] = values[..., np.newaxis].view(device_dtype(scalar))
            self.members[name] = views[scalar]


def numpy_structures(cls: Any, values: np.ndarray[Any, Any], what: str) -> NumpyStructures:
    """Return a structured array of NumPy in the form that kernels take.

    Raises:
        TypeError: The elements have not the fields of the dataclass, aligned as in C.
    """
    wanted = device_struct_dtype(cls)
    if values.dtype != wanted:
        raise TypeError(
            f"{what} takes an array of {cls.__name__}, got a structured array of {values.dtype}: make it with the type "
            f"{wanted}, whose fields have the order and alignment of C, or copy it to a cg.ndarray with from_numpy"
        )
    return NumpyStructures(cls, values, {})


def record_of(cls: Any, value: Any) -> Any:
    """Return an instance of a dataclass, or one number for all numbers, as an element of NumPy's structured type."""
    record = np.zeros((), host_struct_dtype(cls))
    fill_record(record, cls, value)
    return record[()]


def fill_record(record: Any, cls: Any, value: Any) -> None:
    if not isinstance(value, (cls, int, float)):
        raise TypeError(f"an element is a {cls.__name__}, got {value!r} ({type(value).__name__})")
    for name, kind in struct_members(cls).items():
        part = getattr(value, name) if isinstance(value, cls) else value
        if is_struct(kind):
            fill_record(record[name], kind, part)
        else:
            shape = kind.shape if isinstance(kind, VectorType) else (1,)
            made = VectorType(scalar_of(kind), shape)(part)
            record[name] = made.view(np.ndarray) if isinstance(kind, VectorType) else made[0]


def element_of(cls: Any, record: Any) -> Any:
    """Return an element of NumPy's structured type as an instance of the dataclass."""
    values: dict[str, Any] = {}
    for name, kind in struct_members(cls).items():
        if is_struct(kind):
            values[name] = element_of(kind, record[name])
        elif isinstance(kind, VectorType):
            values[name] = np.array(record[name]).view(HostVector)
        else:
            values[name] = record[name].item()
    made = element_type(cls).made
    return made(values)


@cache
def element_type(cls: Any) -> Any:
    """Return the subclass of a dataclass whose instances do not change: a change would be lost with the copy."""

    def made(values: dict[str, Any]) -> Any:
        self = object.__new__(found)
        for name, value in values.items():
            object.__setattr__(self, name, value)
        return self

    def refuse(self: Any, name: str, value: Any) -> None:
        raise TypeError(
            f"{name!r} of an element cannot change: it is a copy. Assign the whole element: x[i] = {cls.__name__}(...)"
        )

    def equal(self: Any, other: Any) -> Any:
        if not isinstance(other, cls):
            return NotImplemented
        return all(np.array_equal(getattr(self, name), getattr(other, name)) for name in struct_members(cls))

    def replaced(self: Any) -> tuple[Any, ...]:
        return copy_of, (cls, {name: getattr(self, name) for name in struct_members(cls)})

    names = {"__setattr__": refuse, "__eq__": equal, "__hash__": None, "__reduce__": replaced}
    found: Any = type(
        cls.__name__, (cls,), {**names, "made": staticmethod(made), "__module__": cls.__module__}
    )
    return found


def copy_of(cls: Any, values: dict[str, Any]) -> Any:
    """Return the element with these values of members, from its pickled form."""
    made: Callable[..., Any] = element_type(cls).made
    return made(values)
