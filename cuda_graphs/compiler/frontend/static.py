# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""`cg.static` and its kin: what Python evaluates when compiling, with what is known then."""

from __future__ import annotations

import ast
import builtins
import copy
from collections.abc import Container
from types import SimpleNamespace
from typing import Any

from .. import ir
from ..errors import CompileSyntaxError, CompileValueError, fail
from ..outside import dotted
from .captured import note_whole
from .functions import Frame
from .places import python_value
from .values import Element, Struct


def static_value(frame: Frame, node: ast.Call) -> Any:
    """The operand of `cg.static`, evaluated by Python with what is known when compiling."""
    if len(node.args) != 1 or node.keywords:
        raise fail(
            CompileSyntaxError,
            frame.builder.loc,
            "cg.static takes one expression",
            "cg.static((a, b)) for a tuple",
        )
    spelling = ast.unparse(node.func)
    if any(
        isinstance(each, ast.Call) and ast.unparse(each.func) == spelling for each in ast.walk(node.args[0])
    ):
        raise fail(
            CompileSyntaxError, frame.builder.loc, "cg.static inside cg.static", "remove the inner one"
        )
    names: dict[str, Any] = {}
    inner = {
        each.id
        for each in ast.walk(node.args[0])
        if isinstance(each, ast.Name) and not isinstance(each.ctx, ast.Load)
    }
    for each in ast.walk(node.args[0]):
        if isinstance(each, ast.Name) and each.id not in inner and each.id not in names:
            names[each.id] = static_name(frame, each)
    for each in taken_whole(node.args[0]):
        if each.id in names and frame.scope.find(each.id) is None:
            note_whole(frame.source.captured, each.id, names[each.id])

    def note(path: str, found: Any) -> Any:
        frame.capture(path, found)
        return found

    told = _Told(names).visit(copy.deepcopy(node.args[0]))
    code = compile(ast.fix_missing_locations(ast.Expression(told)), frame.source.file, "eval")
    try:
        return eval(code, {**vars(builtins), **names, NOTE: note})
    except Exception as error:
        raise fail(
            CompileValueError, frame.builder.loc, f"cg.static: {type(error).__name__}: {error}",
            "Python evaluates the expression when compiling: see what it does outside of a kernel",
        ) from error  # fmt: skip


def taken_whole(expression: ast.expr) -> list[ast.Name]:
    """Names that are not only there for an attribute: whoever gets what they stand for may look at all of it."""
    owners = {each.value for each in ast.walk(expression) if isinstance(each, ast.Attribute)}
    return [each for each in ast.walk(expression) if isinstance(each, ast.Name) and each not in owners]


NOTE = "note an attribute"  # no name that an expression could have


class _Told(ast.NodeTransformer):
    """An expression that tells NOTE each attribute of a known name as it reads it, so that what it does not come to is
    not asked for, and nothing twice."""

    def __init__(self, names: Container[str]) -> None:
        self.names = names

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        path = dotted(node)
        self.generic_visit(node)
        if path is None or path.partition(".")[0] not in self.names:
            return node
        return ast.Call(ast.Name(NOTE, ast.Load()), [ast.Constant(path), node], [])


def static_name(frame: Frame, node: ast.Name) -> Any:
    scope = frame.scope.find(node.id)
    found = frame.source.lookup(node.id, frame.at(node)) if scope is None else scope.names[node.id]
    if isinstance(found, (ir.Local, Element)) or (
        isinstance(found, ir.Value) and not isinstance(found, ir.Const)
    ):
        raise fail(
            CompileValueError, frame.builder.loc, f"{node.id!r} is not known when compiling",
            "cg.static takes constants, cg.template parameters, globals, and shapes of fields",
        )  # fmt: skip
    return as_python(frame, found)


def as_python(frame: Frame, found: Any) -> Any:
    """What is known when compiling, as Python's expressions take it."""
    if isinstance(found, Struct):
        return SimpleNamespace(**{name: as_python(frame, member) for name, member in found.members.items()})
    return python_value(frame, found)


def static_assert(frame: Frame, node: ast.Call) -> None:
    """cg.static_assert(condition, message): an error, if it does not hold, when compiling."""
    if not static_value(frame, ast.Call(node.func, node.args[:1], [])):
        message = (
            static_value(frame, ast.Call(node.func, node.args[1:], []))
            if len(node.args) > 1
            else "it does not hold"
        )
        raise fail(
            CompileValueError,
            frame.at(node),
            f"cg.static_assert: {message}",
            "the kernel does not take this case",
        )


def static_print(frame: Frame, node: ast.Call) -> None:
    """cg.static_print(...): print when compiling; of values their types."""
    found = [python_value(frame, frame.visit(each)) for each in node.args]
    print(*(each.type if isinstance(each, (ir.Value, ir.Local)) else each for each in found))
