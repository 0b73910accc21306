# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Calls: functions of the language, inlined functions, and Python functions that run at compile time.

`BUILTINS` is the table of functions that kernels may call. The function object selects the row, whatever its name in
the source: `math.sin` and `cg.sin` are one row.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import math
import types
from collections.abc import Callable
from typing import Any

from cuda_graphs.compiler.errors import (
    CompileArgumentError,
    CompileError,
    CompileLiteralError,
    CompileSyntaxError,
    CompileTypeError,
    fail,
)
from cuda_graphs.compiler.frontend.arguments import bind_arguments
from cuda_graphs.compiler.frontend.functions import Frame, kind_of
from cuda_graphs.compiler.frontend.statements import graph_flow, with_blocks
from cuda_graphs.compiler.frontend.statements.blocks import FUNCTIONS as BLOCKS
from cuda_graphs.compiler.frontend.statements.blocks import blocks_call
from cuda_graphs.compiler.frontend.statements.loops import grouped, loop_config, ndrange_call, range_call
from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.ir.builder import spelled
from cuda_graphs.compiler.ir.ops import OPS
from cuda_graphs.compiler.ir.scalars import scalar as constant
from cuda_graphs.compiler.ir.types import PYTHON, ScalarType, f32, f64, i32
from cuda_graphs.compiler.language import intrinsics as cg
from cuda_graphs.compiler.language import library
from cuda_graphs.compiler.language.annotations import OwnMethod, VectorType, mat, vec

from .atomics import atomic
from .linear import FUNCTIONS
from .lvalues import broadcast, extent, field_or_value, make_vector, python_value, read
from .messages import print_call
from .static import run_python, static_assert, static_print, static_value
from .values import Bound, BoundFunction, Computed, Static, TypeOf, Vector, VectorElement


def call(frame: Frame, node: ast.Call) -> Any:
    """Translate a call."""
    function = frame.visit(node.func)
    function = function.value if isinstance(function, Static) else function
    loc = frame.builder.loc
    for each in node.keywords:
        if each.arg is None:
            raise frame.refuse(each)
    if _hashable(function) and function in SPECIAL:
        return SPECIAL[function](frame, node)
    visit = frame.visit_number if converts(function) else frame.visit
    args = [visit(each) for each in node.args]
    keywords = {str(each.arg): frame.visit(each.value) for each in node.keywords}
    frame.builder.loc = loc
    if isinstance(function, ScalarType):
        function = TypeOf(function)
    if isinstance(function, TypeOf):
        return convert(frame, function.type, *args, literal=is_literal(node))
    if isinstance(function, VectorType):
        return make_vector(frame, function, *args)
    if isinstance(function, Bound):
        return method(frame, function, args)
    inner: Any = getattr(function, "__cuda_graphs_func__", None)
    if isinstance(function, OwnMethod):  # a method of the same object as the kernel
        scope = frame.root.scope.find("self")
        assert scope is not None
        function = BoundFunction(function.function, scope.names["self"])
    if isinstance(function, BoundFunction):
        args.insert(0, function.owner)
        inner = function.function
    elif inner is not None and isinstance(function, types.MethodType):
        args.insert(0, function.__self__)  # an object from outside, known at compile time
    if inner is not None:
        return frame.inline(inner, bind_arguments(frame, inner, args, keywords))
    row = BUILTINS.get(function) if callable(function) and _hashable(function) else None
    if hasattr(function, "__cuda_graph_emit__"):
        raise fail(
            CompileSyntaxError, loc, f"the kernel {ast.unparse(node.func)} is called in a kernel",
            "make what both need a @cg.func and call that",
        )  # fmt: skip
    if row is None:
        return run_python(frame, ast.unparse(node.func), function, args, keywords)
    try:
        inspect.signature(row).bind(frame, *args, **keywords)
    except TypeError as error:
        raise fail(
            CompileArgumentError,
            loc,
            f"{ast.unparse(node.func)}: {error}",
            "see the language reference for its arguments",
        ) from None
    return row(frame, *args, **keywords)


def converts(function: Any) -> bool:
    """Returns True for a type or cg.cast, whose calls take exact results of arithmetic."""
    return isinstance(function, (ScalarType, TypeOf)) or (
        _hashable(function) and (function is cg.cast or function in PYTHON)
    )


