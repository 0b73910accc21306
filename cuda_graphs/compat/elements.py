# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Vectors, matrices and structures on the host that programs of the peers change in place.

An element of a field or array writes its changes back: `x[0][1] = 2`, `particles[3].mass = 1`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from cuda_graphs.compiler.ir.types import BY_DTYPE, ScalarType, f64, i64
from cuda_graphs.compiler.language.annotations import VectorType
from cuda_graphs.compiler.language.host_vectors import HostVector, swizzled

from .program import settings

__all__ = [
    "PeerVector", "PeerVectorType", "converted", "literal_type", "peer_type", "result", "struct_class",
    "structure_element", "vector_element",
]  # fmt: skip

Write = Callable[[Any], None]
PYTHON: dict[str, Callable[[Any], Any]] = {"int": int, "uint": int, "float": float, "bool": bool}


class PeerVector(HostVector):
    """A vector or matrix whose components can be assigned.

    Without a dtype the components are those that NumPy makes of numbers of Python, as in the peers: f64 and i64. In a
    kernel they get the types of its literals. Comparisons compare the components.
    """

    write: Write | None = None  # stores the vector where it is an element

    def in_kernels(self) -> PeerVector:
        """Return the vector that a kernel gets as a constant."""
        return self.astype(literal_type(self).dtype, copy=False).view(PeerVector)

    @property
    def entries(self) -> Any:
        """The components as an array of NumPy that shares their memory."""
        return self.view(np.ndarray)

    def __eq__(self, other: Any) -> Any:
        return compared(np.ndarray.__eq__, self, other).view(AllTrue)

    def __ne__(self, other: Any) -> Any:
        return compared(np.ndarray.__ne__, self, other).view(AnyTrue)

    __hash__ = HostVector.__hash__

    def __repr__(self) -> str:
        return str(self.entries)

    def __setitem__(self, index: Any, value: Any) -> None:
        np.ndarray.__setitem__(self, index, value)
        self._changed()

    def __setattr__(self, name: str, value: Any) -> None:
        places = swizzled(name, len(self))
        if places is not None:
            np.ndarray.__setitem__(self, places, value)
            self._changed()
        elif hasattr(type(self), name):
            object.__setattr__(self, name, value)
        else:
            raise AttributeError(
                f"a vector or matrix of {len(self)} components or rows has no member {name!r} to set"
            )

    def __getitem__(self, index: Any) -> Any:
        found = super().__getitem__(index)
        if isinstance(found, PeerVector) and found.base is not None:  # a row of a matrix
            object.__setattr__(found, "write", lambda part: self._changed())
        is_number_of_element = self.write is not None and isinstance(found, np.generic)
        return found.item() if is_number_of_element else found

    def _changed(self) -> None:
        if self.write is not None:
            self.write(self)

    def fill(self, value: Any) -> None:
        """Set all components."""
        self[...] = value

    def to_list(self) -> Any:
        """Return the components as nested lists."""
        return self.tolist()

    def to_numpy(self) -> Any:
        """Return the components as an array of NumPy."""
        return np.array(self.entries)

    def get_shape(self) -> tuple[int, ...]:
        """Return the numbers of rows and columns, or of components."""
        return tuple(int(each) for each in self.shape)

    def cast(self, dtype: Any) -> Any:
        """Return the components converted to another type, as in kernels."""
        return super().cast(dtype).view(PeerVector)


class AllTrue(PeerVector):
    """The result of `==`, by components. It counts as true if all components are equal."""

    def __bool__(self) -> bool:
        return bool(self.entries.all())


class AnyTrue(PeerVector):
    """The result of `!=`, by components. It counts as true if any component differs."""

    def __bool__(self) -> bool:
        return bool(self.entries.any())


def compared(compare: Callable[..., Any], vector: PeerVector, other: Any) -> Any:
    """Return the comparison of the components with those of another vector, an array, a list or a number."""
    return compare(vector.entries, other.entries if isinstance(other, PeerVector) else other)


def literal_type(numbers: np.ndarray[Any, Any]) -> ScalarType:
    """Return the type of numbers in kernels. f64 and i64 become the default types, if these hold all integers."""
    own = BY_DTYPE[numbers.dtype.str]
    usual = {f64: settings().default_fp, i64: settings().default_ip}.get(own, own)
    is_held = usual.kind != "int" or all(usual.minimum <= each <= usual.maximum for each in numbers.flat)
    return usual if is_held else own


