# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Values of the free names of a kernel, {function: {dotted path: value}}, for the detection of changes.

Functions of the language record the names that their translation reads.
"""

from __future__ import annotations

import copy
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from cuda_graphs.compiler.language.free_names import is_ours, public_name

# Types of containers: their content may change while their identity stays.
CONTAINERS = (list, dict, set, frozenset, tuple)


# Types whose attributes are not part of their value.
NO_RECORDS = (type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType, types.MethodType)


FreeValues = dict[Callable[..., Any], dict[str, Any]]


def record(names: dict[str, Any], path: str, value: Any) -> None:
    """Record a name, or an attribute of a named object, with its value at the first read."""
    if path not in names:
        names[path] = snapshot(value)


def record_object(names: dict[str, Any], path: str, value: Any) -> None:
    """Record a value of which all attributes may matter."""
    record(names, path, value)
    if hasattr(value, "__dict__") and not isinstance(value, NO_RECORDS) and not is_of_this_package(value):
        record(names, f"{path}.__dict__", value.__dict__)


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


def of_the_program(free: FreeValues) -> FreeValues:
    """Return the free values without those of this package, which stay: its functions, and functions that a program
    takes from the package itself. A later process with the code need not load them."""
    return {
        function: {
            path: value
            for path, value in names.items()
            if not (callable(value) and public_name(function, path))
        }
        for function, names in free.items()
        if not is_ours(function)
    }
