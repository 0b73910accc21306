# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The tables of the syntax: the translation of each kind of statement and expression.

A translation calls `frame.run` and `frame.visit` for the parts of its node. These return to the tables here, so that no
translation imports another one that stands above it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from cuda_graphs.compiler.frontend.calls.calls import call
from cuda_graphs.compiler.frontend.calls.inlining import inline
from cuda_graphs.compiler.frontend.calls.local_functions import function_statement, lambda_expression
from cuda_graphs.compiler.frontend.expressions.arithmetic import binary, unary
from cuda_graphs.compiler.frontend.expressions.conditions import boolean, compare, if_expression
from cuda_graphs.compiler.frontend.expressions.expressions import (
    assign_expression,
    comprehension,
    constant,
    dict_comprehension,
    dictionary,
    sequence,
    subscript,
)
from cuda_graphs.compiler.frontend.expressions.names import attribute, name
from cuda_graphs.compiler.frontend.frame.frame import Frame, Syntax
from cuda_graphs.compiler.frontend.frame.values import BoundFunction
from cuda_graphs.compiler.frontend.statements.checkpoints import check_bare
from cuda_graphs.compiler.frontend.statements.loops import for_statement, leave_loop, while_statement
from cuda_graphs.compiler.frontend.statements.statements import (
    annotated_assign,
    assert_statement,
    assign,
    augmented_assign,
    expression_statement,
    if_statement,
    match_statement,
    pass_statement,
    return_statement,
)
from cuda_graphs.compiler.frontend.statements.with_blocks import with_statement

STATEMENTS: dict[type[ast.stmt], Callable[[Frame, Any, bool], None]] = {
    ast.Assign: assign,
    ast.AnnAssign: annotated_assign,
    ast.AugAssign: augmented_assign,
    ast.If: if_statement,
    ast.While: while_statement,
    ast.Match: match_statement,
    ast.For: for_statement,
    ast.With: with_statement,
    ast.Break: leave_loop,
    ast.Continue: leave_loop,
    ast.Return: return_statement,
    ast.Expr: expression_statement,
    ast.Assert: assert_statement,
    ast.Pass: pass_statement,
    ast.FunctionDef: function_statement,
}

EXPRESSIONS: dict[type[ast.expr], Callable[[Frame, Any], Any]] = {
    ast.Name: name,
    ast.Constant: constant,
    ast.Attribute: attribute,
    ast.Subscript: subscript,
    ast.BinOp: binary,
    ast.UnaryOp: unary,
    ast.Compare: compare,
    ast.IfExp: if_expression,
    ast.BoolOp: boolean,
    ast.Tuple: sequence,
    ast.List: sequence,
    ast.Dict: dictionary,
    ast.ListComp: comprehension,
    ast.DictComp: dict_comprehension,
    ast.GeneratorExp: comprehension,
    ast.NamedExpr: assign_expression,
    ast.Call: call,
    ast.Lambda: lambda_expression,
}


def translate_statement(frame: Frame, node: ast.stmt, last: bool) -> None:
    """Translate a statement. `last`: no statement follows it in its block."""
    translation = STATEMENTS.get(type(node))
    if translation is None:
        raise frame.refuse(node)
    before = len(frame.builder.block.body)
    translation(frame, node, last)
    if len(frame.builder.block.body) > before:
        check_bare(frame, node)


def translate_expression(frame: Frame, node: ast.expr) -> Any:
    """Translate an expression; return its meaning."""
    translation = EXPRESSIONS.get(type(node))
    if translation is None:
        raise frame.refuse(node)
    return translation(frame, node)


def call_method(frame: Frame, method: BoundFunction, args: list[Any]) -> Any:
    """Translate the call of a method of a structure on values."""
    return inline(frame, method.function, [method.owner, *args], {}, is_method=True)


SYNTAX = Syntax(translate_statement, translate_expression, call_method)
