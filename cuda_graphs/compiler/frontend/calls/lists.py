# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The methods that change a list of a kernel, when it is compiled: the length of a list is always known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cuda_graphs.compiler.errors import (
    CompileArgumentError,
    CompileImmutableError,
    CompileStaticError,
    compile_error,
)
from cuda_graphs.compiler.frontend.expressions.assignment import declare
from cuda_graphs.compiler.frontend.expressions.expressions import items_of
from cuda_graphs.compiler.frontend.expressions.lvalues import python_value
from cuda_graphs.compiler.frontend.expressions.numbers import is_source_number
from cuda_graphs.compiler.frontend.frame.frame import Frame
from cuda_graphs.compiler.frontend.frame.values import Bound, ListName, describe
from cuda_graphs.compiler.ir import ir

__all__ = ["list_method"]


def list_method(frame: Frame, bound: Bound, args: list[Any], keywords: dict[str, Any]) -> Any:
    """Translate the call of a method that changes a list, and return its result."""
    named: ListName = bound.owner
    check_place(frame, named)
    items = list(named.scope.names[named.name])
    try:
        result = METHODS[bound.name](frame, named.name, items, *args, **keywords)
    except (TypeError, IndexError) as error:
        raise compile_error(
            CompileArgumentError, frame.builder.loc, f"{named.name}.{bound.name}(): {error}",
            "y.append(x), y.extend((a, b)), y.insert(0, x), y.pop()",
        ) from None  # fmt: skip
    named.scope.names[named.name] = tuple(items)
    return result


def check_place(frame: Frame, named: ListName) -> None:
    """Raise unless the change belongs to the list of each run of the code after it."""
    name, scope = named.name, named.scope
    if name in scope.parameters:
        raise compile_error(
            CompileImmutableError, frame.builder.loc, f"the list {name!r} is a parameter, and belongs to the caller",
            f"return a new list: return [*{name}, x]",
        )  # fmt: skip
    if not frame.scope.always_reaches(scope):
        raise compile_error(
            CompileStaticError, frame.builder.loc,
            f"a value known at run time only decides whether the length of {name!r} changes here",
            "use an array, or a branch or loop over cg.static",
        )  # fmt: skip


def append(frame: Frame, name: str, items: list[Any], x: Any, /) -> None:
    items.append(item(frame, name, x))


def extend(frame: Frame, name: str, items: list[Any], iterable: Any, /) -> None:
    items += [item(frame, name, each) for each in items_of(frame, iterable)]


def insert(frame: Frame, name: str, items: list[Any], index: Any, x: Any, /) -> None:
    items.insert(place(frame, index), item(frame, name, x))


def pop(frame: Frame, name: str, items: list[Any], index: Any = -1, /) -> Any:
    return items.pop(place(frame, index))


def place(frame: Frame, index: Any) -> Any:
    """Return the place of an item, or raise TypeError for a number that is known at run time only."""
    found = python_value(frame, index)
    if isinstance(found, ir.Value):
        raise TypeError(f"an item has a place that is known when compiling, not {describe(found)}")
    return found


def item(frame: Frame, name: str, found: Any) -> Any:
    """Return an item as a list has it: a variable. A number of the source stays one."""
    return found if is_source_number(found) else declare(frame, name, found)


METHODS: dict[str, Callable[..., Any]] = {"append": append, "extend": extend, "insert": insert, "pop": pop}