def library_function(function: Any) -> Callable[..., Any]:
    """Return the translation of a function of the library under another name."""
    inner = function.__cuda_graphs_func__
    return lambda frame, x: frame.inline(inner, bind_arguments(frame, inner, [x], {}))


def is_literal(node: ast.Call) -> bool:
    """Return whether the only argument is a number of the source."""
    found = node.args[0] if len(node.args) == 1 else node
    found = found.operand if isinstance(found, ast.UnaryOp) else found
    return isinstance(found, ast.Constant)


def _hashable(function: Any) -> bool:
    try:
        hash(function)
    except TypeError:  # the value or a part of it
        return False
    return True


def convert(frame: Frame, type: ScalarType, *args: Any, literal: bool = False) -> Any:
    """Return the value of `cg.f32(x)`. A literal must be of the type's kind: `cg.i32(2.5)` is probably a mistake."""
    if len(args) != 1:
        raise fail(
            CompileArgumentError, frame.builder.loc, f"{type} takes one value, not {len(args)}", "cg.f32(x)"
        )
    kinds = {int: ("int", "uint"), float: ("float",)}.get(args[0].__class__, ())
    if literal and kinds and type.kind not in kinds:
        raise fail(
            CompileLiteralError, frame.builder.loc, f"{args[0]!r} is not a literal of {type}",
            f"write {float(args[0])}" if type.kind == "float" else f"write {int(args[0])}, or cg.cast(...)",
        )  # fmt: skip
    value = known_value(frame, args[0])
    if isinstance(value, int) and not isinstance(value, bool) and type.kind in ("int", "uint"):
        return frame.builder.const(value, type)  # raises if the type cannot hold it
    return cast(frame, value, type)


def cast(frame: Frame, value: Any, dtype: Any) -> Any:
    type = scalar_type(frame, dtype)
    if isinstance(value, ir.Const):
        return frame.builder.cast(value, type)
    value = known_value(frame, value)
    if isinstance(value, (int, float)) and type.kind == "bool":
        return ir.Const(value != 0, type, frame.builder.loc)
    if isinstance(value, int) and not isinstance(value, bool) and type.kind in ("int", "uint"):
        wrapped = (value - type.minimum) % (1 << type.bits) + type.minimum
        return ir.Const(wrapped, type, frame.builder.loc)
    if isinstance(value, (int, float)) and not isinstance(value, bool) and type.kind == "float":
        return ir.Const(rounded(frame, value, type), type, frame.builder.loc)
    value = read(frame, value)
    if isinstance(value, Vector):
        return value.map(lambda part: frame.builder.cast(frame.scalar(part), type))
    return frame.builder.cast(frame.scalar(value), type)


def rounded(frame: Frame, value: float, type: ScalarType) -> Any:
    """Return the nearest number of a float type."""
    try:
        return constant(value, type).item()
    except OverflowError:
        raise fail(
            CompileLiteralError,
            frame.builder.loc,
            f"{spelled(value)} is not a value of {type}",
            "write cg.inf",
        ) from None


def known_value(frame: Frame, found: Any) -> Any:
    """Return a compile-time number as Python's number. For a Computed it is the exact one."""
    return found.exact if isinstance(found, Computed) else python_value(frame, found)


def conversion(type: ScalarType) -> Callable[..., Any]:
    """Return the translation of a call of a type of Python or NumPy."""
    return lambda frame, x: convert(frame, type, x)


def scalar_type(frame: Frame, dtype: Any) -> ScalarType:
    """Return the scalar type that an argument names."""
    found = (
        dtype.type
        if isinstance(dtype, TypeOf)
        else PYTHON.get(dtype, dtype)
        if isinstance(dtype, type)
        else dtype
    )
    if not isinstance(found, ScalarType):
        raise fail(
            CompileTypeError,
            frame.builder.loc,
            f"{kind_of(dtype)} is not a scalar type",
            "cg.f32, cg.i32, ...",
        )
    return found


def bit_cast(frame: Frame, value: Any, dtype: Any) -> ir.Value:
    return frame.builder.op("bit_cast", frame.scalar(value), type=scalar_type(frame, dtype))


