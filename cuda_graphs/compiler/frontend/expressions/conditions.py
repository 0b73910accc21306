# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Comparisons, `and`, `or` and `a if c else b`: expressions that run a part of their code only if it is needed."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from enum import Enum
from functools import partial
from typing import Any

from cuda_graphs.compiler.errors import (
    CompileTypeError,
    compile_error,
)
from cuda_graphs.compiler.frontend.frame.frame import Frame
from cuda_graphs.compiler.frontend.frame.values import Static, Struct, Vector
from cuda_graphs.compiler.frontend.frame.weak_types import join
from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.ir.types import bool_

from .arithmetic import operands
from .construction import filled
from .lvalues import broadcast
from .membership import MEMBERSHIP, membership
from .merging import is_number, merged, zero
from .operators import compare_structs

MOST_COMPUTED = 16  # statements of a condition that is computed even if it is not needed
HARMLESS = (
    "less", "less_equal", "greater", "greater_equal", "equal", "not_equal", "not", "bit_and", "bit_or", "bit_xor",
    "add", "sub", "mul", "neg", "min", "max",
)  # fmt: skip


def compare(frame: Frame, node: ast.Compare) -> Any:
    """Return a comparison. A chain evaluates each operand once, and later operands only while the chain holds."""
    operators = [type(operator).__name__ for operator in node.ops]
    if any(operator in MEMBERSHIP for operator in operators):
        return membership(frame, node)
    left = frame.visit(node.left)

    def link(left: Any, i: int) -> Any:
        right = frame.read(frame.visit(node.comparators[i]))
        if operators in (["Eq"], ["NotEq"]) and all(isinstance(each, (str, Enum)) for each in (left, right)):
            return Static((left == right) == (operators == ["Eq"]))
        if len(operators) == 1 and (isinstance(left, Struct) or isinstance(right, Struct)):
            found = compare_structs(frame, operators[0], left, right)
            if found is not None:
                return found
        here = comparison(frame, operators[i], frame.read(left), right)
        if i + 1 == len(operators):
            return here
        if isinstance(here, Vector):
            return by_components(frame, "bit_and", here, link(right, i + 1))
        return logical_and(frame, here, lambda: link(right, i + 1))

    return link(frame.read(left), 0)


def comparison(frame: Frame, operator: str, a: Any, b: Any) -> Any:
    """Return a comparison of two numbers, or of vectors by component."""
    if isinstance(a, Vector) or isinstance(b, Vector):
        return broadcast(frame, lambda x, y: frame.builder.compare(operator, x, y), a, b)
    return frame.builder.compare(operator, *operands(frame, operator, a, b))


def by_components(frame: Frame, name: str, a: Vector, b: Any) -> Vector:
    """Return `and` ("bit_and") or `or` ("bit_or") of the components of vectors of bools."""
    return broadcast(
        frame, lambda x, y: frame.builder.op(name, x, frame.builder.truth(y, "an operand")), a, b
    )


def logical_and(frame: Frame, condition: ir.Value, rest: Callable[[], Any]) -> Any:
    """Return `condition and rest()`. `rest` is evaluated only if the condition holds."""
    return choose(frame, condition, rest, lambda: ir.FALSE)


def choose(frame: Frame, condition: ir.Value, then: Callable[[], Any], orelse: Callable[[], Any]) -> Any:
    """Return one of two values. Only the code of the chosen value is executed."""
    if isinstance(condition, ir.Const):
        return then() if condition.value else orelse()
    statement = ir.If(condition, ir.Block(), ir.Block(), frame.builder.loc)
    found = []
    for block, make in ((statement.then, then), (statement.orelse, orelse)):
        with frame.block(block):
            found.append(frame.read(make()))
    name = connective(statement, *found)
    if not name:
        return merge_branches(frame, statement, *found)
    for each in (*statement.then.body, *statement.orelse.body):
        frame.builder.put(each)
    return frame.builder.op(name, condition, found[0] if name == "bit_and" else found[1])


