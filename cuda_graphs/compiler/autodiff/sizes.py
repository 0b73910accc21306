# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Size expressions: how large stacks become, as a function of what is known when a gradient is launched. bounds.py
makes them; here is what they mean, and how the host finds their values. sizing.py has the device find the same ones.

An expression is an int, or one of
    ("extent", path, axis)                          of an array
    ("scalar", path, type)                          an argument
    ("read", path, type, space, indices, extents)   an element of an array; 0 where there is none
    ("bound", n)                                    the variable of an expression over a range, around
    ("most" | "least" | "sum", n, begin, end, body) of body over begin <= n < end; 0 of no values
    (name, a, b, type)                              an operation of EXACT

A number of the kernel has to fit the type in which the kernel computes it, or the kernel's number is another one; then,
and where one does not fit LIMIT, the expression says nothing (Wrapped), and the stack is counted (counting.py).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any

from ..types import SCALARS

__all__ = [
    "EXACT",
    "LIMIT",
    "MAY_WRAP",
    "RANGES",
    "Expression",
    "TooLong",
    "Wrapped",
    "combined",
    "evaluate",
    "free",
    "leaves_of",
    "nodes",
    "parts",
]

Expression = Any

EXACT: dict[str, Callable[[int, int], int]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "floor_div": operator.floordiv,
    "mod": operator.mod,
    "min": min,
    "max": max,
    "given": lambda a, b: a,  # where b says something too
}
MAY_WRAP = {"add", "sub", "mul"}
RANGES: dict[str, Callable[[Iterator[int]], int]] = {
    "most": lambda values: max(values, default=0),
    "least": lambda values: min(values, default=0),
    "sum": sum,
}
LIMIT = 1 << 62  # of all numbers, so that the sum of two does not overflow where the device adds them
MOST_STEPS = 1 << 16  # of the host, before it leaves an expression to the device


class Wrapped(ArithmeticError):
    """A number of the kernel does not fit its type, so nobody knows what it becomes."""


class TooLong(ArithmeticError):
    """The ranges of an expression are not for the host."""


def evaluate(expression: Expression, leaf: Callable[..., int], most_steps: int = MOST_STEPS) -> int:
    """The value of an expression. Raises Wrapped and TooLong.

    `leaf` gives the value of an extent or scalar, taken apart; of an element as ("read", path, indices).
    """
    return _Evaluation(leaf, most_steps).value(expression, {})


class _Evaluation:
    def __init__(self, leaf: Callable[..., int], steps: int) -> None:
        self.leaf, self.steps = leaf, steps

    def value(self, expression: Expression, bound: dict[int, int]) -> int:
        if isinstance(expression, int):
            return expression
        match expression:
            case ("bound", number):
                return bound[number]
            case ("extent" | "scalar", path, what):
                return fitting(self.leaf(expression[0], path, what), "u64")
            case ("read", path, _, _, indices, extents):
                at = tuple(self.value(each, bound) for each in indices)
                shape = [self.value(each, bound) for each in extents]
                if not all(0 <= index < extent for index, extent in zip(at, shape, strict=True)):
                    return 0
                return fitting(self.leaf("read", path, at), "u64")
            case (("most" | "least" | "sum") as name, number, begin, end, body):
                span = range(self.value(begin, bound), self.value(end, bound))
                self.steps -= min(len(span), self.steps + 1) if span else 0
                if self.steps < 0:
                    raise TooLong
                values = [self.value(body, {**bound, number: each}) for each in span]
                return fitting(RANGES[name](iter(values)), "i64")
        name, first, second, kind = expression
        a, b = self.value(first, bound), self.value(second, bound)
        if (
            name == "mul" and abs(float(a) * float(b)) >= LIMIT
        ):  # as the device asks, which has no wider integers
            raise Wrapped
        return fitting(EXACT[name](a, b), kind)


def fitting(number: int, kind: str) -> int:
    """The number, if it fits its type and LIMIT. Leaves are of any type, and so of `u64`, or negative."""
    type = SCALARS[kind]
    low = -LIMIT if kind == "u64" else max(type.minimum, -LIMIT)
    if not low <= number <= min(type.maximum, LIMIT):
        raise Wrapped
    return number


def combined(name: str, a: Expression, b: Expression, kind: str) -> Expression:
    """An operation on expressions, done where both are numbers that fit."""
    if isinstance(a, int) and isinstance(b, int):
        found = EXACT[name](a, b)
        if SCALARS[kind].minimum <= found <= SCALARS[kind].maximum and abs(found) <= LIMIT:
            return found
    if name in ("min", "max") and a == b:
        return a
    if (name, b) in (("add", 0), ("sub", 0), ("mul", 1), ("floor_div", 1)):
        return a
    if (name, a) in (("add", 0), ("mul", 1)):
        return b
    return name, a, b, kind


def parts(expression: Expression) -> tuple[Expression, ...]:
    """The expressions that one is made of."""
    if isinstance(expression, int) or expression[0] in ("extent", "scalar", "bound"):
        return ()
    if expression[0] == "read":
        return (*expression[4], *expression[5])
    if expression[0] in RANGES:
        return tuple(expression[2:])
    return tuple(expression[1:3])


def nodes(expression: Expression) -> Iterator[Expression]:
    """All that is in an expression, with itself."""
    waiting = [expression]
    while waiting:
        found = waiting.pop()
        yield found
        waiting += parts(found)


def leaves_of(expression: Expression) -> set[tuple[Any, ...]]:
    """The extents and scalars that an expression depends on, and ("read", path, space) of the arrays."""
    found: set[tuple[Any, ...]] = set()
    for each in nodes(expression):
        if not isinstance(each, int) and each[0] in ("extent", "scalar"):
            found.add(each)
        elif not isinstance(each, int) and each[0] == "read":
            found.add(("read", each[1], each[3]))
    return found


def free(expression: Expression) -> set[int]:
    """The variables in an expression that are not bound in it."""
    if isinstance(expression, int):
        return set()
    if expression[0] == "bound":
        return {expression[1]}
    found: set[int] = set().union(*(free(each) for each in parts(expression)))
    return found - {expression[1]} if expression[0] in RANGES else found
