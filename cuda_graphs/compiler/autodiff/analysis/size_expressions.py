# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Size expressions: stack capacities as functions of the arguments of a gradient.

bounds.py makes the expressions. This module defines them and evaluates them on the host. sizing.py evaluates them on
the device, with the same results.

An expression is an int or one of these tuples.
    ("extent", path, axis)                          the extent of an array
    ("scalar", path, type)                          a number argument
    ("read", path, type, space, indices, extents)   an element of an array; 0 for indices out of range
    ("bound", n)                                    the variable n of an enclosing range
    ("most" | "least" | "sum", n, begin, end, body) maximum, minimum or sum of body over begin <= n < end; 0 if empty
    (name, a, b, type)                              an operation of EXACT

The kernel computes numbers in types of limited size. If a number overflows its type or LIMIT, the exact value differs
from the kernel's value. Evaluation then raises SizeOverflow, and the stack is counted (counting.py).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any

from cuda_graphs.compiler.ir.types import SCALARS

__all__ = [
    "EXACT",
    "LIMIT",
    "MAY_WRAP",
    "RANGES",
    "Expression",
    "SizeOverflow",
    "TooManySteps",
    "evaluate",
    "free_variables",
    "leaves_of",
    "make_operation",
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
    "given": lambda a, b: a,  # a, after b was evaluated without overflow
}
MAY_WRAP = {"add", "sub", "mul"}
RANGES: dict[str, Callable[[Iterator[int]], int]] = {
    "most": lambda values: max(values, default=0),
    "least": lambda values: min(values, default=0),
    "sum": sum,
}
LIMIT = 1 << 62  # largest magnitude of a number, so that the sum of two numbers fits 64 bits on the device
MAX_STEPS = 1 << 16  # iterations of ranges on the host; longer evaluations run on the device


class SizeOverflow(ArithmeticError):
    """A number of an expression overflows its type, so the value of the kernel is unknown."""


class TooManySteps(ArithmeticError):
    """The ranges of an expression are too long for the host."""


def evaluate(expression: Expression, leaf: Callable[..., int], most_steps: int = MAX_STEPS) -> int:
    """Return the value of an expression.

    Args:
        leaf: Returns the value of leaf(kind, path, what): `what` is the axis of an "extent", the type of a "scalar", or
            the indices of a "read".
        most_steps: Largest number of iterations of all ranges.

    Raises:
        SizeOverflow: A number overflows its type.
        TooManySteps: The ranges have more than `most_steps` iterations.
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
                return require_fit(self.leaf(expression[0], path, what), "u64")
            case ("read", path, _, _, indices, extents):
                at = tuple(self.value(each, bound) for each in indices)
                shape = [self.value(each, bound) for each in extents]
                if not all(0 <= index < extent for index, extent in zip(at, shape, strict=True)):
                    return 0
                return require_fit(self.leaf("read", path, at), "u64")
            case (("most" | "least" | "sum") as name, number, begin, end, body):
                span = range(self.value(begin, bound), self.value(end, bound))
                self.steps -= min(len(span), self.steps + 1) if span else 0
                if self.steps < 0:
                    raise TooManySteps
                values = [self.value(body, {**bound, number: each}) for each in span]
                return require_fit(RANGES[name](iter(values)), "i64")
        name, first, second, kind = expression
        a, b = self.value(first, bound), self.value(second, bound)
        if (
            name == "mul" and abs(float(a) * float(b)) >= LIMIT
        ):  # the same test as on the device, which has no wider integers
            raise SizeOverflow
        return require_fit(EXACT[name](a, b), kind)


def require_fit(number: int, kind: str) -> int:
    """Return the number if it fits its type and LIMIT; else raise SizeOverflow.

    Leaves have the type "u64" here, but can be negative.
    """
    type = SCALARS[kind]
    low = -LIMIT if kind == "u64" else max(type.minimum, -LIMIT)
    if not low <= number <= min(type.maximum, LIMIT):
        raise SizeOverflow
    return number


def make_operation(name: str, a: Expression, b: Expression, kind: str) -> Expression:
    """Return an operation on two expressions, evaluated if both are ints and the result fits."""
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
    """Return the direct subexpressions of an expression."""
    if isinstance(expression, int) or expression[0] in ("extent", "scalar", "bound"):
        return ()
    if expression[0] == "read":
        return (*expression[4], *expression[5])
    if expression[0] in RANGES:
        return tuple(expression[2:])
    return tuple(expression[1:3])


def nodes(expression: Expression) -> Iterator[Expression]:
    """Yield an expression and all its subexpressions."""
    waiting = [expression]
    while waiting:
        found = waiting.pop()
        yield found
        waiting += parts(found)


def leaves_of(expression: Expression) -> set[tuple[Any, ...]]:
    """Return the extents and scalars in an expression, and ("read", path, space) for the arrays that it reads."""
    found: set[tuple[Any, ...]] = set()
    for each in nodes(expression):
        if not isinstance(each, int) and each[0] in ("extent", "scalar"):
            found.add(each)
        elif not isinstance(each, int) and each[0] == "read":
            found.add(("read", each[1], each[3]))
    return found


def free_variables(expression: Expression) -> set[int]:
    """Return the free variables of an expression."""
    if isinstance(expression, int):
        return set()
    if expression[0] == "bound":
        return {expression[1]}
    found: set[int] = set().union(*(free_variables(each) for each in parts(expression)))
    return found - {expression[1]} if expression[0] in RANGES else found
