# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""`cg.static` and its kin: what Python evaluates when compiling, with what is known then."""

from __future__ import annotations

import ast
import builtins
import copy
import types
from collections.abc import Container
from types import SimpleNamespace
from typing import Any

from .. import intrinsics, ir
from ..annotations import VectorType
from ..errors import (
    CompileArgumentError,
    CompileNameError,
    CompileStaticError,
    CompileSyntaxError,
    CompileValueError,
    fail,
    warn,
)
from ..outside import dotted
from .functions import Frame
from .places import python_value
from .values import Bound, Element, IndexRange, KnownArray, Struct, Vector, VectorElement


def static_value(frame: Frame, node: ast.Call) -> Any:
    """The operand of `cg.static`, evaluated by Python with what is known when compiling."""
    if len(node.args) != 1 or node.keywords:
        raise fail(
            CompileArgumentError,
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
        if each.id in names:
            frame.capture(each.id, names[each.id], whole=True)

    def note(path: str, found: Any, whole: bool) -> Any:
        if frame.scope.find(path.partition(".")[0]) is None:
            found = frame.source.once(path, found)
        frame.capture(path, found, whole)
        return found

    told = _Told(names).visit(copy.deepcopy(node.args[0]))
    try:
        code = compile(ast.fix_missing_locations(ast.Expression(told)), frame.source.file, "eval")
        return eval(code, {**vars(builtins), **names, NOTE: note})
    except Exception as error:
        raise fail(
            CompileStaticError, frame.builder.loc, f"cg.static: {type(error).__name__}: {error}",
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

    def visit_Attribute(self, node: ast.Attribute, whole: bool = True) -> ast.expr:
        path, owner = dotted(node), node.value
        node.value = (
            self.visit_Attribute(owner, False) if isinstance(owner, ast.Attribute) else self.visit(owner)
        )
        if path is None or path.partition(".")[0] not in self.names:
            return node
        return ast.Call(ast.Name(NOTE, ast.Load()), [ast.Constant(path), node, ast.Constant(whole)], [])


def static_name(frame: Frame, node: ast.Name) -> Any:
    scope = frame.scope.find(node.id)
    found = frame.source.lookup(node.id, frame.at(node)) if scope is None else scope.names[node.id]
    if isinstance(found, (ir.Local, Element)) or (
        isinstance(found, ir.Value) and not isinstance(found, ir.Const)
    ):
        raise fail(
            CompileStaticError, frame.builder.loc, f"{node.id!r} is not known when compiling",
            "cg.static takes constants, cg.template parameters, globals, and shapes of fields",
        )  # fmt: skip
    return as_python(frame, found)


def as_python(frame: Frame, found: Any) -> Any:
    """What is known when compiling, as Python's expressions take it."""
    if isinstance(found, Struct):
        return SimpleNamespace(**{name: as_python(frame, member) for name, member in found.members.items()})
    if isinstance(found, ir.Array):
        return KnownArray(found)
    return python_value(frame, found)


def run_python(frame: Frame, name: str, function: Any, args: list[Any], keywords: dict[str, Any]) -> Any:
    """A function of Python runs when compiling, and what it gives is a constant."""
    loc = frame.builder.loc
    if not is_python(function):
        raise fail(
            CompileNameError, loc, f"{name} cannot be called in a kernel",
            "kernels make no objects: make it outside and pass it as an argument, or use variables for its members"
            if isinstance(function, type)
            else "decorate it with @cg.func to have it inlined, or call it in cg.static(...) to run it when compiling",
        )  # fmt: skip
    given = [as_python(frame, each) for each in args]
    named = {key: as_python(frame, each) for key, each in keywords.items()}
    if any(is_of_run_time(each) for each in (*given, *named.values())):
        raise fail(
            CompileStaticError, loc, f"{name} is a function of Python, and an argument is known at run time only",
            ours(function) or "decorate it with @cg.func to have it inlined",
        )  # fmt: skip
    try:
        found = function(*given, **named)
    except Exception as error:
        raise fail(
            CompileStaticError, loc, f"{name}: {type(error).__name__}: {error}",
            "Python runs it when compiling: see what it does outside of a kernel, or decorate it with @cg.func",
        ) from error  # fmt: skip
    warn(
        loc, f"{name} is a function of Python: it ran when compiling, and what it gave is a constant",
        f"If that is meant, write cg.static({name}(...)); else decorate it with @cg.func",
    )  # fmt: skip
    return found


def ours(function: Any) -> str | None:
    """What to write instead of a function of another library, if the language has one of that name."""
    name = getattr(function, "__name__", "")
    return (
        None
        if isinstance(function, types.FunctionType) or name not in intrinsics.__all__
        else f"write cg.{name}(...)"
    )


def is_python(function: Any) -> bool:
    """Whether it is a function of Python, or one of C in `math` or NumPy, which do nothing but give a value."""
    if isinstance(function, (types.FunctionType, types.MethodType)):
        return not getattr(function, "__module__", "").startswith("cuda_graphs.")
    module = getattr(function, "__module__", None) or type(function).__module__
    return (
        callable(function)
        and not isinstance(function, type)
        and module.partition(".")[0] in ("math", "numpy")
    )


def is_of_run_time(found: Any) -> bool:
    """Whether something is known at run time only, or is made of what is."""
    if isinstance(found, (list, tuple, dict)):
        return any(map(is_of_run_time, found.values() if isinstance(found, dict) else found))
    if isinstance(found, SimpleNamespace):
        return is_of_run_time(vars(found))
    return isinstance(
        found, (ir.Value, ir.Local, KnownArray, Element, Vector, VectorElement, IndexRange, Bound)
    )


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
    print(*(described(python_value(frame, frame.visit(each))) for each in node.args))


def described(found: Any) -> Any:
    """A value by its type; what is known when compiling as it is."""
    if isinstance(found, (ir.Value, ir.Local)):
        return found.type
    if isinstance(found, Element):
        return found.array.element
    if isinstance(found, VectorElement):
        return described(found.places)
    if isinstance(found, Vector):
        return VectorType(described(found.leaves()[0]), found.shape)
    if isinstance(found, ir.Array):
        return f"{found.path}: {found.element}, {found.ndim - len(found.inner)} dimensions"
    return tuple(map(described, found)) if isinstance(found, tuple) else found
