# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The settings of functions that kernels call and do not inline: `@cg.func(inline=False)`."""

from __future__ import annotations

import operator
from functools import update_wrapper
from types import FunctionType
from typing import Any

__all__ = ["CallSettings", "called_copy", "checked_depth"]

MOST_CALLS = 1024  # inside one another


class CallSettings:  # a dataclass would take a millisecond of each first call
    """The settings of one function. `max_depth`: the most calls of it inside one another; None: it may not recurse."""

    __slots__ = ("max_depth",)

    def __init__(self, max_depth: int | None) -> None:
        self.max_depth = max_depth


def checked_depth(max_depth: int, inline: bool) -> int:
    """Return the limit of a recursion. Raise for a number out of range, and for an inlined function."""
    depth = operator.index(max_depth)
    if inline:
        raise ValueError("max_depth= is for functions that call themselves: add inline=False")
    if not 1 <= depth <= MOST_CALLS:
        raise ValueError(f"max_depth={depth}: give a number from 1 to {MOST_CALLS}")
    return depth


def called_copy(function: Any, max_depth: int | None) -> FunctionType:
    """Return a copy of a function with its settings. The user's function stays as it is, as it may be inlined, too."""
    if not isinstance(function, FunctionType):
        raise TypeError(f"cg.func(inline=False) takes a function made by def or lambda, got {function!r}")
    copy = FunctionType(
        function.__code__,
        function.__globals__,
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    update_wrapper(copy, function)
    copy.__kwdefaults__ = function.__kwdefaults__
    del copy.__wrapped__  # type: ignore[attr-defined]
    copy.__cuda_graphs_call__ = CallSettings(max_depth)  # type: ignore[attr-defined]
    return copy
