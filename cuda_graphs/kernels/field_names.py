# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""What the user calls a field: code has names of its own for them, and messages tell of both code and user."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

from cuda_graphs.compiler.errors import CompileError

__all__ = ["name_fields", "with_field_names"]

IN_CODE = re.compile(r"<field \d+>")


def with_field_names(error: CompileError, function: Callable[..., Any]) -> CompileError:
    """The error, in which fields that a kernel uses by name are called by that."""
    cause, remedy = name_fields(error.cause, function), name_fields(error.remedy, function)
    return error if (cause, remedy) == (error.cause, error.remedy) else type(error)(cause, error.loc, remedy)


def name_fields(text: str, function: Callable[..., Any]) -> str:
    """A message about a kernel, in which fields are called as it calls them."""
    if not IN_CODE.search(text):
        return text
    known = {value.__cuda_graphs_field__.name: name for name, value in fields_seen(function)}
    return IN_CODE.sub(lambda found: known.get(found[0], found[0]), text)


def fields_seen(function: Callable[..., Any]) -> Iterator[tuple[str, Any]]:
    """(name, field) of what is global to a function, and of what it encloses."""
    names = dict(function.__globals__)
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
        with suppress(ValueError):  # nothing was assigned to it yet
            names[name] = cell.cell_contents
    for name, value in names.items():
        if hasattr(type(value), "__cuda_graphs_field__"):
            yield name, value
