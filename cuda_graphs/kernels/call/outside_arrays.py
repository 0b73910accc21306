# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Arrays that a kernel takes from objects around it: from globals and closures of its functions, and from the objects
that it gets as templates.

A call passes such arrays, and the arrays inside of such objects, as further arguments of a variant of the kernel. Other
arrays of the same types need no other code. All else in the objects is constant, as in `methods.py`.
"""

from __future__ import annotations

import inspect
import sys
import threading
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from cuda_graphs.compiler.errors import CompileError
from cuda_graphs.compiler.frontend.source import Source
from cuda_graphs.compiler.language.annotations import NDArray, OutsideName
from cuda_graphs.compiler.language.free_names import free_names, is_installed, is_ours, path_value
from cuda_graphs.compiler.language.signature import is_template, resolve
from cuda_graphs.kernels.arrays.ndarray import NDArray as OurArray
from cuda_graphs.kernels.specialisation.constants import Seen
from cuda_graphs.kernels.specialisation.options import Options
from cuda_graphs.kernels.specialisation.snapshots import Memo

from .member_guards import Choices, HolderOfArrays, MemberGuard, are_constants
from .member_uses import Uses, uses_at, uses_from
from .members import (
    CONTAINERS,
    guarded_member,
    guarded_record,
    has_arrays,
    has_own_members,
    is_array,
    is_struct_array,
    member_key,
)

__all__ = ["OutsideArrays"]

Place = tuple[Callable[..., Any], str]  # a function, and the path of an object in it
Names = Uses | None  # the attributes of an object that a function uses; None for all of them


class TemplateUse(NamedTuple):
    """A template parameter: its number and name, and the attributes of its argument that the kernel uses."""

    number: int
    name: str
    uses: Names
    holder: HolderOfArrays  # the last object with arrays that was the argument


class Found(NamedTuple):
    """The objects around a kernel that hold arrays, with the names of their members, and its template parameters."""

    places: dict[Place, Names]
    names: list[OutsideName]  # the parameter for each place
    templates: list[TemplateUse]
    numbers: tuple[int, ...]  # of the templates
    holders: tuple[HolderOfArrays, ...]  # of the templates


class OutsideArrays:
    """The variants of one kernel for the arrays around it.

    Attributes:
        is_needed: False if no call can have such arrays.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        options: Options,
        annotations: Mapping[str, Any] | None,
        make: Callable[..., Any],
    ) -> None:
        self.function, self.options, self.annotations, self.make = function, options, annotations or {}, make
        self.kernels: dict[Any, Any] = {}
        self.choices: dict[tuple[int, ...], Choices] = {}  # by the numbers of the templates that hold arrays
        self.lock = threading.Lock()
        self.found: Found | None = None  # None before the first call
        self.is_needed = True
        self.without_arrays = Memo(is_without_references)

    def variant(self, args: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...]] | None:
        """Return the kernel for a call with these arguments, and its arguments; None for the kernel itself."""
        found = self.found  # read once: another thread may forget it
        if found is None:
            found = self.found = self.search()
            self.is_needed = bool(found.places or found.templates)
        if not found.places and are_constants(args, found.numbers, found.holders, self.without_arrays):
            return None
        objects = [
            each
            for each in found.templates
            if each.number < len(args) and self.holds_references(args[each.number], each.holder)
        ]
        if not found.places and not objects:
            return None
        given = [path_value(*place) for place in found.places]
        values = (*[args[each.number] for each in objects], *given)
        choices = self.choices.setdefault(tuple([each.number for each in objects]), Choices())
        kernel = choices.find(values)
        if kernel is None:
            kernel = self.choose(found, objects, values, choices)
        return kernel, (*args, *given)

    def choose(
        self, found: Found, objects: list[TemplateUse], values: tuple[Any, ...], choices: Choices
    ) -> Any:
        """Return the kernel for values that hold other arrays or constants than those of the last calls."""
        names = [each.name for each in objects] + list(found.names)
        uses = [each.uses for each in objects] + list(found.places.values())
        guards = tuple([guard_of(value, each) for value, each in zip(values, uses, strict=True)])
        known = {name: guard.annotation for name, guard in zip(names, guards, strict=True)}
        seen: Seen = {}
        key = tuple([(name, key_of_annotation(each, seen)) for name, each in known.items()])
        with self.lock:
            kernel = self.kernels.get(key)
            if kernel is None:
                kernel = self.kernels[key] = self.make(
                    self.function, self.options, {**self.annotations, **known}
                )
        choices.add(values, guards, kernel)
        if key not in self.kernels:  # another thread called `forget` meanwhile
            choices.forget()
        return kernel

    def holds_references(self, value: Any, holder: HolderOfArrays) -> bool:
        """Return True for an object that holds arrays that kernels take by reference."""
        if holder.is_known(value):
            return True
        # Most values are constants that the memo knows. It is asked about no array, since it would compare them.
        if isinstance(value, OurArray) or self.without_arrays.of(value):
            return False
        if is_array(value) or is_struct_array(value):
            return False
        holder.note(value, is_our_array)
        return True

    def search(self) -> Found:
        """Return the objects around the kernel that hold arrays, and its parameters that may be such objects."""
        parameters = inspect.signature(self.function).parameters.values()
        templates = [
            TemplateUse(i, each.name, uses_at(self.function, each.name), HolderOfArrays())
            for i, each in enumerate(parameters)
            if each.name not in self.annotations and is_template(resolve(each.annotation, self.function))
        ]
        places = dict(places_of(self.function)) if may_use_arrays(self.function) else {}
        numbers = tuple([each.number for each in templates])
        holders = tuple([each.holder for each in templates])
        return Found(places, names_for(places), templates, numbers, holders)

    def forget(self) -> None:
        """Drop the variants with their code."""
        with self.lock:
            for each in self.kernels.values():
                each.forget()
            self.kernels.clear()
            self.choices.clear()
            self.found = None
            self.without_arrays.forget()


