# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""`cg.static` and related functions: expressions that Python evaluates at compile time."""

from __future__ import annotations

import ast
import builtins
import copy
import types
from collections.abc import Container
from inspect import getattr_static
from types import SimpleNamespace
from typing import Any

from cuda_graphs.compiler.errors import (
    CompileArgumentError,
    CompileStaticError,
    CompileSyntaxError,
    CompileValueError,
    compile_error,
)
from cuda_graphs.compiler.frontend.expressions.lvalues import python_value
from cuda_graphs.compiler.frontend.expressions.static_loops import is_constant
from cuda_graphs.compiler.frontend.expressions.struct_elements import is_array
from cuda_graphs.compiler.frontend.frame.frame import Frame
from cuda_graphs.compiler.frontend.frame.values import (
    Element,
    KnownArray,
    KnownVector,
    Packed,
    RunTimePart,
    Struct,
    StructArray,
    Vector,
    VectorElement,
)
from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.ir.types import BY_DTYPE, ScalarType
from cuda_graphs.compiler.language.annotations import VectorType
from cuda_graphs.compiler.language.free_names import dotted
from cuda_graphs.compiler.language.free_names import is_array as is_array_outside
from cuda_graphs.compiler.language.host_vectors import HostVector, host_vector
from cuda_graphs.compiler.language.intrinsics import inside_static


def static_value(frame: Frame, node: ast.Call) -> Any:
    """Return the operand of `cg.static`, which Python evaluates with the values known at compile time."""
    if not node.args or node.keywords:
        raise compile_error(
            CompileArgumentError,
            frame.builder.loc,
            "cg.static takes one expression, or several for a tuple",
            "cg.static(a), cg.static(a, b)",
        )
    given = node.args[0]
    if len(node.args) > 1:
        given = ast.copy_location(ast.Tuple(node.args, ast.Load()), node)
    spelling = ast.unparse(node.func)
    if any(isinstance(each, ast.Call) and ast.unparse(each.func) == spelling for each in ast.walk(given)):
        raise compile_error(
            CompileSyntaxError, frame.builder.loc, "cg.static inside cg.static", "remove the inner one"
        )
    inner = {
        each.id
        for each in ast.walk(given)
        if isinstance(each, ast.Name) and not isinstance(each.ctx, ast.Load)
    }
    parts = _RunTimeParts(frame, inner)
    given = parts.visit(copy.deepcopy(given))
    names: dict[str, Any] = {}
    for each in ast.walk(given):
        if isinstance(each, ast.Name) and not {each.id} & (inner | names.keys() | parts.found.keys()):
            names[each.id] = static_name(frame, each)
    for each in names_used_whole(given):
        if each.id in names:
            frame.record(each.id, names[each.id], whole=True)

    def record(path: str, found: Any, whole: bool) -> Any:
        if frame.scope.find(path.partition(".")[0]) is None:
            found = frame.source.once(path, found)
        frame.record(path, found, whole)
        return with_arrays(frame, path, found)

    recorded = _AttributeRecorder(names).visit(given)
    outer = inside_static.set(True)
    try:
        code = compile(ast.fix_missing_locations(ast.Expression(recorded)), frame.source.file, "eval")
        return eval(code, {**vars(builtins), **names, **parts.found, RECORD: record})
    except Exception as error:
        raise compile_error(
            CompileStaticError, frame.builder.loc, f"cg.static: {type(error).__name__}: {error}",
            "Python evaluates the expression when compiling: try it outside of a kernel",
        ) from error  # fmt: skip
    finally:
        inside_static.reset(outer)


def names_used_whole(expression: ast.expr) -> list[ast.Name]:
    """Return the names that are used for more than an attribute: all of such an object may matter."""
    owners = {each.value for each in ast.walk(expression) if isinstance(each, ast.Attribute)}
    return [each for each in ast.walk(expression) if isinstance(each, ast.Name) and each not in owners]


RECORD = "record an attribute"  # cannot be a name in an expression


