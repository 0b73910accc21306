# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Lambdas and functions that a kernel defines. Each call inlines them. Defaults are evaluated at the definition."""

from __future__ import annotations

import ast
import inspect
from typing import Any

from cuda_graphs.compiler.errors import CompileImmutableError, CompileSyntaxError, compile_error
from cuda_graphs.compiler.frontend.frame.frame import Frame
from cuda_graphs.compiler.frontend.frame.values import LocalFunction
from cuda_graphs.compiler.frontend.source import definition_of

__all__ = ["function_statement", "lambda_expression"]


def lambda_expression(frame: Frame, node: ast.Lambda) -> LocalFunction:
    """Return the function of a lambda in a kernel."""
    return local_function(frame, definition_of(node))


def function_statement(frame: Frame, node: ast.FunctionDef, last: bool) -> None:
    """Translate the definition of a function in a kernel."""
    if node.decorator_list:
        raise compile_error(
            CompileSyntaxError, frame.builder.loc, f"{node.name} is defined in a kernel and has a decorator",
            "remove the decorator: the function is inlined as a @cg.func is",
        )  # fmt: skip
    if frame.scope.find(node.name) is not None:
        raise compile_error(
            CompileImmutableError, frame.builder.loc, f"{node.name!r} is already defined", "take a new name"
        )
    frame.scope.names[node.name] = local_function(frame, node)


def local_function(frame: Frame, tree: ast.FunctionDef) -> LocalFunction:
    names = {
        each.id for each in ast.walk(tree) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
    }
    own = {each.arg for each in ast.walk(tree.args) if isinstance(each, ast.arg)}
    for name in sorted(names - own):
        if frame.scope.find(name) is not None:  # Python would make another variable of that name
            raise compile_error(
                CompileImmutableError, frame.builder.loc,
                f"{tree.name} assigns to {name!r}, a name of the function around it",
                "take a new name, and return the value",
            )  # fmt: skip
    return LocalFunction(tree, signature_of(frame, tree), frame.source, frame.scope)


def signature_of(frame: Frame, tree: ast.FunctionDef) -> inspect.Signature:
    """Return the parameters of a definition in a kernel, with the values of their defaults and annotations."""
    kinds, args = inspect.Parameter, tree.args
    usual: list[tuple[ast.arg, Any]] = [(each, kinds.POSITIONAL_ONLY) for each in args.posonlyargs]
    usual += [(each, kinds.POSITIONAL_OR_KEYWORD) for each in args.args]
    missing: list[ast.expr | None] = [None]
    defaults = missing * (len(usual) - len(args.defaults)) + [*args.defaults]
    found = [parameter(frame, *each, default) for each, default in zip(usual, defaults, strict=True)]
    if args.vararg is not None:
        found.append(parameter(frame, args.vararg, kinds.VAR_POSITIONAL, None))
    for each, default in zip(args.kwonlyargs, args.kw_defaults, strict=True):
        found.append(parameter(frame, each, kinds.KEYWORD_ONLY, default))
    if args.kwarg is not None:
        found.append(parameter(frame, args.kwarg, kinds.VAR_KEYWORD, None))
    returned = inspect.Signature.empty if tree.returns is None else frame.visit(tree.returns)
    return inspect.Signature(found, return_annotation=returned)


def parameter(frame: Frame, arg: ast.arg, kind: Any, default: ast.expr | None) -> inspect.Parameter:
    empty = inspect.Parameter.empty
    return inspect.Parameter(
        arg.arg,
        kind,
        default=empty if default is None else frame.snapshot(frame.visit(default)),
        annotation=empty if arg.annotation is None else frame.visit(arg.annotation),
    )