def is_our_array(value: Any) -> bool:
    return isinstance(value, OurArray)


def names_for(places: Iterable[Place]) -> list[OutsideName]:
    """Return the name of a parameter for each place. No name in a source can be equal to it: "y of helper"."""
    found: list[OutsideName] = []
    for function, path in places:
        name = f"{path.replace('.', '_')} of {function.__name__}"
        while name in found:
            name += "'"
        found.append(OutsideName(name, function, path))
    return found


def guard_of(value: Any, names: Names) -> MemberGuard:
    """Return the guard of an object that is, or holds, arrays, if a kernel uses these attributes of it."""
    if is_array(value) or not has_own_members(value):
        return guarded_member(value, depth=8, around=())
    return guarded_record(value, names)


def key_of_annotation(annotation: Any, seen: Seen) -> Any:
    return annotation if isinstance(annotation, NDArray) else member_key(annotation, seen)


def has_references(value: Any) -> bool:
    """Return True for an object that holds arrays that kernels take by reference."""
    return (type(value) in CONTAINERS or has_own_members(value)) and has_arrays(value, of_numpy=False)


def is_without_references(value: Any) -> bool | None:
    """Return True for a value without such arrays, else None: no Memo keeps arrays alive."""
    return None if is_array(value) or is_struct_array(value) or has_references(value) else True


def places_of(function: Callable[..., Any]) -> Iterator[tuple[Place, Names]]:
    """Yield the objects with arrays that a kernel and its functions use, with the names of their members."""
    waiting, done, found = [function], set[Callable[..., Any]](), set[Place]()
    while waiting:
        each = waiting.pop()
        if each in done:
            continue
        done.add(each)
        try:
            tree = Source(each).tree
        except CompileError:  # the call reports it
            continue
        for path, value in free_names(each, tree):
            place, holder = outside_modules(each, path)
            if is_reference(holder):
                if (each, place) not in found:
                    found.add((each, place))
                    names = uses_at(each, place)
                    yield (each, place), names
                    waiting += uses_from(names or None, type(holder)).plain_functions()
            else:
                waiting += functions_of(value)


def may_use_arrays(function: Callable[..., Any]) -> bool:
    """Return False if no name of a kernel and its functions leads to an array. The bytecode is quicker to read than the
    source."""
    waiting, done = [function], set[Callable[..., Any]]()
    while waiting:
        each = waiting.pop()
        if each in done:
            continue
        done.add(each)
        names = names_in(each.__code__)
        for value in values_of(each, names):
            if is_reference(value):
                return True
            waiting += functions_of(value)
            if has_own_members(value):
                waiting += [
                    function for name in names for function in functions_of(getattr(value, name, None))
                ]
    return False


def names_in(code: types.CodeType) -> set[str]:
    """Return the names of globals, closure variables and attributes in a function and in those inside it."""
    inner = [names_in(each) for each in code.co_consts if isinstance(each, types.CodeType)]
    return {*code.co_names, *code.co_freevars}.union(*inner)


def values_of(function: Callable[..., Any], names: set[str]) -> Iterator[Any]:
    """Yield the values of names, and for a module those of its members of these names."""
    for name in names:
        try:
            value = path_value(function, name)
        except LookupError:  # an attribute, or a local name
            continue
        if not isinstance(value, types.ModuleType):
            yield value
        elif not is_ours_or_installed(value):
            yield from (getattr(value, each, None) for each in names)


def is_ours_or_installed(module: types.ModuleType) -> bool:
    root = module.__name__.partition(".")[0]
    return root in ("cuda_graphs", "numpy", "math") or root in sys.stdlib_module_names


def outside_modules(function: Callable[..., Any], path: str) -> tuple[str, Any]:
    """Return the shortest beginning of a path that is no module, and its value."""
    names = path.split(".")
    for count in range(1, len(names) + 1):
        found = ".".join(names[:count])
        value = path_value(function, found)
        if not isinstance(value, types.ModuleType):
            break
    return found, value


def is_reference(value: Any) -> bool:
    """Return True for an array that kernels take by reference, or an object that holds one. Arrays of NumPy are not."""
    if isinstance(value, (np.ndarray, np.generic, types.FunctionType, types.MethodType, type)):
        return False
    return is_array(value) or is_struct_array(value) or has_references(value)


def functions_of(value: Any) -> list[Callable[..., Any]]:
    """Return the functions of the user that a value is or holds, without their decorators."""
    if type(value) in CONTAINERS:
        return [
            each for item in (value.values() if type(value) is dict else value) for each in functions_of(item)
        ]
    value = getattr(value, "__func__", value)
    value = getattr(value, "__cuda_graphs_func__", value)
    is_users = isinstance(value, types.FunctionType) and not is_installed(value) and not is_ours(value)
    return [value] if is_users else []
