# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Translation of derivatives from the text in the op table to IR.

An expression names the adjoint `g` of the result, the operands `x`, `y` and `z`, and operations of the table. A number
takes the type of the other operand. `cast` converts to the type of the derivative: the adjoint of an operand in reverse
mode, the dual of the result in forward mode.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import cache
from typing import Any

from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.ir.builder import Builder
from cuda_graphs.compiler.ir.ops import OPS
from cuda_graphs.compiler.ir.types import ScalarType

__all__ = ["contribution"]

OPERANDS = ("x", "y", "z")
OPERATORS = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div"}


@cache
def parse_derivative(text: str) -> ast.expr:
    """Return the expression as a tree."""
    return ast.parse(text, mode="eval").body


def contribution(
    builder: Builder,
    op: ir.Op,
    number: int,
    adjoint: ir.Value,
    operand: Callable[[int], ir.Value],
    forward: bool = False,
) -> ir.Value | None:
    """Return the contribution of the adjoint of an operation to the adjoint of an operand; None if it is 0.

    Args:
        number: The number of the operand.
        adjoint: The adjoint of the operation; with `forward`, the dual of the operand.
        operand: Returns the value of an operand by its number. It is called only for operands in the derivative.
        forward: Return the contribution of the dual of the operand to the dual of the result. Both modes use the same
            expression, as derivatives are multiples of `g`.
    """
    derivative = OPS[op.name].derivative
    assert derivative is not None
    if derivative[number] == "0":
        return None
    type = op.type if forward else op.args[number].type
    return _Writer(builder, op, type, adjoint, operand).value(derivative[number])


class _Writer:
    def __init__(
        self,
        builder: Builder,
        op: ir.Op,
        type: ScalarType,
        adjoint: ir.Value,
        operand: Callable[[int], ir.Value],
    ):
        self.builder, self.op, self.type, self.adjoint, self.operand = builder, op, type, adjoint, operand

    def value(self, text: str) -> ir.Value:
        return self.as_value(self.visit(parse_derivative(text)), self.type)

    def visit(self, node: ast.expr) -> Any:
        """Return a value, or a number without a type."""
        match node:
            case ast.Constant():
                return node.value
            case ast.Name("g"):
                return self.adjoint
            case ast.Name():
                return self.operand(OPERANDS.index(node.id))
            case ast.UnaryOp(ast.USub(), inner):
                found = self.visit(inner)
                return self.builder.op("neg", found) if isinstance(found, ir.Value) else -found
            case ast.BinOp():
                return self.row(OPERATORS[type(node.op)], [node.left, node.right])
            case ast.Call(ast.Name("cast"), [inner]):
                return self.builder.cast(self.visit(inner), self.type)
            case ast.Call(ast.Name(name), args):
                return self.row(name, args)
        raise AssertionError(ast.dump(node))

    def row(self, name: str, nodes: list[ast.expr]) -> ir.Value:
        args = [self.visit(node) for node in nodes]
        of = args[1:] if name == "select" else args
        like = next((each.type for each in of if isinstance(each, ir.Value)), self.type)
        if name == "float_pow":
            return self.builder.op(name, *args)
        return self.builder.op(name, *(self.as_value(each, like) for each in args))

    def as_value(self, found: Any, type: ScalarType) -> ir.Value:
        if isinstance(found, ir.Value):
            return found
        return ir.Const(float(found) if type.kind == "float" else int(found), type)