def connective(branch: ir.If, a: Any, b: Any) -> str:
    """Return the operation that is the choice of `a` or `b`: "bit_and", "bit_or", or "" if it needs a branch.

    Code without the branch computes both conditions of `and` or `or`, so the code of the other condition is short, and
    neither fails nor accesses memory.
    """
    code = (*branch.then.body, *branch.orelse.body)
    if len(code) > MOST_COMPUTED or not all(map(is_harmless, code)):
        return ""
    if not all(isinstance(each, ir.Value) and each.type == bool_ for each in (a, b)):
        return ""
    if b is branch.condition or is_constant(b, False):
        return "bit_and"
    return "bit_or" if a is branch.condition or is_constant(a, True) else ""


def is_harmless(statement: ir.Statement) -> bool:
    is_computed = isinstance(statement, ir.Op) and statement.name in HARMLESS
    return is_computed or isinstance(statement, (ir.Extent, ir.Get))


def is_constant(value: ir.Value, wanted: bool) -> bool:
    return isinstance(value, ir.Const) and value.value is wanted


def merge_branches(frame: Frame, statement: ir.If, a: Any, b: Any) -> Any:
    """Return the value of an If whose branches leave `a` or `b`, from variables that the branches set."""
    builder = frame.builder

    def variable(pair: Sequence[Any]) -> ir.Local:
        left, right = (frame.scalar(each) for each in pair)
        type = join(left.type, right.type)
        local = frame.weak_types.declare_made(builder.loc, "choice", type, left, right) or ir.Local(
            "choice", type
        )
        builder.put(ir.Set(local, zero(local.type), builder.loc))
        for block, value in ((statement.then, left), (statement.orelse, right)):
            with builder.into(block):
                builder.put(ir.Set(local, builder.cast(value, local.type), builder.loc))
        return local

    found = merged(frame, of_one_shape(a, b), variable, "branch")
    builder.put(statement)
    return frame.read(found)


def of_one_shape(a: Any, b: Any) -> tuple[Any, Any]:
    """Return two values, of which a number beside a vector stands for all components."""
    if isinstance(a, Vector) and is_number(b):
        return a, filled(b, a.shape)
    if isinstance(b, Vector) and is_number(a):
        return filled(a, b.shape), b
    return a, b


def if_expression(frame: Frame, node: ast.IfExp) -> Any:
    test = frame.visit(node.test)
    if isinstance(test, Static):
        return frame.visit(node.body if test.value else node.orelse)
    condition = frame.builder.truth(frame.scalar(test, "the condition"), "the condition")
    return choose(frame, condition, lambda: frame.visit(node.body), lambda: frame.visit(node.orelse))


def boolean(frame: Frame, node: ast.BoolOp) -> Any:
    """Return the deciding operand of `and` or `or`, in the promoted type. Later operands are not executed.

    With vectors the result is a vector of bools. Each tells whether all, or any, of these components are not 0.
    """
    builder, is_and = frame.builder, isinstance(node.op, ast.And)

    def truth(value: ir.Value) -> ir.Value:
        return builder.truth(value, "an operand of and or or")

    def link(i: int) -> Any:
        value = frame.read(frame.visit(node.values[i]))
        value = value.map(truth) if isinstance(value, Vector) else frame.scalar(value)
        if i + 1 == len(node.values):
            return value
        if isinstance(value, Vector):
            return by_components(frame, "bit_and" if is_and else "bit_or", value, link(i + 1))
        rest, itself = partial(link, i + 1), partial(frame.read, value)
        found = choose(frame, truth(value), *((rest, itself) if is_and else (itself, rest)))
        return found.map(truth) if isinstance(found, Vector) else found

    result = link(0)
    if not isinstance(result, Vector) and result.type.kind == "float":
        raise compile_error(
            CompileTypeError,
            builder.loc,
            "an operand of `and` or `or` cannot be a float",
            "compare it: x != 0",
        )
    return result
