# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The NDArrays that a recorded call uses: its arguments, their members, and fields. Derivatives flow through some."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from typing import Any

from cuda_graphs.kernels.arrays.ndarray import NDArray
from cuda_graphs.kernels.arrays.struct_array import StructArray

from .custom_gradients import GradReplaced
from .thread_hooks import Call

__all__ = ["arrays_of", "flows_through", "is_primal"]

DEPTH = 8  # levels of nested members


def arrays_of(call: Call) -> list[NDArray]:
    """Return the NDArrays that a call uses, each once."""
    function, args, _ = call
    fields: Iterable[Any] = () if isinstance(function, GradReplaced) else function.fields(*args)
    return list(dict.fromkeys([each for value in (*args, *fields) for each in arrays_in(value, DEPTH)]))


def is_primal(function: Any) -> bool:
    """Return True for a function with its own gradient, a kernel, or a part of a kernel, which a tape records."""
    return isinstance(function, GradReplaced) or (function.mode or "part").startswith("part")


def flows_through(call: Call) -> bool:
    """Return True if a gradient flows through the call."""
    function, args, _ = call
    return (
        not function.is_constant if isinstance(function, GradReplaced) else bool(function.has_gradient(*args))
    )


def arrays_in(value: Any, depth: int) -> Iterator[NDArray]:
    """Yield the NDArrays in an argument and in its members."""
    if isinstance(value, NDArray):
        yield value
    elif isinstance(value, StructArray):
        for member in value.members.values():
            yield from arrays_in(member, depth)
    elif depth and (dataclasses.is_dataclass(value) or hasattr(type(value), "__cuda_graphs_data_oriented__")):
        for member in vars(value).values():
            yield from arrays_in(member, depth - 1)
