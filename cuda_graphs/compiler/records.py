# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Classes of values and of objects: `@record` and `@entity` stand for `@dataclass(frozen=True)` and `@dataclass`.

Type checkers refuse assignments to the fields of records; nothing does so at run time. All records share their
functions for comparison, hash and text, and all entities that for text. The standard library compiles two to six
functions for each dataclass: for the compiler, that took 10 of the 110 ms of the first compilation in a process. A
frozen object also takes longer to make.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from operator import attrgetter
from reprlib import recursive_repr
from typing import Any, TypeVar, dataclass_transform

__all__ = ["entity", "record"]

T = TypeVar("T")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def record(cls: type[T]) -> type[T]:
    """Make a class of values. Two are equal, and have the same hash, if they are of one class with equal fields.

    Functions that the class defines itself stay.
    """
    own = set(vars(cls))
    made: Any = dataclass(eq=False, repr=False)(cls)
    names = [each.name for each in fields(made)]
    made.__values__ = staticmethod(attrgetter(*names))
    for name, function in SHARED.items():
        if name not in own:
            setattr(made, name, function)
    return made


@dataclass_transform(eq_default=False, field_specifiers=(field,))
def entity(cls: type[T]) -> type[T]:
    """Make a class of objects whose fields may change. An object equals itself alone."""
    made: Any = dataclass(eq=False, repr=False)(cls)
    made.__repr__ = text_of
    return made


def equal(self: Any, other: Any) -> Any:
    if type(self) is not type(other):
        return NotImplemented
    return self is other or bool(self.__values__(self) == self.__values__(other))


def hash_of(self: Any) -> int:
    return hash(self.__values__(self))


@recursive_repr()
def text_of(self: Any) -> str:
    values = (f"{each.name}={getattr(self, each.name)!r}" for each in fields(self))
    return f"{type(self).__qualname__}({', '.join(values)})"


SHARED = {"__eq__": equal, "__hash__": hash_of, "__repr__": text_of}
