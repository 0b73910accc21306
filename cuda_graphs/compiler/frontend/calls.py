# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Calls: functions of the language by name, functions that are inlined, and Python that runs when compiling.

`BUILTINS` is the table of what kernels may call; a Python function means the row that it is listed under, whatever name
the source has for it (`math.sin` and `cg.sin` are one row).
"""

from __future__ import annotations

import ast
import builtins
import inspect
import math
import string
from collections.abc import Callable
from typing import Any

from .. import intrinsics as cg
from .. import ir
from ..errors import CompileNameError, CompileSyntaxError, CompileTypeError, CompileValueError, fail
from ..ops import OPS
from ..types import ScalarType, f32, i32
from .expressions import broadcast, choose, extent, place, python_value, read
from .functions import Frame, kind_of
from .values import Bound, Element, Func, IndexRange, Static, TypeOf, Vector


def call(frame: Frame, node: ast.Call) -> Any:
    """Translate a call."""
    function = frame.visit(node.func)
    loc = frame.builder.loc
    if function is cg.static:
        return Static(static_value(frame, node))
    if function is builtins.print:
        return print_call(frame, node)
    args = [frame.visit(each) for each in node.args]
    keywords = {each.arg: frame.visit(each.value) for each in node.keywords if each.arg is not None}
    frame.builder.loc = loc
    if isinstance(function, ScalarType):
        function = TypeOf(function)
    if isinstance(function, TypeOf):
        return convert(frame, function.type, *args)
    if isinstance(function, Bound):
        return method(frame, function, args)
    if isinstance(function, Func):
        function = function.function
    inner = getattr(function, "__cuda_graphs_func__", None)
    if inner is not None:
        return frame.inline(inner, bind_arguments(frame, inner, args, keywords))
    row = BUILTINS.get(function) if callable(function) and _hashable(function) else None
    if row is None:
        raise fail(
            CompileNameError, loc, f"{ast.unparse(node.func)} cannot be called in a kernel",
            "decorate it with @cg.func to have it inlined, or call it in cg.static(...) to run it when compiling",
        )  # fmt: skip
    return row(frame, *args, **keywords)


def _hashable(function: Any) -> bool:
    return getattr(type(function), "__hash__", None) is not None


def bind_arguments(
    frame: Frame, function: Callable[..., Any], args: list[Any], keywords: dict[str, Any]
) -> dict[str, Any]:
    """Arguments of a function that is inlined, by name: numbers by value, all else as it is."""
    try:
        bound = inspect.signature(function).bind(*args, **keywords)
    except TypeError as error:
        raise fail(CompileTypeError, frame.builder.loc, f"{function.__name__}: {error}") from None
    bound.apply_defaults()
    result = {}
    for name, value in bound.arguments.items():
        kind = inspect.signature(function).parameters[name].annotation
        value = read(frame, value)
        if isinstance(value, ir.Value):
            if isinstance(kind, ScalarType):
                value = frame.builder.cast(value, kind)
            local = ir.Local(name, value.type)
            frame.builder.put(ir.Set(local, value, frame.builder.loc))
            value = local
        elif isinstance(value, Vector):
            from .statements import declare

            value = declare(frame, name, value)
        result[name] = value
    return result


def static_value(frame: Frame, node: ast.Call) -> Any:
    """The operand of `cg.static`, evaluated by Python with what is known when compiling."""
    if len(node.args) != 1 or node.keywords:
        raise fail(CompileSyntaxError, frame.builder.loc, "cg.static takes one expression")
    names: dict[str, Any] = {"range": range, "len": len, "ndrange": cg.ndrange}
    for each in ast.walk(node.args[0]):
        if isinstance(each, ast.Name) and each.id not in names:
            names[each.id] = static_name(frame, each)
    code = compile(ast.Expression(node.args[0]), frame.source.file, "eval")
    try:
        return eval(code, {**vars(builtins)}, names)
    except Exception as error:
        raise fail(
            CompileValueError, frame.builder.loc, f"cg.static: {type(error).__name__}: {error}"
        ) from error


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
    return python_value(frame, found)


def convert(frame: Frame, type: ScalarType, *args: Any) -> Any:
    """`cg.f32(x)`."""
    if len(args) != 1:
        raise fail(CompileTypeError, frame.builder.loc, f"{type} takes one value")
    return cast(frame, args[0], type)


def cast(frame: Frame, value: Any, dtype: Any) -> Any:
    value = python_value(frame, value)
    type = dtype.type if isinstance(dtype, TypeOf) else dtype
    if isinstance(value, int) and not isinstance(value, bool) and type.kind in ("int", "uint"):
        return frame.builder.const(value, type)
    if isinstance(value, (int, float)) and not isinstance(value, bool) and type.kind == "float":
        return ir.Const(float(value), type, frame.builder.loc)
    value = read(frame, value)
    if isinstance(value, Vector):
        return value.map(lambda part: frame.builder.cast(frame.scalar(part), type))
    return frame.builder.cast(frame.scalar(value), type)


def bit_cast(frame: Frame, value: Any, dtype: Any) -> ir.Value:
    return frame.builder.op(
        "bit_cast", frame.scalar(value), type=dtype.type if isinstance(dtype, TypeOf) else dtype
    )


def elementwise(name: str) -> Callable[..., Any]:
    """A row of the op table as a function of the language: promoted operands, component by component."""
    row = OPS[name]
    needs_float = row.kinds == ("float",)

    def scalar(frame: Frame, *args: ir.Value) -> ir.Value:
        builder = frame.builder
        if needs_float and all(arg.type.kind != "float" for arg in args):
            args = tuple(builder.cast(arg, f32) for arg in args)
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
                CompileTypeError,
                frame.builder.loc,
                f"{row.spelling} takes {row.arity} values, got {len(args)}",
            )
        parts = [read(frame, arg) for arg in args]
        if any(isinstance(part, Vector) for part in parts):
            return broadcast(frame, lambda *each: scalar(frame, *each), *parts)
        return scalar(frame, *(frame.scalar(part) for part in parts))

    return function


def many(name: str) -> Callable[..., Any]:
    """min and max of two or more."""
    two = elementwise(name)

    def function(frame: Frame, *args: Any) -> Any:
        if len(args) < 2:
            raise fail(CompileTypeError, frame.builder.loc, f"{name} takes two values or more")
        result = args[0]
        for each in args[1:]:
            result = two(frame, result, each)
        return result

    return function


def power(frame: Frame, a: Any, b: Any) -> Any:
    return frame.builder.power(frame.scalar(a), frame.scalar(b))


def select(frame: Frame, condition: Any, a: Any, b: Any) -> Any:
    """Both are evaluated."""
    a, b, condition = read(frame, a), read(frame, b), read(frame, condition)

    def one(decides: ir.Value, x: ir.Value, y: ir.Value) -> ir.Value:
        x, y = (x, y) if x.type == y.type else frame.builder.promoted(x, y)
        return frame.builder.op("select", frame.builder.truth(decides, "the condition"), x, y)

    if any(isinstance(each, Vector) for each in (condition, a, b)):
        return broadcast(frame, one, condition, a, b)
    return one(*(frame.scalar(each) for each in (condition, a, b)))


def range_call(frame: Frame, *args: Any) -> IndexRange:
    if not 1 <= len(args) <= 3:
        raise fail(CompileSyntaxError, frame.builder.loc, "range takes 1 to 3 numbers")
    bounds = [integer(frame, each) for each in args[:2]]
    begin, end = bounds if len(bounds) == 2 else (ir.Const(0, bounds[0].type), bounds[0])
    step = python_value(frame, args[2]) if len(args) == 3 else 1
    if not isinstance(step, int) or step == 0:
        raise fail(
            CompileValueError,
            frame.builder.loc,
            "the step of a range must be known when compiling, and not 0",
        )
    return IndexRange(((begin, end, step),))


def integer(frame: Frame, found: Any) -> ir.Value:
    value = frame.scalar(found, "a bound")
    if value.type.kind not in ("int", "uint"):
        raise fail(
            CompileTypeError,
            frame.builder.loc,
            f"a bound must be an integer, not {value.type}",
            "cg.cast(n, cg.i32)",
        )
    return value


def ndrange_call(frame: Frame, *args: Any) -> IndexRange:
    axes = []
    for each in args:
        pair = each if isinstance(each, tuple) else (0, each)
        if len(pair) != 2:
            raise fail(
                CompileSyntaxError, frame.builder.loc, "each dimension of ndrange is n or (begin, end)"
            )
        axes.append((integer(frame, pair[0]), integer(frame, pair[1]), 1))
    return IndexRange(tuple(axes))


def grouped(frame: Frame, what: Any) -> IndexRange:
    if isinstance(what, ir.Array):
        outer = what.ndim - len(what.inner)
        return IndexRange(
            tuple((ir.Const(0, i32), extent(frame, what, axis), 1) for axis in range(outer)), True
        )
    if not isinstance(what, IndexRange):
        raise fail(
            CompileTypeError,
            frame.builder.loc,
            f"cg.grouped takes cg.ndrange(...) or an array, not {kind_of(what)}",
        )
    return IndexRange(what.axes, True)


def atomic(kind: str) -> Callable[..., Any]:
    """cg.atomic_*: the place, the value (of cas: what to compare with, the value); what was there before."""

    def function(frame: Frame, target: Any, *values: Any) -> Any:
        from .statements import atomic_of

        wanted = 2 if kind == "cas" else 1
        if not isinstance(target, (Element, ir.Local)) or len(values) != wanted:
            raise fail(
                CompileSyntaxError, frame.builder.loc,
                f"cg.atomic_{kind} takes a place in memory and {wanted} value{'s' * (wanted > 1)}",
                "the first argument is what could be assigned to: x[i]",
            )  # fmt: skip
        type = target.array.element if isinstance(target, Element) else target.type
        if kind in ("and", "or", "xor", "cas") and type.kind == "float":
            raise fail(CompileTypeError, frame.builder.loc, f"cg.atomic_{kind} takes integers, not {type}")
        casted = [frame.builder.cast(frame.scalar(each), type) for each in values]
        if kind == "sub":
            return frame.builder.put(
                atomic_of("add", target, frame.builder.op("neg", casted[0]), frame.builder.loc)
            )
        compare = casted[0] if kind == "cas" else None
        return frame.builder.put(atomic_of(kind, target, casted[-1], frame.builder.loc, compare))

    return function


def random_number(frame: Frame, dtype: Any = f32) -> ir.Value:
    return frame.builder.put(ir.Random(dtype.type if isinstance(dtype, TypeOf) else dtype, frame.builder.loc))


def length(frame: Frame, what: Any) -> Any:
    if isinstance(what, Vector):
        return len(what.components)
    return len(what)


def vector(frame: Frame, *args: Any) -> Vector:
    """cg.vector(a, b, c): numbers of their common type; rows make a matrix."""
    parts = tuple(
        read(frame, each) for each in (args[0] if len(args) == 1 and isinstance(args[0], tuple) else args)
    )
    parts = tuple(vector(frame, *part) if isinstance(part, tuple) else part for part in parts)
    scalars = Vector(parts).leaves()
    wide = scalars[0]
    for each in scalars[1:]:
        wide = frame.builder.promoted(wide, each)[0]
    return Vector(parts).map(lambda part: frame.builder.cast(part, wide.type))


def loop_config(frame: Frame, block_dim: Any = None, serialize: Any = False, name: Any = None) -> None:
    frame.next_loop = ir.LoopSettings(block_dim, bool(serialize), name)


def method(frame: Frame, bound: Bound, args: list[Any]) -> Any:
    from .linear import METHODS

    if isinstance(bound.owner, ir.Array) or bound.name not in METHODS:
        raise fail(
            CompileNameError, frame.builder.loc, f"{kind_of(bound.owner)} has no method {bound.name!r}"
        )
    return METHODS[bound.name](frame, read(frame, bound.owner), *args)


def print_call(frame: Frame, node: ast.Call) -> None:
    """print(...): literals, values, and f-strings; sep and end are constants."""
    options: dict[Any, Any] = {each.arg: getattr(each.value, "value", None) for each in node.keywords}
    separator, end = options.get("sep", " "), options.get("end", "\n")
    parts: list[Any] = []
    for i, each in enumerate(node.args):
        parts.extend([separator] if i else [])
        parts.extend(message_parts(frame, each))
    frame.builder.put(ir.Print((*parts, end), frame.builder.loc))


def message_parts(frame: Frame, node: ast.expr) -> list[Any]:
    """Text with values in it."""
    if isinstance(node, ast.JoinedStr):
        return [part for each in node.values for part in message_parts(frame, each)]
    form = ""
    if isinstance(node, ast.FormattedValue):
        form = node.format_spec.values[0].value if node.format_spec else ""  # type: ignore[attr-defined]
        node = node.value
    value = read(frame, frame.visit(node))
    if isinstance(value, str):
        return [value]
    if isinstance(value, Vector):
        inner = [[(part, form)] for part in value.leaves()]
        return ["[", *(piece for i, part in enumerate(inner) for piece in ([", "] if i else []) + part), "]"]
    if any(letter not in string.digits + ".+- " for letter in form.rstrip("dfegx")):
        raise fail(CompileValueError, frame.builder.loc, f"unsupported format {form!r}")
    return [(frame.scalar(value), form)]


BUILTINS: dict[Any, Callable[..., Any]] = {
    range: range_call,
    cg.ndrange: ndrange_call,
    cg.grouped: grouped,
    cg.cast: cast,
    cg.bit_cast: bit_cast,
    cg.select: select,
    cg.random: random_number,
    cg.vector: vector,
    cg.loop_config: loop_config,
    len: length,
    abs: elementwise("abs"),
    min: many("min"),
    max: many("max"),
    pow: power,
    math.pow: power,
    int: lambda frame, x: cast(frame, x, i32),
    float: lambda frame, x: cast(frame, x, f32),
    bool: lambda frame, x: frame.builder.truth(frame.scalar(x), "the operand of bool"),
    **{getattr(cg, f"atomic_{kind}"): atomic(kind) for kind in cg.ATOMICS},
    **{getattr(cg, name): elementwise(row) for name, row in cg.OPERATIONS.items()},
    **{getattr(math, name): elementwise(row) for name, row in cg.OPERATIONS.items() if hasattr(math, name)},
}

__all__ = ["BUILTINS", "call", "choose", "message_parts", "place"]
