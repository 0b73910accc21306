# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The members of objects that kernels use: arrays, which come with each call, and constants.

A Record lists them for one kernel. Kernels in classes (methods.py) and arrays from outside (outside_arrays.py) use it.
"""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from cuda_graphs.compiler.language.annotations import Fixed, NDArray, OwnMethod, Record
from cuda_graphs.compiler.language.free_names import is_ours
from cuda_graphs.compiler.language.host_vectors import HostVector
from cuda_graphs.kernels.arrays.ndarray import Field
from cuda_graphs.kernels.arrays.ndarray import NDArray as OurArray
from cuda_graphs.kernels.arrays.struct_array import StructArray, StructField
from cuda_graphs.kernels.specialisation.constants import Seen, data_of, freeze

from .member_guards import (
    MISSING,
    ArrayGuard,
    ComputedGuard,
    EnclosingGuard,
    FixedGuard,
    ItemsGuard,
    LeftOutGuard,
    MemberGuard,
    OwnMethodGuard,
    RecordGuard,
    RowGuard,
    StructArrayGuard,
)
from .member_uses import STAR, Uses, is_func, is_inlined, merged, plain, uses_in

__all__ = [
    "CONTAINERS", "guarded_member", "guarded_record", "has_arrays", "has_members", "has_own_members", "is_array",
    "is_struct_array", "key_of", "member_key",
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


def guarded_record(
    owner: Any, uses: Uses | None, depth: int = DEPTH, around: tuple[Any, ...] = ()
) -> RecordGuard:
    """Return the guard of an object, with the Record of the members that code uses and that their methods use.

    `uses=None` stands for all attributes. Other members are read as Python reads them, so properties and other
    descriptors give their values. A method of the class is inlined, so the record does not contain it. Objects in
    `around`, which hold this one, are left out where they are used as a whole.
    """
    used = all_uses(owner, uses)
    holders = (*around, owner)
    guards = [
        (name, guarded_use(owner, name, inner, STAR + name in used.names, depth, holders), inner is None)
        for name, inner in used.names.items()
        if not name.startswith(STAR)
    ]
    members = tuple([(name, guard.annotation) for name, guard, _ in guards if guard.annotation is not None])
    return RecordGuard(
        Record(type(owner), members),
        [(name, guard, whole and guard.annotation is not None) for name, guard, whole in guards],
        used.methods,
        tuple(vars(owner)) if used.takes_all else None,
    )


def guarded_use(
    owner: Any, name: str, inner: Uses | None, is_unpacked: bool, depth: int, around: tuple[Any, ...]
) -> MemberGuard:
    """Return the guard of one member of an object. Without an annotation, the member is left out of the Record."""
    value = getattr(owner, name, MISSING)
    if value is MISSING:
        return LeftOutGuard(None)
    if hasattr(value, "__cuda_graphs_bound_kernel__"):
        return LeftOutGuard(type(value))
    replaced, functions = with_own_methods(value, owner)
    if replaced is not value and isinstance(replaced, OwnMethod):
        return OwnMethodGuard(Fixed(replaced), *functions)
    if is_unpacked and is_row(value):
        return row_guard(value)
    if is_unpacked and is_array(value):
        return unpacked_guard(value, depth, around, inner)
    if inner is None and any(each is replaced for each in around):
        return EnclosingGuard()
    if functions:
        return guard_with_own_methods(value, depth, around, inner)
    return guarded_member(value, depth, around, inner)


def row_guard(row: Any) -> MemberGuard:
    """Return the guard of an array whose numbers are constants. Its bytes are read once, for the copy and the guard."""
    copy = row.copy()
    return RowGuard(Fixed(copy.view(HostVector)), copy)


def unpacked_guard(value: Any, depth: int, around: tuple[Any, ...], uses: Uses | None) -> MemberGuard:
    """Return the guard of an array that code unpacks, and that is no row. In a later call it may be one."""

    def annotation(value: Any, around: tuple[Any, ...]) -> Any:
        found = row_guard(value) if is_row(value) else guarded_member(value, depth, around, uses)
        return found.annotation

    return computed_guard(value, around, annotation)


def guard_with_own_methods(value: Any, depth: int, around: tuple[Any, ...], uses: Uses | None) -> MemberGuard:
    """Return the guard of a list, tuple or dict with methods of the object that has it."""

    def annotation(value: Any, around: tuple[Any, ...]) -> Any:
        return guarded_member(with_own_methods(value, around[-1])[0], depth, around, uses).annotation

    return computed_guard(value, around, annotation)


def computed_guard(
    value: Any, around: tuple[Any, ...], annotation: Callable[[Any, tuple[Any, ...]], Any]
) -> MemberGuard:
    """Return the guard of a member whose annotation each call makes again."""

    def compute(value: Any, around: tuple[Any, ...]) -> Any:
        return member_key(annotation(value, around), {})

    found = annotation(value, around)
    return ComputedGuard(found, compute, member_key(found, {}))


def is_row(value: Any) -> bool:
    """Return True for an array of NumPy of one dimension. Code that unpacks it needs its numbers when compiling."""
    return isinstance(value, np.ndarray) and value.ndim == 1


class AllUses(NamedTuple):
    """The members of an object that code and its methods use."""

    names: Uses
    methods: list[tuple[str, Any]]  # name and value of the methods of its class among them
    takes_all: bool  # True if all its attributes are members


def all_uses(owner: Any, uses: Uses | None) -> AllUses:
    """Add to the uses of an object those of its methods, and of its members that are its methods, at any depth."""
    found: Uses = {}
    of_class: dict[str, Any] = {}
    waiting, done, takes_all = [uses], set[Any](), False
    while waiting:
        uses = waiting.pop(0)
        if uses is None:
            takes_all, uses = True, dict.fromkeys((*vars(owner), *data_of(type(owner))))
        for name, inner in uses.items():
            if is_of_class(owner, name):
                of_class[name] = getattr(type(owner), name)
                methods = [plain(of_class[name])]
            else:
                found[name] = merged(found[name], inner) if name in found else inner
                methods = with_own_methods(getattr(owner, name, None), owner)[1]
            waiting += [uses_in(each) for each in methods if each not in done]
            done.update(methods)
    return AllUses(found, list(of_class.items()), takes_all)


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


def guarded_member(value: Any, depth: int, around: tuple[Any, ...], uses: Uses | None = None) -> MemberGuard:
    """Return the guard of a member, of which code uses these members. `around`: the objects that hold it."""
    if is_array(value):
        has_arrays_only = isinstance(value, OurArray) or type(value) is np.ndarray
        return ArrayGuard(NDArray(), type(value) if has_arrays_only else None, is_array)
    if is_struct_array(value):
        return StructArrayGuard(NDArray(struct=value.cls), type(value))
    if not depth:
        return FixedGuard(Fixed(value))
    if has_members(value) or (has_own_members(value) and has_arrays(value)):
        return guarded_record(value, uses, depth - 1, around)
    if type(value) in CONTAINERS and has_arrays(value):
        guards = [(name, guarded_member(each, depth - 1, around)) for name, each in items_of(value)]
        record = Record(type(value), tuple([(name, guard.annotation) for name, guard in guards]))
        return ItemsGuard(record, [guard for _, guard in guards])
    return FixedGuard(Fixed(value))


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
