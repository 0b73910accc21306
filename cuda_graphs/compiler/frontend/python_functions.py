# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Python functions that ran at compile time, for cg.static or as calls: the values of their free names.

All names in such a function count, as its actual reads were not observed.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from cuda_graphs.compiler.errors import CompileError
from cuda_graphs.compiler.frontend import free_values
from cuda_graphs.compiler.language.free_names import free_names, is_installed, is_ours, path_value

from .free_values import CONTAINERS, FreeValues
from .source import Source


def with_functions_that_ran(free: FreeValues, values: Iterable[Any]) -> FreeValues:
    """Return the free values with the names of all Python functions in it and in `values`, at any depth."""
    found = dict(free)
    waiting = [*values, *(value for names in free.values() for value in names.values())]
    while waiting:
        for function in functions_in(waiting.pop()):
            if function not in found:
                names = found[function] = dict[str, Any]()
                for path, value in free_values_of(function):
                    free_values.record_object(names, path, value)
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


def free_values_of(function: Callable[..., Any]) -> Iterator[tuple[str, Any]]:
    """Yield (path, value) of the free names of a function."""
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
    yield from free_names(function, tree)