def elementwise(name: str) -> Callable[..., Any]:
    """Return the translation of a row of the op table: operands are promoted, vectors handled by component."""
    row = OPS[name]
    needs_float = row.kinds == ("float",)

    def scalar(frame: Frame, *args: ir.Value) -> ir.Value:
        builder = frame.builder
        if name in REAL and any(arg.type.kind != "float" for arg in args):
            types = ", ".join(repr(arg.type) for arg in args)
            raise fail(
                CompileTypeError,
                builder.loc,
                f"{row.spelling} takes real numbers, not {types}",
                "cg.cast(x, cg.f32)",
            )
        if needs_float and all(arg.type.kind != "float" for arg in args):
            args = tuple(builder.cast(arg, f32) for arg in args)
        if name == "atan2":
            real = f64 if f64 in [arg.type for arg in args] else f32
            args = tuple(builder.cast(arg, real) for arg in args)
        if name == "shift_right_logical":
            return builder.shift(name, "RShift", *args)
        if len(args) == 2:
            args = builder.promoted(*args)
        elif len(args) == 3:
            wide = builder.promoted(*builder.promoted(args[0], args[1]))[0]
            wide = builder.promoted(wide, args[2])[0]
            args = tuple(builder.cast(arg, wide.type) for arg in args)
        elif not needs_float and args[0].type.kind == "bool":
            args = (builder.cast(args[0], i32),)
        return builder.op(name, *args)

    def function(frame: Frame, *args: Any) -> Any:
        if len(args) != row.arity:
            raise fail(
                CompileArgumentError,
                frame.builder.loc,
                f"{row.spelling} takes {row.arity} values, got {len(args)}",
                "see its row in the language reference",
            )
        parts = [read(frame, arg) for arg in args]
        if any(isinstance(part, Vector) for part in parts):
            return broadcast(frame, lambda *each: scalar(frame, *each), *parts)
        return scalar(frame, *(frame.scalar(part) for part in parts))

    return function


# Functions that refuse integers, as those are probably mistakes. sqrt, exp and log accept integers.
REAL = {
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "sinh",
    "cosh",
    "tanh",
    "floor",
    "ceil",
    "round",
    "trunc",
}


def rounding(name: str) -> Callable[..., Any]:
    """Return the translation of floor(x) and of floor(x, dtype), which converts."""
    one = elementwise(name)

    def function(frame: Frame, x: Any, dtype: Any = None) -> Any:
        found = one(frame, x)
        return found if dtype is None else cast(frame, found, dtype)

    return function


def many(name: str) -> Callable[..., Any]:
    """Return the translation of min and max of two or more operands."""
    two = elementwise(name)

    def function(frame: Frame, *args: Any) -> Any:
        if len(args) < 2:
            raise fail(
                CompileArgumentError,
                frame.builder.loc,
                f"{name} takes two values or more",
                "for a vector, write v.max() or v.min()",
            )
        result = args[0]
        for each in args[1:]:
            result = two(frame, result, each)
        return result

    return function


def power(frame: Frame, a: Any, b: Any) -> Any:
    from .expressions import arithmetic

    return arithmetic(frame, "Pow", a, b)


def select(frame: Frame, condition: Any, a: Any, b: Any) -> Any:
    """Return the translation of cg.select. Both operands are evaluated."""
    a, b, condition = read(frame, a), read(frame, b), read(frame, condition)

    def one(decides: ir.Value, x: ir.Value, y: ir.Value) -> ir.Value:
        x, y = (x, y) if x.type == y.type else frame.builder.promoted(x, y)
        return frame.builder.op("select", frame.builder.truth(decides, "the condition"), x, y)

    if any(isinstance(each, Vector) for each in (condition, a, b)):
        return broadcast(frame, one, condition, a, b)
    return one(*(frame.scalar(each) for each in (condition, a, b)))


def stop_grad(frame: Frame, x: Any) -> Any:
    """Return a number as a constant to gradients. Mark an array as such a constant for the rest of the block."""
    if isinstance(x, ir.Array):
        frame.scope.stopped.add(x)
        return None
    found = read(frame, x)
    one = frame.builder.op
    if isinstance(found, Vector):
        return found.map(lambda part: one("stop_grad", part) if part.type.kind == "float" else part)
    value = frame.scalar(found)
    return one("stop_grad", value) if value.type.kind == "float" else value


def random_number(frame: Frame, dtype: Any = f32) -> ir.Value:
    return frame.builder.put(ir.Random(scalar_type(frame, dtype), frame.builder.loc))


