# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Operators on structures: the special methods of their classes, as Python calls them, and `==` of dataclasses."""

from __future__ import annotations

from types import FunctionType
from typing import Any

from cuda_graphs.compiler.frontend.frame.frame import Frame
from cuda_graphs.compiler.frontend.frame.values import BoundFunction, Static, Struct, Vector
from cuda_graphs.compiler.ir import ir

__all__ = ["compare_structs", "in_place", "on_structs", "special_method", "unary_on_struct"]

# Names of the classes of operators in syntax trees -> the middle of the names of the special methods.
BINARY = {
    "Add": "add", "Sub": "sub", "Mult": "mul", "Div": "truediv", "FloorDiv": "floordiv", "Mod": "mod", "Pow": "pow",
    "MatMult": "matmul", "LShift": "lshift", "RShift": "rshift", "BitAnd": "and", "BitOr": "or", "BitXor": "xor",
}  # fmt: skip
UNARY = {"USub": "__neg__", "UAdd": "__pos__", "Invert": "__invert__"}
# Comparison -> the method of the left operand, and that of the right one.
COMPARISONS = {
    "Eq": ("__eq__", "__eq__"), "NotEq": ("__ne__", "__ne__"), "Lt": ("__lt__", "__gt__"), "Gt": ("__gt__", "__lt__"),
    "LtE": ("__le__", "__ge__"), "GtE": ("__ge__", "__le__"),
}  # fmt: skip


def special_method(found: Any, name: str) -> BoundFunction | None:
    """Return a special method of a structure; None for other values, and for methods that `dataclass` has made."""
    method = getattr(found.cls, name, None) if isinstance(found, Struct) else None
    function = getattr(method, "__cuda_graphs_func__", method)
    if not isinstance(function, FunctionType) or is_generated(function):
        return None
    return BoundFunction(function, found)


def is_generated(function: FunctionType) -> bool:
    """Return whether `dataclass` has made a function: it has no source."""
    return function.__code__.co_filename == "<string>"


def on_structs(frame: Frame, operator: str, a: Any, b: Any) -> Any:
    """Return a binary operator with a structure among its operands; None if neither operand has the method."""
    for owner, other, prefix in ((a, b, ""), (b, a, "r")):
        method = special_method(owner, f"__{prefix}{BINARY[operator]}__")
        if method is not None:
            return frame.syntax.call(frame, method, [other])
    return None


def in_place(frame: Frame, operator: str, target: Struct, value: Any) -> Any:
    """Return the value that `target op= value` assigns; None if the class has no method for it."""
    method = special_method(target, f"__i{BINARY[operator]}__")
    if method is not None:
        return frame.syntax.call(frame, method, [value])
    return on_structs(frame, operator, frame.read(target), value)


def unary_on_struct(frame: Frame, operator: str, found: Any) -> Any:
    """Return a unary operator on a structure; None if its class has no method for it."""
    method = special_method(found, UNARY.get(operator, ""))
    return None if method is None else frame.syntax.call(frame, method, [])


def compare_structs(frame: Frame, operator: str, a: Any, b: Any) -> Any:
    """Return a comparison with a structure among its operands; None if there is no method for it."""
    for owner, other, name in zip((a, b), (b, a), COMPARISONS[operator], strict=True):
        method = special_method(owner, name)
        if method is not None:
            return frame.syntax.call(frame, method, [other])
    if operator == "NotEq":
        equal = compare_structs(frame, "Eq", a, b)
        equal = frame.read(equal)
        return (
            None if equal is None else frame.builder.op("not", frame.builder.truth(equal, "the result of =="))
        )
    if operator == "Eq" and isinstance(a, Struct) and isinstance(b, Struct):
        return equal_members(frame, a, b)
    return None


def equal_members(frame: Frame, a: Any, b: Any) -> Any:
    """Return whether two structures have one class and equal members."""
    if a.cls is not b.cls:
        return Static(False)
    equal = [
        frame.builder.truth(frame.read(each), "a comparison")
        for name in a.members
        for each in leaves(frame, a.members[name], b.members[name])
    ]
    found: ir.Value = ir.TRUE
    for each in equal:
        found = frame.builder.op("bit_and", found, each)
    return found


def leaves(frame: Frame, a: Any, b: Any) -> list[Any]:
    """Return the comparisons of all numbers in two members."""
    if isinstance(a, Struct):
        return [compare_structs(frame, "Eq", a, b)]
    if isinstance(a, Vector):
        return [frame.builder.compare("Eq", *pair) for pair in zip(a.leaves(), b.leaves(), strict=True)]
    if isinstance(a, ir.Value):
        return [frame.builder.compare("Eq", a, b)]
    return [Static(bool(a == b))]
