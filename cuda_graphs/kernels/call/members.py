# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The members of objects that kernels use: arrays, which come with each call, and constants.

A Record lists them for one kernel. Kernels in classes (methods.py) and arrays from outside (outside_arrays.py) use it.
"""

from __future__ import annotations

import ast
import dataclasses
import types
import weakref
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from cuda_graphs.compiler.frontend.source import Source
from cuda_graphs.compiler.language.annotations import Fixed, NDArray, OwnMethod, Record
from cuda_graphs.compiler.language.free_names import is_ours
from cuda_graphs.kernels.arrays.ndarray import Field
from cuda_graphs.kernels.arrays.ndarray import NDArray as OurArray
from cuda_graphs.kernels.arrays.struct_array import StructArray, StructField
from cuda_graphs.kernels.specialisation.constants import Seen, freeze

__all__ = [
    "CONTAINERS", "MemberUses", "has_arrays", "has_members", "has_own_members", "is_array", "is_struct_array",
    "key_of", "member_key", "member_of", "record_of", "uses_from", "uses_of",
]  # fmt: skip

ARRAYS = ("__cuda_array_interface__", "__array_interface__", "__dlpack__")
DEPTH = 8  # levels of nested members


def has_members(value: Any) -> bool:
    """Return True for an object of a data_oriented class or of a dataclass, whose members are separate arguments."""
    cls = type(value)
    return hasattr(cls, "__cuda_graphs_data_oriented__") or dataclasses.is_dataclass(cls)


def is_array(value: Any) -> bool:
    """Return True for an array whose address comes with each call, which excludes NumPy scalars and fields."""
    if isinstance(value, OurArray):  # its protocols for other libraries wait for the work on it
        return not isinstance(value, Field)
    if isinstance(value, (type, np.generic)) or hasattr(value, "__cuda_graphs_field__"):
        return False
    return any(hasattr(value, each) for each in ARRAYS)


def is_struct_array(value: Any) -> bool:
    """Return True for an array of structures whose address comes with each call."""
    return isinstance(value, StructArray) and not isinstance(value, StructField)


def record_of(owner: Any, names: Iterable[str], depth: int = DEPTH, around: tuple[Any, ...] = ()) -> Record:
    """Return the Record of the members with these names, and of the members that their methods use.

    A method of the class is inlined, so the record does not contain it. Objects in `around`, which hold this one, are
    left out too.
    """
    members, waiting, done = [], list(names), set()
    while waiting:
        name = waiting.pop(0)
        value = getattr(owner, name, MISSING)
        if (
            name in done
            or value is MISSING
            or hasattr(value, "__cuda_graphs_bound_kernel__")
            or is_of_class(owner, name)
        ):
            continue
        done.add(name)
        value, methods = with_own_methods(value, owner)
        for each in methods:
            used = uses_of(each, type(owner)).names
            waiting += vars(owner) if used is None else used
        if not any(each is value for each in (*around, owner)):
            members.append((name, member_of(value, depth, (*around, owner))))
    return Record(type(owner), tuple(members))


def is_of_class(owner: Any, name: str) -> bool:
    """Return True for the name of a method in the class of an object, which kernels inline."""
    return name not in getattr(owner, "__dict__", ()) and is_inlined(getattr(type(owner), name, None))


def with_own_methods(value: Any, owner: Any) -> tuple[Any, list[Callable[..., Any]]]:
    """Replace each `func` that is bound to `owner` by an OwnMethod, also in lists, tuples and dicts.

    Return the new value, and the functions of the replaced methods.
    """
    if isinstance(value, types.MethodType) and value.__self__ is owner and is_func(value):
        function: Any = value.__func__
        return OwnMethod(function.__cuda_graphs_func__), [function.__cuda_graphs_func__]
    if type(value) not in (list, tuple, dict):
        return value, []
    parts = [with_own_methods(each, owner) for each in (value.values() if type(value) is dict else value)]
    functions = [function for _, found in parts for function in found]
    if not functions:
        return value, []
    made = [each for each, _ in parts]
    return dict(zip(value, made, strict=True)) if type(value) is dict else type(value)(made), functions


MISSING = object()


def member_of(value: Any, depth: int, around: tuple[Any, ...]) -> Any:
    """Return the annotation of a member. `around`: the objects that hold it."""
    if is_array(value):
        return NDArray()
    if is_struct_array(value):
        return NDArray(struct=value.cls)
    if not depth:
        return Fixed(value)
    if has_members(value) or (has_own_members(value) and has_arrays(value)):
        return record_of(value, vars(value), depth - 1, around)
    if type(value) in CONTAINERS and has_arrays(value):
        items = items_of(value)
        return Record(type(value), tuple((name, member_of(each, depth - 1, around)) for name, each in items))
    return Fixed(value)


CONTAINERS = (list, tuple, dict)


def items_of(value: Any) -> Iterable[tuple[Any, Any]]:
    """Return (key, item) of a list, tuple or dict."""
    return value.items() if type(value) is dict else enumerate(value)


def has_own_members(value: Any) -> bool:
    """Return True for an instance of a class of a user, whose attributes are in a dict."""
    is_code = isinstance(value, (type, types.ModuleType, types.FunctionType))
    return hasattr(value, "__dict__") and not is_code and not is_ours(type(value))


def has_arrays(value: Any, of_numpy: bool = True) -> bool:
    """Return True if a value is, or holds at any depth, an array whose address comes with each call.

    With `of_numpy=False`, arrays of NumPy do not count.
    """
    waiting, done = [value], set[int]()
    while waiting:
        each = waiting.pop()
        if is_struct_array(each) or (is_array(each) and (of_numpy or not isinstance(each, np.ndarray))):
            return True
        if id(each) in done:
            continue
        done.add(id(each))
        if type(each) in CONTAINERS:
            waiting += [item for _, item in items_of(each)]
        elif has_own_members(each):
            waiting += vars(each).values()
    return False


def is_inlined(value: Any) -> bool:
    """Return True for a member of a class that kernels inline: a `func`, or a plain method."""
    return is_func(value) or isinstance(value, types.FunctionType)


def is_func(value: Any) -> bool:
    """Return True for a `func`, or for a method that is a `func`."""
    return hasattr(value, "__cuda_graphs_func__")


def key_of(record: Record, seen: Seen | None = None) -> Any:
    """Return a hashable key that is equal for objects with the same kernel. Objects that were `seen` are in it once."""
    seen = {} if seen is None else seen
    members = [(name, member_key(member, seen)) for name, member in record.members]
    return record.cls, tuple(members)


def member_key(member: Any, seen: Seen) -> Any:
    if isinstance(member, Record):
        return key_of(member, seen)
    return freeze(member.value, seen=seen) if isinstance(member, Fixed) else member


@dataclasses.dataclass(frozen=True)
class MemberUses:
    """The members of `self` that a kernel uses, and the functions that were searched for them."""

    names: tuple[str, ...] | None  # None if the kernel passes `self` on, so that it may use all members
    functions: tuple[Callable[..., Any], ...]

    def hold(self, cls: type) -> bool:
        """Return True if the class still has these functions."""
        return all(getattr(cls, each.__name__, None) is each for each in self.functions)

    def plain_functions(self) -> list[Callable[..., Any]]:
        """Return the functions without their decorators."""
        return [getattr(each, "__cuda_graphs_func__", each) for each in self.functions]


def uses_of(function: Callable[..., Any], cls: type) -> MemberUses:
    """Return the MemberUses of a kernel and of the methods that it calls, at any depth."""
    return uses_from(names_of(function), cls)


def uses_from(names: set[str] | None, cls: type) -> MemberUses:
    """Return the MemberUses of code that uses these members, and of the methods that it calls, at any depth."""
    found: dict[str, None] = {}
    functions: list[Callable[..., Any]] = []
    waiting, whole = [names], False
    while waiting:
        names = waiting.pop()
        whole = whole or names is None
        for name in dir(cls) if names is None else names:
            method: Any = getattr(cls, name, None)
            if is_inlined(method) and not name.startswith("__") and method not in functions:
                functions.append(method)
                waiting.append(names_of(getattr(method, "__cuda_graphs_func__", method)))
            found[name] = None
    return MemberUses(None if whole else tuple(sorted(found)), tuple(functions))


def names_of(function: Callable[..., Any]) -> set[str] | None:
    """Return the members that one method uses; None if it passes `self` on."""
    if function not in known_names:
        known_names[function] = find_names(function)
    return known_names[function]


known_names: weakref.WeakKeyDictionary[Callable[..., Any], set[str] | None] = weakref.WeakKeyDictionary()


def find_names(function: Callable[..., Any]) -> set[str] | None:
    code = function.__code__
    if not code.co_argcount:
        return set()
    nodes = list(ast.walk(Source(function).tree))
    owners = {id(node.value): node.attr for node in nodes if isinstance(node, ast.Attribute)}
    uses = [id(node) for node in nodes if isinstance(node, ast.Name) and node.id == code.co_varnames[0]]
    return {owners[each] for each in uses} if all(each in owners for each in uses) else None
