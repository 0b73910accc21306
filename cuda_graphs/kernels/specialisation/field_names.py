# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Names of fields in error messages: the user's name of a field replaces its internal name in code."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

from cuda_graphs.compiler.errors import CompileError

__all__ = ["name_fields", "with_field_names"]

IN_CODE = re.compile(r"<field \d+>")


def with_field_names(error: CompileError, function: Callable[..., Any]) -> CompileError:
    """Return the error with the kernel's names of fields in its texts."""
    cause, remedy = name_fields(error.cause, function), name_fields(error.remedy, function)
    return error if (cause, remedy) == (error.cause, error.remedy) else type(error)(cause, error.loc, remedy)


def name_fields(text: str, function: Callable[..., Any]) -> str:
    """Return a message about a kernel with the kernel's names of fields."""
    if not IN_CODE.search(text):
        return text
    known = {value.__cuda_graphs_field__.name: name for name, value in fields_seen(function)}
    return IN_CODE.sub(lambda found: known.get(found[0], found[0]), text)


def fields_seen(function: Callable[..., Any]) -> Iterator[tuple[str, Any]]:
    """Yield (name, field) of the fields among the globals and closure variables of a function."""
    names = dict(function.__globals__)
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
        with suppress(ValueError):  # the variable is not assigned yet
            names[name] = cell.cell_contents
    for name, value in names.items():
        if hasattr(type(value), "__cuda_graphs_field__"):
            yield name, value
