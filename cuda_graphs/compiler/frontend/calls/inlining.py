# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Inlined functions: their bodies. Functions that are called instead go to called_functions.py."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from typing import Any

from cuda_graphs.compiler.frontend.expressions.merging import joined_result
from cuda_graphs.compiler.frontend.frame.called import MAX_DEPTH, endless_recursion
from cuda_graphs.compiler.frontend.frame.frame import Frame
from cuda_graphs.compiler.frontend.frame.scope import Scope
from cuda_graphs.compiler.frontend.frame.values import LocalFunction
from cuda_graphs.compiler.frontend.source import Source, body_of

from .binding import bind_parameter, bind_parameters, declared_arguments, is_variable, result_of
from .called_functions import call_function, is_called


def inline(
    frame: Frame,
    function: Callable[..., Any],
    args: list[Any],
    keywords: dict[str, Any],
    is_method: bool = False,
) -> Any:
    """Translate a call: the body of the function with its parameters bound. Return its result.

    The first argument of a method is the owner itself, so that the method can change its members. A structure that is
    no variable, such as a result, becomes one.
    """
    signature = inspect.signature(function)
    if is_method and not is_variable(args[0]):
        args = [bind_parameter(frame, function.__name__, args[0]), *args[1:]]
    given = declared_arguments(frame, function, signature, args, keywords)
    if is_called(frame, function):
        return call_function(frame, function, signature, given, args[0] if is_method else None)
    names = bind_parameters(frame, function, signature, given)
    if is_method and names:
        names[next(iter(names))] = args[0]
    root = frame.root
    source = root.sources.setdefault(function, Source(function))
    found = run_body(
        frame, source, source.tree, names, lambda value: result_of(frame, function, signature, value)
    )
    root.free_values[function] = source.free_values
    return found


def inline_local(frame: Frame, function: LocalFunction, args: list[Any], keywords: dict[str, Any]) -> Any:
    """Translate a call of a function that is defined in the kernel. Return its result."""
    around: Any = function.source.function
    given = declared_arguments(frame, function, function.signature, args, keywords, around)
    names = bind_parameters(frame, function, function.signature, given, around)
    return run_body(
        frame,
        function.source,
        function.tree,
        names,
        lambda value: result_of(frame, function, function.signature, value, around),
        function.scope,
    )


def run_body(
    frame: Frame,
    source: Source,
    tree: ast.FunctionDef,
    names: dict[str, Any],
    convert: Callable[[Any], Any],
    around: Scope | None = None,
) -> Any:
    """Translate the body of a called function; return its result.

    Args:
        convert: Converts what it returns as it declares that.
        around: The scope of its definition in a kernel.
    """
    if frame.depth + 1 >= MAX_DEPTH:
        raise endless_recursion(frame.builder.loc, tree.name, MAX_DEPTH)
    callee = Frame(frame.builder, source, frame.syntax, frame, frame.parallel_level)
    callee.scope = Scope(around)
    callee.scope.names.update(names)
    callee.scope.parameters = frozenset(names)
    callee.outer_scope = frame.outer_scope
    loc = frame.builder.loc
    callee.run(body_of(tree))
    found = joined_result(callee, convert)
    frame.builder.loc = loc
    return found
