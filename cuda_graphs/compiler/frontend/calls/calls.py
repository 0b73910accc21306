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
from functools import partial
from itertools import chain
from typing import Any

from cuda_graphs.compiler.errors import (
    CompileArgumentError,
    CompileError,
    CompileSyntaxError,
    CompileTypeError,
    compile_error,
)
from cuda_graphs.compiler.frontend.expressions.array_parts import shape_of_part
from cuda_graphs.compiler.frontend.expressions.construction import make_vector
from cuda_graphs.compiler.frontend.expressions.expressions import parts_of
from cuda_graphs.compiler.frontend.expressions.linear import FUNCTIONS
from cuda_graphs.compiler.frontend.expressions.lvalues import field_or_value
from cuda_graphs.compiler.frontend.expressions.operators import special_method
from cuda_graphs.compiler.frontend.expressions.struct_elements import arrays_in, extents_of, is_array
from cuda_graphs.compiler.frontend.frame.frame import Frame
from cuda_graphs.compiler.frontend.frame.values import (
    ArrayPart,
    Bound,
    BoundFunction,
    HostMember,
    ListName,
    LocalFunction,
    Static,
    TypeOf,
    Vector,
    VectorElement,
    describe,
)
from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.ir.types import PYTHON, ScalarType, f32, i32
from cuda_graphs.compiler.language import intrinsics as cg
from cuda_graphs.compiler.language import library
from cuda_graphs.compiler.language.annotations import OwnMethod, VectorType, mat, vec
from cuda_graphs.compiler.language.signature import is_template, resolve
from cuda_graphs.compiler.language.structs import is_struct, normal_annotation

from .atomics import atomic
from .block_operations import BLOCK_OPERATIONS, blocks_call
from .conversions import (
    bit_cast,
    cast,
    conversion,
    convert,
    converts,
    is_hashable,
    is_literal,
)
from .declared import make_struct
from .decompositions import DECOMPOSITIONS
from .elementwise import elementwise, power, rounding, select, variadic
from .fences import fence
from .float_parts import FLOAT_PARTS
from .host_calls import host_call
from .inlining import inline, inline_local
from .lists import list_method
from .messages import print_call
from .python_calls import called, run_python, runs_in_kernel
from .random import random_integer, random_normal, random_number
from .ranges import grouped, loop_config, ndrange_call, range_call
from .sequences import SEQUENCES, dict_method
from .set_condition import keep_condition, set_condition
from .statement_words import WORDS, in_expression
from .static import static_assert, static_print, static_value
from .structs import structure
from .vectors import matrix, method, vector, vector_type


def call(frame: Frame, node: ast.Call) -> Any:
    """Translate a call.

    Inlined functions call this function at each level, so further functions between the levels would make the stack of
    Python too deep for functions that may be inlined in one another.
    """
    function = frame.visit(node.func)
    function = function.value if isinstance(function, Static) else function
    # Another name of a function of the language has the function as an attribute.
    function = getattr(function, "__cuda_graphs_word__", function)
    loc = frame.builder.loc
    if is_hashable(function) and function in SPECIAL:
        for each in node.keywords:
            if each.arg is None:
                raise frame.refuse(each)
        return SPECIAL[function](frame, node)
    is_exact = converts(function) or is_struct(function) or (is_hashable(function) and function in ON_NUMBERS)
    visit = frame.visit_number if is_exact else frame.visit
    args, keywords = arguments(frame, node, visit, is_exact or takes_values(frame, function))
    frame.builder.loc = loc
    match function:
        case ScalarType():
            return convert(frame, function, *args, literal=is_literal(node))
        case TypeOf():
            return convert(frame, function.type, *args, literal=is_literal(node))
        case VectorType():
            return make_vector(frame, normal_annotation(function, frame.rules), *args)
        case _ if is_struct(function):
            return make_struct(frame, function, args, keywords)
        case Bound(owner=dict()):
            return dict_method(frame, function, args, keywords)
        case Bound(owner=ListName()):
            return list_method(frame, function, args, keywords)
        case Bound():
            return method(frame, function, args, keywords)
        case HostMember():
            return host_call(frame, node, function, args, keywords)
    row = BUILTINS.get(function) if callable(function) and is_hashable(function) else None
    inner: Any = None if row else getattr(function, "__cuda_graphs_func__", None)
    if isinstance(function, OwnMethod):  # a method of the same object as the kernel
        scope = frame.root.scope.find("self")
        assert scope is not None
        function = BoundFunction(function.function, scope.names["self"])
    function = special_method(function, "__call__") or function
    if isinstance(function, BoundFunction):
        return inline(frame, function.function, [function.owner, *args], keywords, is_method=True)
    if isinstance(function, LocalFunction):
        return inline_local(frame, function, args, keywords)
    if inner is None and row is None and runs_in_kernel(frame, function, args, keywords):
        function, args, keywords = called(function, args, keywords)
        inner = getattr(function, "__func__", function)
    if inner is not None and isinstance(function, types.MethodType):
        args.insert(0, function.__self__)  # an object from outside, known at compile time
    if inner is not None:
        return inline(frame, inner, args, keywords)
    refuse_host_functions(frame, node, function)
    if row is None:
        return run_python(frame, ast.unparse(node.func), function, args, keywords)
    return row_call(frame, node, row, args, keywords)