def length(frame: Frame, what: Any) -> Any:
    if isinstance(what, ir.Array):
        if what.ndim == len(what.inner):
            raise fail(
                CompileTypeError,
                frame.builder.loc,
                f"{kind_of(what)} has no dimensions, and so no length",
                "read its element with x[()]",
            )
        return extent(frame, what, 0)
    if isinstance(what, (Vector, VectorElement)):
        return len((what.places if isinstance(what, VectorElement) else what).components)
    if not isinstance(what, (tuple, list, dict, str)):
        raise fail(
            CompileTypeError,
            frame.builder.loc,
            f"{kind_of(what)} has no length",
            "arrays, vectors, tuples, lists and strings have one",
        )
    return len(what)


def vector(frame: Frame, *args: Any) -> Vector:
    """Return the vector of cg.vector(a, b, c), with the numbers' common type. Rows make a matrix."""
    return make_vector(frame, None, args[0] if len(args) == 1 else args)


def matrix(frame: Frame, rows: Any, columns: Any = None, dtype: Any = f32) -> Vector | VectorType:
    """Return the type for cg.mat(rows, columns, dtype), or the matrix for cg.mat([[a, b], [c, d]])."""
    if columns is None:
        found = make_vector(frame, None, rows)
        if len(found.shape) != 2:
            raise fail(
                CompileTypeError,
                frame.builder.loc,
                f"{kind_of(rows)} has no rows",
                "cg.mat([[a, b], [c, d]])",
            )
        return found
    return vector_type(frame, mat, rows, columns, dtype=dtype)


def vector_type(frame: Frame, make: Callable[..., VectorType], *extents: Any, dtype: Any) -> VectorType:
    """Return the type of cg.types.vec(n, dtype) or cg.types.mat(rows, columns, dtype) in a kernel."""
    try:
        return make(*(python_value(frame, each) for each in extents), scalar_type(frame, dtype))
    except (TypeError, ValueError) as error:
        if isinstance(error, CompileError):
            raise
        raise fail(CompileTypeError, frame.builder.loc, str(error), "cg.types.vec(3, cg.f32)") from None


def method(frame: Frame, bound: Bound, args: list[Any]) -> Any:
    from .linear import METHODS

    return METHODS[bound.name](frame, read(frame, bound.owner), *args)


# Functions that get their call as a syntax tree, with untranslated arguments.
SPECIAL: dict[Any, Callable[..., Any]] = {
    cg.static: lambda frame, node: Static(field_or_value(frame, static_value(frame, node))),
    cg.static_assert: static_assert,
    cg.static_print: static_print,
    builtins.print: print_call,
    **dict.fromkeys(graph_flow.STATEMENTS, graph_flow.expression),
    **dict.fromkeys(with_blocks.WORDS, with_blocks.expression),
}

BUILTINS: dict[Any, Callable[..., Any]] = {
    range: range_call,
    cg.ndrange: ndrange_call,
    cg.grouped: grouped,
    cg.cast: cast,
    cg.bit_cast: bit_cast,
    cg.select: select,
    cg.stop_grad: stop_grad,
    cg.random: random_number,
    cg.vector: vector,
    vec: lambda frame, n, dtype=f32: vector_type(frame, vec, n, dtype=dtype),
    mat: matrix,
    cg.loop_config: loop_config,
    cg.blocks: blocks_call,
    **BLOCKS,
    len: length,
    abs: elementwise("abs"),
    min: many("min"),
    max: many("max"),
    pow: power,
    math.pow: power,
    **{python: conversion(type) for python, type in PYTHON.items()},
    **{function: FUNCTIONS[function.__name__] for function in cg.VECTORS},
    **{function: atomic(kind) for function, kind in cg.ATOMICS.items()},
    **{function: elementwise(row) for function, row in cg.OPERATIONS.items()},
    **{
        getattr(math, f.__name__): elementwise(r)
        for f, r in cg.OPERATIONS.items()
        if hasattr(math, f.__name__)
    },
    **{function: rounding("floor") for function in (cg.floor, math.floor)},
    **{function: rounding("ceil") for function in (cg.ceil, math.ceil)},
    **{function: rounding("trunc") for function in (cg.trunc, math.trunc)},
    **{function: rounding("round") for function in (cg.round, builtins.round)},
    math.fabs: elementwise("abs"),
    math.degrees: library_function(library.degrees),
    math.radians: library_function(library.radians),
}

__all__ = ["BUILTINS", "call"]
