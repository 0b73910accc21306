# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""What a kernel took from outside, {function: {dotted path: value}}, so that a change of it can be noticed.

Functions of the language say it while they are translated. Functions that Python ran when compiling, for cg.static,
are read here: all that they name counts, as nobody saw what they looked at.
"""

from __future__ import annotations

import copy
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from ..errors import CompileError
from ..outside import is_installed, is_ours, outside, path_value

__all__ = ["CONTAINERS", "Captured", "note", "note_whole", "with_functions_that_ran"]

CONTAINERS = (
    list,
    dict,
    set,
    frozenset,
    tuple,
)  # in which something may change while they stay what they are
# What has attributes of its own that say nothing of what it is.
NO_RECORDS = (type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType, types.MethodType)

Captured = dict[Callable[..., Any], dict[str, Any]]


def note(names: dict[str, Any], path: str, value: Any) -> None:
    """A name, or an attribute of what a name stands for, as it is when it is read first."""
    if path not in names:
        names[path] = snapshot(value)


def note_whole(names: dict[str, Any], path: str, value: Any) -> None:
    """Something of which all attributes may matter."""
    note(names, path, value)
    if hasattr(value, "__dict__") and not isinstance(value, NO_RECORDS) and not is_of_this_package(value):
        note(names, f"{path}.__dict__", value.__dict__)


def is_of_this_package(value: Any) -> bool:
    return hasattr(value, "__cuda_graphs_field__") or is_ours(type(value))


def snapshot(value: Any) -> Any:
    """A copy of containers and of arrays, at any depth; other things are what they are."""
    if isinstance(value, np.ndarray):
        return value.copy()
    if type(value) in (list, tuple):
        return type(value)([snapshot(each) for each in value])
    if type(value) is dict:
        return {key: snapshot(each) for key, each in value.items()}
    return copy.copy(value) if isinstance(value, CONTAINERS) else value


def with_functions_that_ran(captured: Captured, values: Iterable[Any]) -> Captured:
    """`captured`, and what the functions in it and among `values` that Python itself runs name, at any depth."""
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
    """The functions of the user that a value is, or holds."""
    if isinstance(value, types.MethodType):
        value = value.__func__
    if isinstance(value, types.FunctionType):
        if not is_installed(value) and not is_ours(value):
            yield value
    elif isinstance(value, CONTAINERS):
        for each in value.values() if isinstance(value, dict) else value:
            yield from functions_in(each)


def named(function: Callable[..., Any]) -> Iterator[tuple[str, Any]]:
    """(path, value) of what a function names that is not its own."""
    from .source import Source

    try:
        tree = Source(function).tree
    except CompileError:  # a lambda, or without a source: names, whose values are taken whole
        code = function.__code__
        for name in (*code.co_names, *code.co_freevars):
            try:
                yield name, path_value(function, name)
            except LookupError:  # an attribute
                continue
        return
    yield from outside(function, tree)