def refuse_host_functions(frame: Frame, node: ast.Call, function: Any) -> None:
    """Raise for kernels, and for methods of objects that add nodes but are no parameters."""
    if hasattr(function, "__cuda_graph_check__"):
        raise compile_error(
            CompileSyntaxError, frame.builder.loc,
            f"{ast.unparse(node.func)} belongs to an object from outside of the kernel",
            "pass the object as a parameter, whose annotation is its class, as in comm: cg.distributed.Communicator",
        )  # fmt: skip
    if hasattr(function, "__cuda_graph_emit__"):
        raise compile_error(
            CompileSyntaxError, frame.builder.loc, f"the kernel {ast.unparse(node.func)} is called in a kernel",
            "make what both need a @cg.func and call that",
        )  # fmt: skip


def row_call(
    frame: Frame, node: ast.Call, row: Callable[..., Any], args: list[Any], keywords: dict[str, Any]
) -> Any:
    """Translate the call of a function of the language."""
    frame.is_lone = frame.lone_call is node
    try:
        inspect.signature(row).bind(frame, *args, **keywords)
    except TypeError as error:
        raise compile_error(
            CompileArgumentError,
            frame.builder.loc,
            f"{ast.unparse(node.func)}: {error}",
            "see the language reference for its arguments",
        ) from None
    return row(frame, *args, **keywords)


def takes_values(frame: Frame, function: Any) -> bool:
    """Return whether a function of the program takes the values of variables.

    One with a template parameter may get the variable itself, and change it.
    """
    if isinstance(function, LocalFunction):
        around, signature = function.source.function, function.signature
    else:
        around = function.function if isinstance(function, BoundFunction) else function
        around = getattr(around, "__cuda_graphs_func__", around)
        if not isinstance(around, types.FunctionType) or around in BUILTINS:
            return False
        signature = inspect.signature(around)
    try:
        kinds = [resolve(each.annotation, around, frame.rules) for each in signature.parameters.values()]
    except CompileError:
        return False  # a function that runs when compiling, or one that raises this error itself
    return not any(map(is_template, kinds))


def arguments(
    frame: Frame, node: ast.Call, visit: Callable[[ast.expr], Any], by_value: bool
) -> tuple[list[Any], dict[str, Any]]:
    """Return the arguments of a call, with the parts of `*args` and `**kwargs`.

    Args:
        by_value: The function does not need the places of arguments.
    """
    nodes, visit = [*node.args, *(each.value for each in node.keywords)], partial(parts_of, frame, visit)
    parts = frame.in_order(nodes, visit) if by_value else list(map(visit, nodes))
    args = list(chain.from_iterable(parts[: len(node.args)]))
    keywords: dict[str, Any] = {}
    for keyword, (found,) in zip(node.keywords, parts[len(node.args) :], strict=True):
        named = {keyword.arg: found} if keyword.arg is not None else found
        if not isinstance(named, dict) or not all(isinstance(key, str) for key in named):
            raise compile_error(
                CompileTypeError, frame.builder.loc, f"** takes a dict of names, not {describe(named)}",
                "write each argument with its name",
            )  # fmt: skip
        for name in named.keys() & keywords.keys():
            raise compile_error(
                CompileArgumentError, frame.builder.loc, f"{ast.unparse(node.func)}: two values for {name!r}",
                "give one of them",
            )  # fmt: skip
        keywords |= named
    return args, keywords