class PeerVectorType(VectorType):
    """A type of vectors or matrices whose values on the host can be changed in place. It equals that of the library."""

    field: Callable[..., Any]  # the makers of its fields and arrays, from data.py
    ndarray: Callable[..., Any]

    def __call__(self, *args: Any) -> PeerVector:
        dtype = settings().default_fp if self.is_open else self.dtype
        return VectorType(dtype, self.shape)(*args).view(PeerVector)

    def __getitem__(self, dtype: Any) -> PeerVectorType:
        return peer_type(super().__getitem__(dtype))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, VectorType):
            return NotImplemented
        return (self.dtype, self.shape, self.is_open) == (other.dtype, other.shape, other.is_open)

    __hash__ = VectorType.__hash__

    @property
    def n(self) -> int:
        """The number of components of the vectors, or of rows of the matrices."""
        return self.shape[0]

    @property
    def m(self) -> int:
        """The number of columns of the matrices; 1 for vectors."""
        return (*self.shape, 1)[1]

    @property
    def ndim(self) -> int:
        """1 for vectors, 2 for matrices."""
        return len(self.shape)

    def get_shape(self) -> tuple[int, ...]:
        """Return the numbers of rows and columns, or of components."""
        return self.shape


def peer_type(kind: VectorType) -> PeerVectorType:
    """Return the type of the same vectors with values that can be changed."""
    return PeerVectorType(kind.dtype, kind.shape, kind.is_open)


def vector_element(found: HostVector, write: Write) -> PeerVector:
    """Return an element that is a vector of numbers of Python, whose changes are stored by `write`."""
    dtype = found.dtype if found.dtype == np.uint64 else None  # NumPy makes floats of some large numbers
    made = np.array(found.tolist(), dtype).view(PeerVector)
    object.__setattr__(made, "write", write)
    return made


def result(found: Any) -> Any:
    """Return what a kernel returns, with vectors that can be changed."""
    if isinstance(found, HostVector):
        return found.view(PeerVector)
    if type(found) is tuple:
        return tuple(map(result, found))
    for name in getattr(type(found), "__dataclass_fields__", ()):
        object.__setattr__(found, name, result(getattr(found, name)))
    return found


def structure_element(found: Any, cls: Any, write: Write) -> Any:
    """Return an element that is a structure of the dataclass `cls`, whose changes are stored by `write`."""
    made = object.__new__(writing_class(cls))
    values = {name: getattr(found, name) for name in cls.__dataclass_fields__}
    object.__setattr__(made, "values", values)
    object.__setattr__(made, "write", write)
    return made


def converted(kind: Any, value: Any) -> Any:
    """Return an element, or a member of a structure, in its type.

    Integers keep the bits that the type has, as in C. A list or a number is made a vector, and a dict or a structure of
    another type a structure.
    """
    if isinstance(kind, VectorType) and not isinstance(value, HostVector):
        return peer_type(kind)(value)
    if isinstance(kind, ScalarType):
        return converted_numbers(kind, value)
    if isinstance(value, dict) and hasattr(kind, "__dataclass_fields__"):
        return kind(**value)
    if hasattr(type(value), "__dataclass_fields__") and not isinstance(value, kind):
        return kind(**{name: getattr(value, name) for name in value.__dataclass_fields__})
    return value


def converted_numbers(kind: ScalarType, value: Any) -> Any:
    """Return a number, or the components of a vector or the rows of a matrix, in a type of numbers."""
    if isinstance(value, (int, float, np.generic)):
        return wrapped(kind, PYTHON[kind.kind](value))
    if isinstance(value, (list, tuple, HostVector)):
        return [converted_numbers(kind, each) for each in value]
    return value


def wrapped(kind: ScalarType, number: Any) -> Any:
    """Return a number of Python, modulo the range of a type of integers."""
    if kind.kind not in ("int", "uint"):
        return number
    return (number - kind.minimum) % (kind.maximum - kind.minimum + 1) + kind.minimum


@cache
def writing_class(cls: Any) -> Any:
    """Return the subclass of a dataclass whose instances are elements."""

    def member(name: str) -> property:
        def read(self: Any) -> Any:
            value = self.values[name]

            def store(part: Any) -> None:
                self.values[name] = part
                self.write(self)

            if isinstance(value, HostVector):
                return vector_element(value, store)
            if hasattr(type(value), "__dataclass_fields__"):
                return structure_element(value, struct_class(value), store)
            return value

        def change(self: Any, value: Any) -> None:
            self.values[name] = converted(cls.__dataclass_fields__[name].type, value)
            self.write(self)

        return property(read, change)

    def equal(self: Any, other: Any) -> Any:
        if not isinstance(other, cls):
            return NotImplemented
        return all(np.array_equal(getattr(self, name), getattr(other, name)) for name in self.values)

    members = {name: member(name) for name in cls.__dataclass_fields__}
    return type(
        cls.__name__, (cls,), {**members, "__module__": cls.__module__, "__eq__": equal, "__hash__": None}
    )


def struct_class(value: Any) -> Any:
    """Return the dataclass of a structure, which elements derive from."""
    kind = type(value)
    return kind if "__dataclass_fields__" in vars(kind) else kind.__mro__[1]
