# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""`in` and `is`: a number in a tuple, vector or range of known length, and comparisons with None.

What is known when compiling gives a result that is known then, so that an `if` on it drops the other branch.
"""

from __future__ import annotations

import ast
from typing import Any

from cuda_graphs.compiler.errors import CompileSyntaxError, compile_error
from cuda_graphs.compiler.frontend.frame.frame import Frame
from cuda_graphs.compiler.frontend.frame.values import PLACES, Static
from cuda_graphs.compiler.ir import ir

from .expressions import items_of
from .lvalues import python_value

__all__ = ["MEMBERSHIP", "membership"]

MEMBERSHIP = ("Is", "IsNot", "In", "NotIn")


def membership(frame: Frame, node: ast.Compare) -> Any:
    """Return a comparison by `is`, `is not`, `in` or `not in`."""
    operator = type(node.ops[0]).__name__
    if len(node.ops) > 1:
        raise compile_error(
            CompileSyntaxError,
            frame.builder.loc,
            "a chain of comparisons with `is` or `in`",
            "join two comparisons with `and`",
        )
    left, right = frame.visit(node.left), frame.visit(node.comparators[0])
    if operator in ("Is", "IsNot"):
        return is_none(frame, python_value(frame, left), python_value(frame, right), operator == "Is")
    return is_in(frame, left, right, operator == "In")


def is_none(frame: Frame, left: Any, right: Any, wanted: bool) -> Static:
    """Return whether two values, one of which is None, are both None."""
    if right is not None and left is not None:
        raise compile_error(
            CompileSyntaxError,
            frame.builder.loc,
            "`is` compares with None only",
            "compare numbers with ==, or write cg.static(a is b)",
        )
    return Static((left is right) == wanted)


def is_in(frame: Frame, left: Any, right: Any, wanted: bool) -> Any:
    """Return whether a number is among the items, of which each is compared."""
    known, given = python_value(frame, left), python_value(frame, right)
    if not isinstance(known, PLACES) and (isinstance(given, (str, dict)) or is_known(frame, given)):
        return Static((known in [python_value(frame, each) for each in given]) == wanted)
    number = frame.scalar(left, "the left side of in")
    found: ir.Value = ir.FALSE
    for each in items_of(frame, right):
        equal = frame.builder.compare("Eq", number, frame.scalar(each))
        found = frame.builder.op("bit_or", found, equal)
    return found if wanted else frame.builder.op("not", found)


def is_known(frame: Frame, found: Any) -> bool:
    """Return whether all items of a tuple or list are known when compiling."""
    return isinstance(found, (tuple, list)) and not any(
        isinstance(python_value(frame, each), PLACES) for each in found
    )
