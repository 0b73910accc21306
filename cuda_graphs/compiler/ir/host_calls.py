# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The arguments of calls of objects of the host, in plans: tuples, which JSON can store.

("array", path, element type, number of axes, shape of an element)
("number", bound)         an int, as `artifact.bound_of` writes bounds
("constant", value)       None, a string or a number of the source
("method", name)          a method of the object itself
("tuple", arguments)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

__all__ = ["Argument", "arrays_in", "number_of", "resolved"]

Argument = tuple[Any, ...]
ARITHMETIC: dict[str, Callable[[int, int], int]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "floor_div": lambda a, b: a // b if b else 0,  # as the language has it
    "min": min,
    "max": max,
}


def resolved(
    argument: Argument, array: Callable[..., Any], number: Callable[[Any], Any], method: Callable[[str], Any]
) -> Any:
    """Return the value of an argument. The functions get the rest of the tuple."""
    kind, *rest = argument
    match kind:
        case "array":
            return array(*rest)
        case "number":
            return number(rest[0])
        case "method":
            return method(rest[0])
        case "tuple":
            return tuple(resolved(each, array, number, method) for each in rest[0])
    return rest[0]


def arrays_in(arguments: Iterable[Argument]) -> Iterator[str]:
    """Yield the paths of the arrays in arguments."""
    for kind, *rest in arguments:
        if kind == "array":
            yield rest[0]
        elif kind == "tuple":
            yield from arrays_in(rest[0])


def number_of(bound: Any, extent: Callable[[str, int], int], scalar: Callable[[str, str], int]) -> int:
    """Return the value of a bound.

    Args:
        bound: An int, or a tuple as `artifact.bound_of` writes it.
        extent: Returns the extent of an array, by path and axis.
        scalar: Returns the value of a parameter, by path and the name of its type.
    """
    if isinstance(bound, int):
        return bound
    kind, first, second = bound
    if kind == "extent":
        return extent(first, second)
    if kind == "scalar":
        return scalar(first, second)
    return ARITHMETIC[kind](number_of(first, extent, scalar), number_of(second, extent, scalar))
