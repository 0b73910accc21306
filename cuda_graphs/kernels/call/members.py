# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The members of objects that kernels use: arrays, which come with each call, and constants.

A Record lists them for one kernel. Kernels in classes (methods.py) and arrays from outside (outside_arrays.py) use it.
"""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from cuda_graphs.compiler.language.annotations import Fixed, NDArray, OwnMethod, Record
from cuda_graphs.compiler.language.free_names import is_ours
from cuda_graphs.compiler.language.host_vectors import HostVector
from cuda_graphs.kernels.arrays.ndarray import Field
from cuda_graphs.kernels.arrays.ndarray import NDArray as OurArray
from cuda_graphs.kernels.arrays.struct_array import StructArray, StructField
from cuda_graphs.kernels.specialisation.constants import Seen, freeze

from .member_uses import STAR, Uses, is_func, is_inlined, merged, plain, uses_in

__all__ = [
    "CONTAINERS", "has_arrays", "has_members", "has_own_members", "is_array", "is_struct_array", "key_of",
    "member_key", "member_of", "record_of",
]  # fmt: skip

ARRAYS = ("__cuda_array_interface__", "__array_interface__", "__dlpack__")
DEPTH = 8  # levels of nested members


def has_members(value: Any) -> bool:
    """Return True for an object of a data_oriented class or of a dataclass, whose members are separate arguments."""
    cls = type(value)
    return hasattr(cls, "__cuda_graphs_data_oriented__") or dataclasses.is_dataclass(cls)


def is_array(value: Any) -> bool:
    """Return True for an array whose address comes with each call, which excludes fields, and numbers and vectors."""
    if isinstance(value, OurArray):  # its protocols for other libraries wait for the work on it
        return not isinstance(value, Field)
    if isinstance(value, (type, np.generic, HostVector)) or hasattr(value, "__cuda_graphs_field__"):
        return False
    return any(hasattr(value, each) for each in ARRAYS)


def is_struct_array(value: Any) -> bool:
    """Return True for an array of structures whose address comes with each call."""
    return isinstance(value, StructArray) and not isinstance(value, StructField)


def record_of(owner: Any, uses: Uses | None, depth: int = DEPTH, around: tuple[Any, ...] = ()) -> Record:
    """Return the Record of the members that code uses, and of the members that their methods use.

    `uses=None` stands for all attributes. Other members are read as Python reads them, so properties and other
    descriptors give their values. A method of the class is inlined, so the record does not contain it. Objects in
    `around`, which hold this one, are left out where they are used as a whole.
    """
    members, used = [], all_uses(owner, uses)
    for name, inner in used.items():
        value = getattr(owner, name, MISSING)
        if value is MISSING or hasattr(value, "__cuda_graphs_bound_kernel__"):
            continue
        value, _ = with_own_methods(value, owner)
        if STAR + name in used and is_row(value):
            members.append((name, Fixed(value.copy().view(HostVector))))
            continue
        if inner is not None or not any(each is value for each in (*around, owner)):
            members.append((name, member_of(value, depth, (*around, owner), inner)))
    return Record(type(owner), tuple(members))


def is_row(value: Any) -> bool:
    """Return True for an array of NumPy of one dimension. Code that unpacks it needs its numbers when compiling."""
    return isinstance(value, np.ndarray) and value.ndim == 1


def all_uses(owner: Any, uses: Uses | None) -> Uses:
    """Add to the uses of an object those of its methods, and of its members that are its methods, at any depth."""
    found: Uses = {}
    waiting, done = [uses], set[Any]()
    while waiting:
        uses = waiting.pop(0)
        if uses is None:
            uses = dict.fromkeys(vars(owner))
        for name, inner in uses.items():
            if is_of_class(owner, name):
                methods = [plain(getattr(type(owner), name))]
            else:
                found[name] = merged(found[name], inner) if name in found else inner
                methods = with_own_methods(getattr(owner, name, None), owner)[1]
            waiting += [uses_in(each) for each in methods if each not in done]
            done.update(methods)
    return found


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


def member_of(value: Any, depth: int, around: tuple[Any, ...], uses: Uses | None = None) -> Any:
    """Return the annotation of a member, of which code uses these members. `around`: the objects that hold it."""
    if is_array(value):
        return NDArray()
    if is_struct_array(value):
        return NDArray(struct=value.cls)
    if not depth:
        return Fixed(value)
    if has_members(value) or (has_own_members(value) and has_arrays(value)):
        return record_of(value, uses, depth - 1, around)
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


def key_of(record: Record, seen: Seen | None = None) -> Any:
    """Return a hashable key that is equal for objects with the same kernel. Objects that were `seen` are in it once."""
    seen = {} if seen is None else seen
    members = [(name, member_key(member, seen)) for name, member in record.members]
    return record.cls, tuple(members)


def member_key(member: Any, seen: Seen) -> Any:
    if isinstance(member, Record):
        return key_of(member, seen)
    return freeze(member.value, seen=seen) if isinstance(member, Fixed) else member
