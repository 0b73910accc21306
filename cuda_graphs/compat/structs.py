# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Structures: dataclasses with the members of the peers' structures, and structures without a class."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Mapping
from functools import cache, partial
from types import SimpleNamespace
from typing import Any

import numpy as np

from cuda_graphs.compiler.ir.types import ScalarType
from cuda_graphs.compiler.language.annotations import VectorType
from cuda_graphs.compiler.language.host_vectors import HostVector

from .data import element_type, field, ndarray
from .elements import converted, literal_type, peer_type, struct_class
from .vectors import on_host

__all__ = ["Struct", "dataclass", "struct_type"]


def dataclass(cls: type) -> Any:
    """Decorates a class whose members are annotated: a dataclass, which also makes fields and arrays of itself."""
    for name, annotation in list(getattr(cls, "__annotations__", {}).items()):
        cls.__annotations__[name] = element_type(annotation)
    give_zeros(cls)
    if "__setattr__" not in vars(cls):
        cls.__setattr__ = set_converted  # type: ignore[method-assign, assignment]
    return with_members(dataclasses.dataclass(cls, repr=False))


def give_zeros(cls: type) -> None:
    """Make zeros the defaults of members without one, if all members have zeros: a default must not precede others."""
    members: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        members |= inspect.get_annotations(base)
    if all(map(has_zero, members.values())):
        for name, kind in members.items():
            if not hasattr(cls, name):
                setattr(cls, name, zero_of(kind))


def has_zero(kind: Any) -> bool:
    """Return True for members that are 0 where a structure is made without them."""
    return isinstance(kind, (ScalarType, VectorType)) or dataclasses.is_dataclass(kind)


def zero_of(kind: Any) -> Any:
    """Return the default of a member that is a number, a vector or a structure."""
    if isinstance(kind, ScalarType):
        return converted(kind, 0)
    return dataclasses.field(
        default_factory=partial(peer_type(kind), 0) if isinstance(kind, VectorType) else kind
    )


def set_converted(self: Any, name: str, value: Any) -> None:
    """Set a member of a structure on the host, in the type that it has."""
    field = type(self).__dataclass_fields__.get(name)
    object.__setattr__(self, name, value if field is None else converted(field.type, value))


class StructKind(type):
    """A metaclass: `Struct(...)` makes a structure, and all structures are instances of `Struct`."""

    def __call__(cls, members: Mapping[str, Any] | None = None, /, **others: Any) -> Any:
        return struct_value({**(members or {}), **others})

    def __instancecheck__(cls, value: Any) -> bool:
        return dataclasses.is_dataclass(value) and not isinstance(value, type)


class Struct(metaclass=StructKind):
    """Structures without a class: `Struct(mass=1.0)`, and `Struct.field({"mass": f32}, shape=n)`."""

    __cuda_graphs_word__ = SimpleNamespace  # in kernels

    @staticmethod
    def field(members: Mapping[str, Any], shape: Any = None, **options: Any) -> Any:
        """Return a field of structures with these members."""
        return field(struct_type(**members), shape, **options)


def struct_type(**members: Any) -> Any:
    """Return a dataclass with these members: `types.struct(mass=f32)`. `__struct_methods` are its functions.

    Types with the same members are one class.
    """
    methods = members.pop("__struct_methods", {})
    kinds = {name: element_type(kind) for name, kind in members.items()}
    return class_of(tuple(kinds.items()), tuple(methods.items()))


@cache
def class_of(kinds: tuple[tuple[str, Any], ...], methods: tuple[tuple[str, Any], ...]) -> Any:
    return dataclass(type("Structure", (), {"__annotations__": dict(kinds), **dict(methods)}))


def struct_value(members: Mapping[str, Any]) -> Any:
    """Return a structure of values. Its members keep all values, until an element or a kernel takes them."""
    values = {name: member_value(each) for name, each in members.items()}
    made = object.__new__(
        untyped_class(struct_type(**{name: type_of(each) for name, each in values.items()}))
    )
    for name, each in values.items():
        setattr(made, name, each)
    return made


def member_value(value: Any) -> Any:
    """Return a member of `Struct(...)`: a list stands for a vector or a matrix, and a dict for a structure."""
    if isinstance(value, dict):
        return struct_value(value)
    return on_host(value) if isinstance(value, (list, tuple, np.ndarray)) else value


def type_of(value: Any) -> Any:
    """Return the type that a value has in kernels.

    Raises:
        TypeError: The value is no number, vector or structure.
    """
    if isinstance(value, Struct):
        return struct_class(value)
    if isinstance(value, HostVector):
        return VectorType(literal_type(value), value.shape)
    if not isinstance(value, (bool, int, float, np.generic)):
        raise TypeError(f"a member of a Struct is a number, a vector or a structure, not {value!r}")
    return literal_type(np.array(value))


@cache
def untyped_class(cls: Any) -> Any:
    """Return the subclass of a dataclass whose members take values of all types."""
    names = {"__setattr__": object.__setattr__, "__module__": cls.__module__}
    return type(cls.__name__, (cls,), names)


def entries(self: Any) -> dict[str, Any]:
    """The values of the members by name."""
    return {name: getattr(self, name) for name in self.__dataclass_fields__}


def to_dict(self: Any) -> dict[str, Any]:
    """Return the members by name, with dicts for structures and lists for vectors."""
    return {name: plain_value(each) for name, each in entries(self).items()}


def plain_value(value: Any) -> Any:
    if isinstance(value, Struct):
        return to_dict(value)
    return value.tolist() if isinstance(value, HostVector) else value


def member(self: Any, name: str) -> Any:
    """Return a member by its name.

    Raises:
        KeyError: There is no such member.
    """
    return entries(self)[name]


def set_member(self: Any, name: str, value: Any) -> None:
    """Set a member by its name.

    Raises:
        KeyError: There is no such member.
    """
    if name not in self.__dataclass_fields__:
        raise KeyError(name)
    setattr(self, name, value)


# Members of the peers' structures. A program's own members and methods with these names win.
MEMBERS: dict[str, Any] = {
    "field": classmethod(lambda cls, shape=None, **options: field(cls, shape, **options)),
    "ndarray": classmethod(lambda cls, shape, **options: ndarray(cls, shape, **options)),
    "entries": property(entries),
    "keys": property(lambda self: list(entries(self))),
    "items": property(lambda self: entries(self).items()),
    "to_dict": to_dict,
    "__getitem__": member,
    "__setitem__": set_member,
    "__len__": lambda self: len(self.__dataclass_fields__),
    "__repr__": lambda self: str(to_dict(self)),
}


def with_members(made: type) -> type:
    """Give a dataclass the makers of its fields and arrays, and the members of the peers' structures."""
    own = {name for base in made.__mro__[:-1] for name in (*vars(base), *inspect.get_annotations(base))}
    for name in MEMBERS.keys() - own:
        setattr(made, name, MEMBERS[name])
    return made