def library_function(function: Any) -> Callable[..., Any]:
    """Return the translation of a function of the library under another name."""
    inner = function.__cuda_graphs_func__
    return lambda frame, x: inline(frame, inner, [x], {})


def stop_grad(frame: Frame, x: Any) -> Any:
    """Return a number as a constant to gradients. Mark an array as such a constant for the rest of the block."""
    if is_array(x):
        frame.scope.stopped.update(arrays_in(x))
        return None
    found = frame.read(x)
    one = frame.builder.op
    if isinstance(found, Vector):
        return found.map(lambda part: one("stop_grad", part) if part.type.kind == "float" else part)
    value = frame.scalar(found)
    return one("stop_grad", value) if value.type.kind == "float" else value


def constant_like(number: int) -> Callable[..., Any]:
    """Return the translation of cg.zero or cg.one."""

    def like(frame: Frame, part: Any) -> ir.Value:
        value = frame.scalar(part)
        return frame.builder.cast(ir.Const(number, i32), value.type)

    def function(frame: Frame, x: Any) -> Any:
        found = frame.read(x)
        return found.map(lambda part: like(frame, part)) if isinstance(found, Vector) else like(frame, found)

    return function


def length(frame: Frame, what: Any) -> Any:
    if is_array(what):
        extents = extents_of(frame, what)
        if not extents:
            raise compile_error(
                CompileTypeError,
                frame.builder.loc,
                f"{describe(what)} has no dimensions, and so no length",
                "read its element with x[()]",
            )
        return extents[0]
    if isinstance(what, ArrayPart):
        return shape_of_part(frame, what)[0]
    if isinstance(what, (Vector, VectorElement)):
        return len((what.elements if isinstance(what, VectorElement) else what).components)
    method = special_method(what, "__len__")
    if method is not None:
        return frame.syntax.call(frame, method, [])
    if not isinstance(what, (tuple, list, dict, str)):
        raise compile_error(
            CompileTypeError,
            frame.builder.loc,
            f"{describe(what)} has no length",
            "arrays, vectors, tuples, lists and strings have one",
        )
    return len(what)


def absolute(frame: Frame, x: Any) -> Any:
    """Return the absolute value, of a structure by its __abs__."""
    method = special_method(x, "__abs__")
    return ABSOLUTE(frame, x) if method is None else frame.syntax.call(frame, method, [])


ABSOLUTE = elementwise("abs")
# Functions that get their call as a syntax tree, with untranslated arguments.
SPECIAL: dict[Any, Callable[..., Any]] = {
    cg.static: lambda frame, node: Static(field_or_value(frame, static_value(frame, node))),
    cg.static_assert: static_assert,
    cg.static_print: static_print,
    builtins.print: print_call,
    **dict.fromkeys(WORDS, in_expression),
}

# Functions of numbers, by the row of the op table.
ON_NUMBERS: dict[Any, Callable[..., Any]] = {
    abs: absolute,
    min: variadic("min"),
    max: variadic("max"),
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
}

BUILTINS: dict[Any, Callable[..., Any]] = {
    **ON_NUMBERS,
    range: range_call,
    cg.ndrange: ndrange_call,
    cg.grouped: grouped,
    cg.cast: cast,
    cg.bit_cast: bit_cast,
    cg.select: select,
    cg.stop_grad: stop_grad,
    cg.random: random_number,
    cg.random_normal: random_normal,
    cg.random_integer: random_integer,
    cg.vector: vector,
    cg.zero: constant_like(0),
    cg.one: constant_like(1),
    vec: lambda frame, n, dtype=f32: vector_type(frame, vec, n, dtype=dtype),
    mat: matrix,
    cg.loop_config: loop_config,
    cg.set_condition: set_condition,
    cg.keep_condition: keep_condition,
    cg.blocks: blocks_call,
    cg.fence: fence,
    types.SimpleNamespace: structure,
    **BLOCK_OPERATIONS,
    **DECOMPOSITIONS,
    **FLOAT_PARTS,
    **SEQUENCES,
    len: length,
    pow: power,
    math.pow: power,
    **{python: conversion(python) for python in PYTHON},
    **{function: FUNCTIONS[function.__name__] for function in cg.VECTORS},
    **{function: atomic(kind) for function, kind in cg.ATOMICS.items()},
    math.degrees: library_function(library.degrees),
    math.radians: library_function(library.radians),
}

__all__ = ["BUILTINS", "call"]
