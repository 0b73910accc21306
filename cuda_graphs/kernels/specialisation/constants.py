# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Equality of the values that kernels were compiled for.

Numbers, strings and containers are equal if their types and values are equal: `1`, `1.0` and `True` make different
code. Frozen dataclasses are equal if their classes and fields are equal, and objects of classes with `__eq__` and
`__hash__` if these methods say so. Other objects are equal if they are the same object with the same attributes.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import types
import weakref
from enum import Enum
from typing import Any

import numpy as np

__all__ = ["Interned", "Seen", "data_of", "freeze", "is_fixed"]

PLAIN = (bool, int, str, bytes, type(None))
# Types whose objects compare by identity alone: their attributes are ignored.
BY_IDENTITY = (type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType, Enum)
# Types whose methods return results that depend on the value alone.
VALUES = (bool, int, float, str, bytes, tuple, list, dict, set, frozenset)


Seen = dict[int, tuple[int, Any]]
"""id -> (depth to which an object was looked at, the object: the reference keeps its id unique)."""

# Protocols of arrays. Their `==` compares element by element.
ARRAYS = ("__array_interface__", "__cuda_array_interface__", "__dlpack__")


def is_fixed(value: Any) -> bool:
    """Return True for a value that cannot change, and whose parts cannot change either.

    Frozen dataclasses of such values count, and hashable objects of classes with `__eq__` and `__hash__`. Objects that
    are compared by identity alone count too, as `BY_IDENTITY` has them.
    """
    if type(value) in (*PLAIN, float, complex) or isinstance(value, BY_IDENTITY) or is_unchanging(value):
        return not is_method_of_value(value)
    if isinstance(value, (tuple, frozenset)):
        return not getattr(value, "__dict__", None) and all(map(is_fixed, value))
    if is_frozen(value):
        return all(is_fixed(getattr(value, each.name, None)) for each in dataclasses.fields(value))
    return is_own_value(value)


def is_unchanging(value: Any) -> bool:
    """Return True for a field, whose type and shape never change, and for a number of NumPy."""
    kind = type(value)
    return hasattr(kind, "__cuda_graphs_field__") or (isinstance(value, np.generic) and kind is not np.void)


def is_array(value: Any) -> bool:
    """Return True for an array of any library."""
    return any(hasattr(type(value), each) for each in ARRAYS)


def is_frozen(value: Any) -> bool:
    """Return True for an object of a frozen dataclass that is compared by its fields."""
    parameters = None if isinstance(value, type) else getattr(value, "__dataclass_params__", None)
    if parameters is None:
        return False
    return bool(parameters.frozen and parameters.eq) and not added_attributes(value)


def added_attributes(value: Any) -> list[str]:
    """Return the attributes of a dataclass's object that follow neither from its fields nor from its class."""
    kind = type(value)
    cached = functools.cached_property
    return [
        name
        for name in getattr(value, "__dict__", ())
        if name not in kind.__dataclass_fields__ and not isinstance(getattr(kind, name, None), cached)
    ]


def is_own_value(value: Any) -> bool:
    """Return True for a hashable object whose class defines `__eq__` and `__hash__` in Python, except for arrays.

    The methods that `dataclass` generates do not count: an object that is not frozen can change.
    """
    kind = type(value)
    own = (kind.__eq__, kind.__hash__)
    is_generated = dataclasses.is_dataclass(kind) and kind.__dataclass_params__.eq  # type: ignore[attr-defined]
    if is_generated or not all(isinstance(each, types.FunctionType) for each in own):
        return False
    if is_array(value):
        return False
    try:
        hash(value)
    except TypeError:
        return False
    return True


def is_of_numpy(value: Any) -> bool:
    """Return True for an array or a scalar of NumPy, and False for a class of them."""
    return hasattr(value, "tobytes") and hasattr(value, "dtype") and not isinstance(value, type)


def is_method_of_value(value: Any) -> bool:
    """Return True for a bound method of a value, such as `TABLE.get`: each access makes a new object."""
    if not isinstance(value, types.BuiltinMethodType):
        return False
    return type(value.__self__) in VALUES or is_of_numpy(value.__self__)


def class_key(cls: type, depth: int, seen: Seen) -> Any:
    """Return a key of a class, whose class methods may read its attributes."""
    names = data_of(cls) if depth else ()
    return id(cls), tuple([(name, freeze(getattr(cls, name), depth - 1, seen)) for name in names])