class _AttributeRecorder(ast.NodeTransformer):
    """Rewrites an expression so that it passes each attribute of a known name to RECORD when it reads the attribute.

    Attributes that the expression does not reach are not read, and no attribute is read twice.
    """

    def __init__(self, names: Container[str]) -> None:
        self.names = names

    def visit_Attribute(self, node: ast.Attribute, whole: bool = True) -> ast.expr:
        path, owner = dotted(node), node.value
        node.value = (
            self.visit_Attribute(owner, False) if isinstance(owner, ast.Attribute) else self.visit(owner)
        )
        if path is None or path.partition(".")[0] not in self.names:
            return node
        return ast.Call(ast.Name(RECORD, ast.Load()), [ast.Constant(path), node, ast.Constant(whole)], [])


# Members of numbers, vectors and matrices that are known at compile time.
KNOWN = ("n", "m", "dtype")


class _RunTimeParts(ast.NodeTransformer):
    """Translates the items of tuples and lists that are known at run time only; Python sees a RunTimePart for each.
    Sizes of run-time vectors are numbers, and the types of run-time numbers are types.

    Attributes:
        found: The parts by the names that stand for them in the expression.
    """

    def __init__(self, frame: Frame, inner: Container[str]) -> None:
        self.frame, self.inner, self.found = frame, inner, dict[str, RunTimePart | ScalarType]()

    def visit_Tuple(self, node: ast.Tuple) -> ast.expr:
        return self.items(node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        """Replace the number of components of a run-time vector, or the type of a run-time number, by itself."""
        if node.attr in KNOWN and self.is_run_time(node.value):
            found = python_value(self.frame, self.frame.visit(node))
            if type(found) is int:
                return ast.copy_location(ast.Constant(found), node)
            if isinstance(found, ScalarType):
                name = f"part {len(self.found)}"  # cannot be a name in an expression
                self.found[name] = found
                return ast.copy_location(ast.Name(name, ast.Load()), node)
        self.generic_visit(node)
        return node

    def visit_List(self, node: ast.List) -> ast.expr:
        return self.items(node)

    def items(self, node: Any) -> ast.expr:
        self.generic_visit(node)
        node.elts = [self.part(each) for each in node.elts]
        return node

    def part(self, node: ast.expr) -> ast.expr:
        names = [each.id for each in ast.walk(node) if isinstance(each, ast.Name)]
        is_whole = isinstance(node, (ast.Tuple, ast.List, ast.Starred)) or set(names) & self.found.keys()
        if is_whole or any(name in self.inner for name in names) or not self.is_run_time(node):
            return node
        name = f"part {len(self.found)}"  # cannot be a name in an expression
        self.found[name] = RunTimePart(self.frame.read(self.frame.visit(node)))
        return ast.copy_location(ast.Name(name, ast.Load()), node)

    def is_run_time(self, node: ast.expr) -> bool:
        """Return whether an expression reads a variable or an element."""
        for each in ast.walk(node):
            is_element = isinstance(each, ast.Subscript) and isinstance(each.value, ast.Name)
            if is_element and is_array(self.meaning(each.value)):  # type: ignore[attr-defined]
                return True
            if isinstance(each, ast.Name) and is_variable(self.meaning(each)):
                return True
        return False

    def meaning(self, node: ast.Name) -> Any:
        scope = self.frame.scope.find(node.id)
        return None if scope is None else scope.names[node.id]


def is_variable(found: Any) -> bool:
    """Return whether a name stands for a number that is known at run time only."""
    return isinstance(found, (ir.Local, Element)) or (
        isinstance(found, ir.Value) and not isinstance(found, ir.Const)
    )


def static_name(frame: Frame, node: ast.Name) -> Any:
    scope = frame.scope.find(node.id)
    found = frame.source.lookup(node.id, frame.at(node)) if scope is None else scope.names[node.id]
    if is_variable(found):
        raise compile_error(
            CompileStaticError, frame.builder.loc, f"{node.id!r} is not known when compiling",
            "cg.static takes constants, cg.template parameters, globals, and shapes of fields",
        )  # fmt: skip
    return with_arrays(frame, node.id, found) if scope is None else as_python(frame, found)


def with_arrays(frame: Frame, path: str, found: Any) -> Any:
    """Return an object from outside of the kernel, with the arrays of the kernel in place of arrays.

    Their extents are those of the arrays from outside, which the kernel is compiled for.
    """
    if not isinstance(found, (list, tuple, dict)) and not is_array_outside(found):
        return as_python(frame, found)
    meaning = outside_meaning(frame, path)
    return as_python(frame, found) if meaning is None else known(meaning, found)


def outside_meaning(frame: Frame, path: str) -> Any:
    """Return the meaning of a path that leads to an object from outside which the kernel takes as a parameter."""
    names = path.split(".")
    for count in range(len(names), 0, -1):
        found = frame.outside.get((frame.source.function, ".".join(names[:count])))
        if found is not None:
            for name in names[count:]:
                found = found.members.get(name) if isinstance(found, Struct) else None
            return found
    return None


def known(meaning: Any, outside: Any) -> Any:
    """Return an array, or a list or dict of arrays, as Python's expressions use it."""
    if isinstance(meaning, ir.Array) and is_array_outside(outside):
        return KnownArray(meaning, tuple(outside.shape))
    if isinstance(meaning, dict) and isinstance(outside, dict):
        return {key: known(meaning.get(key), each) for key, each in outside.items()}
    if isinstance(meaning, (list, tuple)) and isinstance(outside, (list, tuple)):
        return type(outside)([known(*pair) for pair in zip(meaning, outside, strict=True)])
    return meaning if isinstance(meaning, (StructArray, Packed)) else outside


class KnownStruct(SimpleNamespace):
    """A structure as a compile-time Python object: its members, and the methods and values of its class."""

    __slots__ = ("cls",)

    def __init__(self, cls: type, members: dict[str, Any]) -> None:
        super().__init__(**members)
        object.__setattr__(self, "cls", cls)

    def __getattr__(self, name: str) -> Any:
        found = getattr_static(self.cls, name)
        if isinstance(found, property) and found.fget is not None:
            return found.fget(self)
        if isinstance(found, types.FunctionType):
            return types.MethodType(found, self)
        return getattr(self.cls, name)


KnownStruct.__name__ = "structure"  # in Python's errors


def as_python(frame: Frame, found: Any) -> Any:
    """Return a compile-time value in the form that Python's expressions use."""
    if isinstance(found, Struct):
        members = {name: as_python(frame, member) for name, member in found.members.items()}
        return KnownStruct(found.cls, members)
    if isinstance(found, ir.Array):
        return KnownArray(found)
    if isinstance(found, VectorElement):
        return KnownVector(found.elements)
    if isinstance(found, Vector):
        constants = constants_of(found)
        return KnownVector(found) if constants is None else constants
    return python_value(frame, found)


def constants_of(vector: Vector) -> HostVector | None:
    """Return a vector of constants of one type as it is on the host; None for other vectors."""
    # Numbers of the source have no type of their own.
    if vector.numbers or not is_constant(vector):
        return None
    leaves = vector.leaves()
    kinds = {each.type for each in leaves}
    if len(kinds) > 1:
        return None
    found = host_vector(*kinds, vector.shape, [each.value for each in leaves])
    return found if BY_DTYPE.get(found.dtype.str) in kinds else None  # NumPy has no bf16


def static_assert(frame: Frame, node: ast.Call) -> None:
    """Translate cg.static_assert(condition, message): raise at compile time if the condition does not hold."""
    if not static_value(frame, ast.Call(node.func, node.args[:1], [])):
        message = (
            static_value(frame, ast.Call(node.func, node.args[1:], []))
            if len(node.args) > 1
            else "it does not hold"
        )
        raise compile_error(
            CompileValueError,
            frame.at(node),
            f"cg.static_assert: {message}",
            "the kernel does not take this case",
        )


def static_print(frame: Frame, node: ast.Call) -> None:
    """Translate cg.static_print(...): print at compile time. Run-time values are printed as their types."""
    print(*(described(python_value(frame, frame.visit(each))) for each in node.args))


def described(found: Any) -> Any:
    """Return the type of a run-time value, or a compile-time value itself."""
    if isinstance(found, (ir.Value, ir.Local)):
        return found.type
    if isinstance(found, Element):
        return found.array.element
    if isinstance(found, VectorElement):
        return described(found.elements)
    if isinstance(found, Vector):
        return VectorType(described(found.leaves()[0]), found.shape)
    if isinstance(found, ir.Array):
        return f"{found.path}: {found.element}, {found.ndim - len(found.inner)} dimensions"
    return tuple(map(described, found)) if isinstance(found, tuple) else found
