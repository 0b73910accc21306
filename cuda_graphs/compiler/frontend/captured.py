# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Captured values of a kernel, {function: {dotted path: value}}, for the detection of changes.

Functions of the language record their captures during their translation. This module reads Python functions that ran at
compile time, for cg.static. All names in them count, as their actual reads were not observed.
"""

from __future__ import annotations

import copy
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from cuda_graphs.compiler.errors import CompileError
from cuda_graphs.compiler.language.free_names import is_installed, is_ours, outside, path_value

__all__ = ["CONTAINERS", "Captured", "note", "note_whole", "with_functions_that_ran"]

# Types of containers: their content may change while their identity stays.
CONTAINERS = (list, dict, set, frozenset, tuple)
# Types whose attributes are not part of their value.
NO_RECORDS = (type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType, types.MethodType)

Captured = dict[Callable[..., Any], dict[str, Any]]


def note(names: dict[str, Any], path: str, value: Any) -> None:
    """Record a name, or an attribute of a named object, with its value at the first read."""
    if path not in names:
        names[path] = snapshot(value)


def note_whole(names: dict[str, Any], path: str, value: Any) -> None:
    """Record a value of which all attributes may matter."""
    note(names, path, value)
    if hasattr(value, "__dict__") and not isinstance(value, NO_RECORDS) and not is_of_this_package(value):
        note(names, f"{path}.__dict__", value.__dict__)


def is_of_this_package(value: Any) -> bool:
    return hasattr(value, "__cuda_graphs_field__") or is_ours(type(value))


def snapshot(value: Any) -> Any:
    """Return a copy of containers and arrays, at any depth, or another value itself."""
    if isinstance(value, np.ndarray):
        return value.copy()
    if type(value) in (list, tuple):
        return type(value)([snapshot(each) for each in value])
    if type(value) is dict:
        return {key: snapshot(each) for key, each in value.items()}
    return copy.copy(value) if isinstance(value, CONTAINERS) else value


def with_functions_that_ran(captured: Captured, values: Iterable[Any]) -> Captured:
    """Return `captured` with the names of all Python functions in it and in `values`, at any depth."""
    found = dict(captured)
    waiting = [*values, *(value for names in captured.values() for value in names.values())]
    while waiting:
        for function in functions_in(waiting.pop()):
            if function not in found:
                names = found[function] = dict[str, Any]()
                for path, value in named(function):
                    note_whole(names, path, value)
                waiting += names.values()
    return found


def functions_in(value: Any) -> Iterator[Callable[..., Any]]:
    """Yield the user's functions that a value is or holds."""
    if isinstance(value, types.MethodType):
        value = value.__func__
    if isinstance(value, types.FunctionType):
        if not is_installed(value) and not is_ours(value):
            yield value
    elif isinstance(value, CONTAINERS):
        for each in value.values() if isinstance(value, dict) else value:
            yield from functions_in(each)


def named(function: Callable[..., Any]) -> Iterator[tuple[str, Any]]:
    """Yield (path, value) of the captured names of a function."""
    from .source import Source

    try:
        tree = Source(function).tree
    except CompileError:  # a lambda, or no source: use names with whole values
        code = function.__code__
        for name in (*code.co_names, *code.co_freevars):
            try:
                yield name, path_value(function, name)
            except LookupError:  # an attribute
                continue
        return
    yield from outside(function, tree)
