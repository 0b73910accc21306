# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Structures: the types of their members, and the layouts of arrays of them.

In the layout "soa" each member has an array of its own. In the layout "aos" the members of one element follow one
another, aligned as in C. A member is then a strided part of an array of its type that begins where the elements do.
Members share no bytes, so their arrays count as separate memory in both layouts.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import itertools
import math
import types
import weakref
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import numpy as np

from cuda_graphs.compiler.ir.types import ScalarType

from .annotations import NDArray, VectorType, ndarray
from .host_vectors import host_vector
from .number_rules import USUAL, NumberRules

__all__ = [
    "LAYOUTS",
    "host_value",
    "is_struct",
    "is_unnamed",
    "member_type",
    "normal_annotation",
    "struct_dtype",
    "struct_members",
    "unnamed_struct",
]

LAYOUTS = ("soa", "aos")
T = TypeVar("T")


def normal_annotation(annotation: Any, rules: NumberRules = USUAL) -> Any:
    """Return an annotation in its normal form: scalar types for Python's numbers, NDArray() for `ndarray`.

    Open vectors have components of the default type.
    """
    if isinstance(annotation, VectorType) and annotation.is_open:
        return dataclasses.replace(annotation, dtype=rules.float)
    if annotation is ndarray or annotation is NDArray:
        return NDArray()
    if isinstance(annotation, types.UnionType) and set(annotation.__args__) == {NDArray, types.NoneType}:
        return NDArray(optional=True)
    return rules.named(annotation)


def member_type(cls: Any, member: dataclasses.Field[Any]) -> Any:
    """Return the declared type of a member of a dataclass."""
    annotation: Any = member.type
    if isinstance(annotation, str):
        annotation = inspect.get_annotations(cls, eval_str=True)[member.name]
    return normal_annotation(annotation)


def is_struct(kind: Any) -> bool:
    """Return whether a type is a dataclass. Scalar and vector types are instances of dataclasses."""
    return isinstance(kind, type) and dataclasses.is_dataclass(kind)


class Unnamed:
    """The base of the dataclasses of structures that have no class: `SimpleNamespace(a=1)` in kernels."""


@functools.cache
def unnamed_struct(*names: str) -> type:
    """Return the class of structures without a class that have these members."""
    made = dataclasses.make_dataclass("structure", names, bases=(Unnamed,))
    made.__name__ = f"structure of {', '.join(names)}"  # in messages
    return made


def is_unnamed(cls: type) -> bool:
    """Return whether structures of this class have no class in the program."""
    return issubclass(cls, Unnamed)


def cached_by_class(function: Callable[..., T]) -> Callable[..., T]:
    """Decorates a function of a class and further arguments: it keeps each result as long as the class exists."""
    known: weakref.WeakKeyDictionary[Any, dict[tuple[Any, ...], T]] = weakref.WeakKeyDictionary()

    @functools.wraps(function)
    def find(cls: Any, *others: Any) -> T:
        results = known.setdefault(cls, {})
        if others not in results:
            results[others] = function(cls, *others)
        return results[others]

    return find


@cached_by_class
def struct_members(cls: Any) -> dict[str, Any]:
    """Return the types of the members of a dataclass: scalar types, vector types and dataclasses.

    Raises:
        TypeError: A member is of another type.
    """
    found = {each.name: member_type(cls, each) for each in dataclasses.fields(cls)}
    for name, kind in found.items():
        scalar = kind.dtype if isinstance(kind, VectorType) else kind
        is_number = isinstance(scalar, ScalarType) and scalar.kind != "pointer"
        if not is_number and not is_struct(kind):
            raise TypeError(
                f"arrays of {cls.__name__} cannot be made: member {name!r} is declared as {kind!r}. Members are "
                "numbers, vectors, matrices and dataclasses"
            )
    if not found:
        raise TypeError(f"arrays of {cls.__name__} cannot be made: it has no members")
    return found


def host_value(kind: Any, numbers: Iterator[Any]) -> Any:
    """Return the next value of a type that kernels return, from its numbers in order."""
    if isinstance(kind, VectorType):
        return host_vector(kind.dtype, kind.shape, list(itertools.islice(numbers, math.prod(kind.shape))))
    if isinstance(kind, ScalarType):
        return next(numbers)
    return kind(
        **{each.name: host_value(member_type(kind, each), numbers) for each in dataclasses.fields(kind)}
    )


def stored_number(scalar: ScalarType) -> np.dtype[Any]:
    """Return a type of NumPy with the size of a number in memory. NumPy has no bf16, which has the size of a u16."""
    return np.dtype(scalar.dtype or np.uint16)


@cached_by_class
def struct_dtype(cls: Any, number: Callable[[ScalarType], np.dtype[Any]] = stored_number) -> np.dtype[Any]:
    """Return NumPy's structured type of a dataclass, with members aligned as in C.

    Args:
        number: Returns the type of NumPy for a scalar type.
    """
    parts: list[Any] = []
    for name, kind in struct_members(cls).items():
        if isinstance(kind, VectorType):
            parts.append((name, number(kind.dtype), kind.shape))
        else:
            parts.append((name, struct_dtype(kind, number) if is_struct(kind) else number(kind)))
    return np.dtype(parts, align=True)