def freeze(value: Any, depth: int = 8, seen: Seen | None = None) -> Any:
    """Return a hashable key that is equal for two values exactly if they make the same code.

    Attributes of objects count up to a depth. An object that was `seen` to that depth or deeper is in the key once:
    objects that refer to each other on many ways would take exponential time otherwise.
    """
    kind = type(value)
    if kind in PLAIN:
        return kind, value
    if kind is float:
        return kind, value.hex()  # distinguishes 0.0 from -0.0, and NaN equals NaN
    seen = {} if seen is None else seen
    if isinstance(value, (tuple, list)):
        return kind, tuple([freeze(each, depth, seen) for each in value])
    if isinstance(value, dict):
        return kind, tuple([(freeze(k, depth, seen), freeze(v, depth, seen)) for k, v in value.items()])
    if isinstance(value, (set, frozenset)):
        return kind, frozenset([freeze(each, depth, dict(seen)) for each in value])  # in any order
    if is_of_numpy(value):
        return kind, str(value.dtype), getattr(value, "shape", ()), value.tobytes()
    if is_method_of_value(value):
        return kind, value.__name__, freeze(value.__self__, depth, seen)
    if kind is types.MethodType and isinstance(value.__self__, type):
        return kind, id(value.__func__), class_key(value.__self__, depth, seen)
    if kind is types.MethodType:
        return kind, id(value.__func__), freeze(value.__self__, depth, seen)
    if isinstance(value, BY_IDENTITY):
        return kind, id(value)
    if is_frozen(value):
        fields = dataclasses.fields(value)
        return (
            kind,
            tuple([freeze(getattr(value, each.name, None), depth, seen) for each in fields]),
            class_data(kind),
        )
    if is_own_value(value):
        return kind, value
    if depth == 0 or seen.get(id(value), (-1,))[0] >= depth:
        return kind, id(value)
    seen[id(value)] = depth, value
    return kind, id(value), tuple([(name, freeze(each, depth - 1, seen)) for name, each in members(value)])


def members(value: Any) -> list[tuple[str, Any]]:
    """Return (name, value) of the attributes of an object and of its class, without functions."""
    found = list(getattr(value, "__dict__", {}).items())
    return found + [(name, getattr(value, name, None)) for name in data_of(type(value))]


def class_data(cls: type) -> tuple[Any, ...]:
    """Return the frozen class attributes of a frozen dataclass that are no defaults of its fields."""
    own = [name for name in data_of(cls) if name not in cls.__dataclass_fields__]  # type: ignore[attr-defined]
    return tuple([(name, freeze(getattr(cls, name, None))) for name in own])


def data_of(cls: type) -> list[str]:
    """Return the names of the class attributes and slots of a class and its bases, without functions."""
    return [name for each in cls.__mro__ for name in own_data_of(each)]


Shape = tuple[tuple[str, ...], tuple["weakref.ref[type]", ...]]
own_data: weakref.WeakKeyDictionary[type, tuple[Shape, list[str]]] = weakref.WeakKeyDictionary()


def own_data_of(cls: type) -> list[str]:
    """Return the names of the class attributes and slots of one class.

    They follow from the names and types of all its attributes, which are compared with those of the last call. The
    types are not kept alive: one of them may be the class, as for an enumeration.
    """
    attributes = vars(cls)
    shape = tuple(attributes), tuple([weakref.ref(type(each)) for each in attributes.values()])
    known = own_data.get(cls)
    if known is None or known[0] != shape:
        has_slots = "__slots__" in attributes
        names = [
            name
            for name, member in attributes.items()
            if (not name.startswith("__") and not hasattr(type(member), "__get__"))
            or (has_slots and isinstance(member, types.MemberDescriptorType))
        ]
        known = own_data[cls] = shape, names
    return known[1]


class Interned:
    """Numbers of the values of one template parameter.

    The object keeps the values alive, so that no other object can get the same identity. Each number is used once, even
    if two threads call `number` at the same time, and even after `forget`.
    """

    def __init__(self) -> None:
        self.numbers: dict[Any, tuple[int, Any]] = {}
        self.next = itertools.count()

    def number(self, value: Any) -> int:
        """Return the number of a value; values that make the same code have the same number."""
        key = freeze(value)
        found = self.numbers.get(key)
        if found is None:
            found = self.numbers.setdefault(key, (next(self.next), value))
        return found[0]

    def forget(self) -> None:
        """Release the values."""
        self.numbers.clear()
