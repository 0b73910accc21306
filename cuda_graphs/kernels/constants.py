# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Values that kernels were compiled for: when are two of them the same?

Of numbers, texts and containers the value counts, and the type: `1`, `1.0` and `True` make different code. Of other
objects it is who they are, and what their attributes are now.
"""

from __future__ import annotations

import itertools
import types
from enum import Enum
from typing import Any

__all__ = ["Interned", "frozen"]

PLAIN = (bool, int, str, bytes, type(None))
# What is nothing but itself, whatever attributes it has.
THEMSELVES = (type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType, Enum)
# Whose methods give what depends on the value alone.
VALUES = (bool, int, float, str, bytes, tuple, list, dict, set, frozenset)


def is_of_numpy(value: Any) -> bool:
    """Whether it is an array or a scalar."""
    return hasattr(value, "tobytes") and hasattr(value, "dtype")


def is_method_of_value(value: Any) -> bool:
    """`TABLE.get`: Python makes another object each time that it is asked for."""
    if not isinstance(value, types.BuiltinMethodType):
        return False
    return type(value.__self__) in VALUES or is_of_numpy(value.__self__)


def frozen(value: Any, depth: int = 8) -> Any:
    """Something hashable that is equal for values that make the same code, and for no others."""
    kind = type(value)
    if kind in PLAIN:
        return kind, value
    if kind is float:
        return kind, value.hex()  # which tells the zeros apart, and finds NaN equal to itself
    if isinstance(value, (tuple, list)):
        return kind, tuple([frozen(each, depth) for each in value])
    if isinstance(value, dict):
        return kind, tuple([(frozen(k, depth), frozen(v, depth)) for k, v in value.items()])
    if isinstance(value, (set, frozenset)):
        return kind, frozenset([frozen(each, depth) for each in value])
    if is_of_numpy(value):
        return kind, str(value.dtype), getattr(value, "shape", ()), value.tobytes()
    if is_method_of_value(value):
        return kind, value.__name__, frozen(value.__self__, depth)
    if kind is types.MethodType:
        return kind, id(value.__func__), frozen(value.__self__, depth)
    if isinstance(value, THEMSELVES) or depth == 0:
        return kind, id(value)
    return kind, id(value), tuple([(name, frozen(each, depth - 1)) for name, each in members(value)])


def members(value: Any) -> list[tuple[str, Any]]:
    """The attributes that an object has, of its own or of its class, but for functions."""
    found = list(getattr(value, "__dict__", {}).items())
    return found + [(name, getattr(value, name, None)) for name in data_of(type(value))]


def data_of(cls: type) -> list[str]:
    """What a class, and those that it is made of, have that is not code: for all objects, and as slots."""
    return [
        name
        for each in cls.__mro__
        for name, member in vars(each).items()
        if (not name.startswith("__") and not hasattr(type(member), "__get__"))
        or ("__slots__" in vars(each) and isinstance(member, types.MemberDescriptorType))
    ]


class Interned:
    """Numbers of the values of one template parameter. The values are kept: no other takes the place of one.

    A number is never given twice, also not to two threads that ask at the same time, nor after `forget`.
    """

    def __init__(self) -> None:
        self.numbers: dict[Any, tuple[int, Any]] = {}
        self.next = itertools.count()

    def number(self, value: Any) -> int:
        """The number of a value, the same for values that make the same code."""
        key = frozen(value)
        found = self.numbers.get(key)
        if found is None:
            found = self.numbers.setdefault(key, (next(self.next), value))
        return found[0]

    def forget(self) -> None:
        """Let go of the values."""
        self.numbers.clear()
