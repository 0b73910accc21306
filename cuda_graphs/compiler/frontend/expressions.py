# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Expressions of the language. One function a construct; the table at the end says which."""

from __future__ import annotations

import ast
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from .. import ir
from ..builder import SYMBOLS
from ..errors import (
    CompileIndexError,
    CompileNameError,
    CompileSyntaxError,
    CompileTypeError,
    CompileValueError,
    fail,
)
from ..types import ScalarType, bool_, i32
from .functions import Frame, kind_of
from .values import Bound, Element, Static, Struct, Vector, VectorElement

NUMBERS = (bool, int, float, np.bool_, np.integer, np.floating)


def read(frame: Frame, found: Any) -> Any:
    """What a place or a number is now: scalars become Values, places are loaded, all else stays."""
    builder = frame.builder
    match found:
        case ir.Local():
            return builder.put(ir.Get(found, builder.loc))
        case ir.Value():
            return found
        case Element():
            return builder.put(ir.Load(found.array, found.index, builder.loc))
        case VectorElement():
            return found.places.map(lambda part: read(frame, part))
        case Vector():
            return found.map(lambda part: read(frame, part))
    return builder.literal(found) if isinstance(found, NUMBERS) else found  # type: ignore[arg-type]


def place(frame: Frame, node: ast.expr) -> Any:
    """Where a target is: a Local, an Element, or a Vector of such."""
    frame.at(node)
    if isinstance(node, ast.Name):
        scope = frame.scope.find(node.id)
        if scope is None:
            raise fail(
                CompileNameError,
                frame.builder.loc,
                f"name {node.id!r} is not defined here",
                "assign it first",
            )
        found = scope.names[node.id]
        if node.id in frame.parameters and not isinstance(found, ir.Local):
            raise fail(
                CompileSyntaxError, frame.builder.loc, f"{node.id!r} is a parameter of the kernel, which is immutable",
                f"assign to a new name: {node.id}_ = ...",
            )  # fmt: skip
    else:
        found = frame.visit(node)
    if isinstance(found, VectorElement):
        return found.places
    if isinstance(found, ir.LoopIndex):
        raise fail(
            CompileSyntaxError, frame.builder.loc, f"{found.name!r} is a loop variable, which is immutable"
        )
    if not isinstance(found, (ir.Local, Element, Vector)):
        raise fail(CompileSyntaxError, frame.builder.loc, f"cannot assign to {kind_of(found)}")
    return found


def assign_place(frame: Frame, target: Any, value: Any) -> None:
    """Write a value, cast to the type of the place."""
    builder = frame.builder
    if isinstance(target, VectorElement):
        target = target.places
    if isinstance(target, Vector):
        target.map(lambda part, each: assign_place(frame, part, each), read(frame, value))
    elif isinstance(target, ir.Local):
        builder.put(ir.Set(target, builder.cast(frame.scalar(value), target.type), builder.loc))
    elif isinstance(target, Element):
        stored = builder.cast(frame.scalar(value), target.array.element)
        builder.put(ir.Store(target.array, target.index, stored, builder.loc))
    else:
        raise fail(CompileSyntaxError, builder.loc, f"cannot assign to {kind_of(target)}")


def name(frame: Frame, node: ast.Name) -> Any:
    scope = frame.scope.find(node.id)
    if scope is not None:
        return scope.names[node.id]
    return frame.source.lookup(node.id, frame.builder.loc)  # type: ignore[arg-type]


def constant(frame: Frame, node: ast.Constant) -> Any:
    return node.value


def attribute(frame: Frame, node: ast.Attribute) -> Any:
    owner = frame.visit(node.value)
    if isinstance(owner, Struct):
        if node.attr not in owner.members:
            raise fail(
                CompileNameError, frame.builder.loc, f"{owner.cls.__name__} has no member {node.attr!r}",
                f"it has {', '.join(owner.members)}",
            )  # fmt: skip
        return owner.members[node.attr]
    if isinstance(owner, ir.Array):
        if node.attr == "shape":
            outer = owner.ndim - len(owner.inner)
            return tuple(extent(frame, owner, axis) for axis in range(outer))
        if node.attr == "dtype":
            return owner.element
    if isinstance(owner, (Vector, VectorElement, ir.Array)):
        return Bound(owner, node.attr)
    if isinstance(owner, ir.Value):
        raise fail(CompileNameError, frame.builder.loc, f"a number has no member {node.attr!r}")
    try:
        found = getattr(owner, node.attr)
    except AttributeError:
        raise fail(
            CompileNameError, frame.builder.loc, f"{kind_of(owner)} has no member {node.attr!r}"
        ) from None
    if isinstance(owner, ModuleType) or not isinstance(found, NUMBERS):
        return found
    frame.source.captured[ast.unparse(node)] = found
    return found


def extent(frame: Frame, array: ir.Array, axis: int) -> ir.Value:
    if array.shape is not None:
        return ir.Const(array.shape[axis], i32, frame.builder.loc)
    return frame.builder.put(ir.Extent(array, axis, loc=frame.builder.loc))


def subscript(frame: Frame, node: ast.Subscript) -> Any:
    owner = frame.visit(node.value)
    if isinstance(node.slice, ast.Tuple):
        index = tuple(frame.visit(each) for each in node.slice.elts)
    else:
        found = frame.visit(node.slice)
        index = found if isinstance(found, tuple) else () if found is None else (found,)
    if isinstance(owner, ir.Array):
        return element(frame, owner, index)
    if isinstance(owner, VectorElement):
        owner = owner.places
    if isinstance(owner, Vector):
        return component(frame, owner, index)
    if isinstance(owner, (tuple, list, dict, str)) and len(index) == 1:
        return owner[python_value(frame, index[0])]
    raise fail(CompileTypeError, frame.builder.loc, f"{kind_of(owner)} cannot be indexed")


def element(frame: Frame, array: ir.Array, index: tuple[Any, ...]) -> Any:
    """An element of an array; of an array of vectors all its components, or one where they are indexed too."""
    flat: list[Any] = []
    for each in index:
        each = read(frame, each)
        flat.extend(each.components if isinstance(each, Vector) else [each])
    outer = array.ndim - len(array.inner)
    if len(flat) != outer:
        raise fail(
            CompileIndexError, frame.builder.loc,
            f"{array.path!r} has {outer} dimension{'s' * (outer != 1)} and {len(flat)} were indexed",
            "give one index for each dimension" if outer else "x[()] is the element of an array without dimensions",
        )  # fmt: skip
    places = tuple(integer_index(frame, array, axis, each) for axis, each in enumerate(flat))
    if not array.inner:
        return Element(array, places)
    return VectorElement(components(array, places, array.inner))


def components(array: ir.Array, index: tuple[ir.Value, ...], inner: tuple[int, ...]) -> Vector:
    parts = [(*index, ir.Const(i, i32)) for i in range(inner[0])]
    return Vector(
        tuple(components(array, part, inner[1:]) if inner[1:] else Element(array, part) for part in parts)
    )


def integer_index(frame: Frame, array: ir.Array, axis: int, index: Any) -> ir.Value:
    value = frame.scalar(index, "an index")
    if value.type.kind not in ("int", "uint"):
        raise fail(
            CompileTypeError,
            frame.builder.loc,
            f"an index must be an integer, not {value.type}",
            "cg.cast(i, cg.i32)",
        )
    if isinstance(value, ir.Const):
        limit = None if array.shape is None else array.shape[axis]
        if value.value < 0 or (limit is not None and value.value >= limit):
            raise fail(
                CompileIndexError, frame.builder.loc, f"index {value.value} is outside of {array.path!r}",
                f"write {array.path}.shape[{axis}] - {-value.value}" if value.value < 0 else "",
            )  # fmt: skip
    return value


def component(frame: Frame, vector: Vector, index: tuple[Any, ...]) -> Any:
    found: Any = vector
    for each in index:
        if not isinstance(found, Vector):
            raise fail(CompileIndexError, frame.builder.loc, "too many indices for a vector")
        i = python_value(frame, each)
        if not isinstance(i, int) or not 0 <= i < len(found.components):
            raise fail(
                CompileIndexError, frame.builder.loc,
                f"a vector of {len(found.components)} components is indexed with {i!r}",
                "the index of a component must be known when compiling: use a loop over cg.static(range(n))",
            )  # fmt: skip
        found = found.components[i]
    return found


def python_value(frame: Frame, found: Any) -> Any:
    """A number that is known when compiling, as Python's; all else as it is."""
    if isinstance(found, ir.Const):
        return found.value
    return int(found) if isinstance(found, np.integer) else found


def arithmetic(frame: Frame, operator: str, a: Any, b: Any) -> Any:
    """A binary operator on scalars, and component by component on vectors; `@` on matrices."""
    a, b = read(frame, a), read(frame, b)
    if operator == "MatMult":
        from .linear import matmul

        return matmul(frame, a, b)
    if isinstance(a, Vector) or isinstance(b, Vector):
        return broadcast(frame, lambda x, y: frame.builder.binary(operator, x, y), a, b)
    return frame.builder.binary(operator, *operands(frame, operator, a, b))


def broadcast(frame: Frame, function: Callable[..., Any], *args: Any) -> Vector:
    """The function of all components; scalars count for each component."""
    vectors = [arg for arg in args if isinstance(arg, Vector)]
    if any(vector.shape != vectors[0].shape for vector in vectors):
        shapes = " and ".join(str(vector.shape) for vector in vectors)
        raise fail(CompileTypeError, frame.builder.loc, f"vectors of different shapes: {shapes}")

    def apply(*parts: Any) -> Any:
        return function(*(frame.scalar(part) for part in parts))

    first = next(i for i, arg in enumerate(args) if isinstance(arg, Vector))
    rest = [arg for i, arg in enumerate(args) if i != first]
    return vectors[0].map(lambda part, *others: apply(*others[:first], part, *others[first:]), *rest)


def operands(frame: Frame, operator: str, a: Any, b: Any) -> tuple[ir.Value, ir.Value]:
    for found in (a, b):
        if not isinstance(found, ir.Value):
            raise fail(
                CompileTypeError,
                frame.builder.loc,
                f"unsupported operand for {SYMBOLS[operator]}: {kind_of(found)}",
            )
    return a, b


def binary(frame: Frame, node: ast.BinOp) -> Any:
    return arithmetic(frame, type(node.op).__name__, frame.visit(node.left), frame.visit(node.right))


def unary(frame: Frame, node: ast.UnaryOp) -> Any:
    found = frame.visit(node.operand)
    if isinstance(node.op, ast.USub) and isinstance(found, (int, float)) and not isinstance(found, bool):
        return -found  # so that -2147483648 is an i32
    value = read(frame, found)
    return (
        value.map(lambda part: unary_scalar(frame, node, part))
        if isinstance(value, Vector)
        else unary_scalar(frame, node, value)
    )


def unary_scalar(frame: Frame, node: ast.UnaryOp, found: Any) -> ir.Value:
    builder, value = frame.builder, frame.scalar(found)
    if isinstance(node.op, ast.Not):
        return builder.op("not", builder.truth(value, "the operand of not"))
    if value.type == bool_:
        value = builder.cast(value, i32)
    if isinstance(node.op, ast.UAdd):
        return value
    if isinstance(node.op, ast.Invert):
        builder.require_integers("BitXor", value)
        return builder.op("bit_not", value)
    return builder.op("neg", value)


def compare(frame: Frame, node: ast.Compare) -> Any:
    """A chain is a conjunction in which each operand is evaluated once, and later ones only where earlier ones hold."""
    operators = [type(operator).__name__ for operator in node.ops]
    if any(operator in ("Is", "IsNot", "In", "NotIn") for operator in operators):
        raise fail(CompileSyntaxError, frame.builder.loc, "`is` and `in` are for cg.static(...) only")
    left = frame.visit(node.left)

    def link(left: Any, i: int) -> ir.Value:
        right = read(frame, frame.visit(node.comparators[i]))
        here = frame.builder.compare(operators[i], *operands(frame, operators[i], read(frame, left), right))
        if i + 1 == len(operators):
            return here
        return both(frame, here, lambda: link(right, i + 1))

    return link(read(frame, left), 0)


def both(frame: Frame, condition: ir.Value, rest: Callable[[], ir.Value]) -> ir.Value:
    """`condition and rest()`, with `rest` evaluated only where the condition holds."""
    return choose(frame, condition, rest, lambda: ir.FALSE)


def choose(frame: Frame, condition: ir.Value, then: Callable[[], Any], orelse: Callable[[], Any]) -> Any:
    """One of two values; only what makes that one is executed."""
    if isinstance(condition, ir.Const):
        return then() if condition.value else orelse()
    statement = ir.If(condition, ir.Block(), ir.Block(), frame.builder.loc)
    found = []
    for block, make in ((statement.then, then), (statement.orelse, orelse)):
        with frame.builder.into(block):
            found.append(read(frame, make()))
    return merged(frame, statement, *found)


def merged(frame: Frame, statement: ir.If, a: Any, b: Any) -> Any:
    """The value of an If whose branches leave `a` or `b`: variables that the branches set."""
    if isinstance(a, Vector) and isinstance(b, Vector) and a.shape == b.shape:
        pairs = list(zip(a.leaves(), b.leaves(), strict=True))
    elif isinstance(a, ir.Value) and isinstance(b, ir.Value):
        pairs = [(a, b)]
    else:
        raise fail(
            CompileTypeError, frame.builder.loc, f"one branch gives {kind_of(a)}, the other {kind_of(b)}"
        )
    locals_ = []
    for left, right in pairs:
        type = left.type if left.type == right.type else common(left, right)
        local = ir.Local("choice", type)
        frame.builder.put(ir.Set(local, ir.Const(0 if type != bool_ else False, type), frame.builder.loc))
        for block, value in ((statement.then, left), (statement.orelse, right)):
            with frame.builder.into(block):
                frame.builder.put(ir.Set(local, frame.builder.cast(value, type), frame.builder.loc))
        locals_.append(local)
    frame.builder.put(statement)
    values = iter([frame.builder.put(ir.Get(local, frame.builder.loc)) for local in locals_])
    return a.map(lambda _: next(values)) if isinstance(a, Vector) else next(values)


def common(a: ir.Value, b: ir.Value) -> ScalarType:
    from ..types import promote

    return promote(a.type, b.type)


def conditional(frame: Frame, node: ast.IfExp) -> Any:
    test = frame.visit(node.test)
    if isinstance(test, Static):
        return frame.visit(node.body if test.value else node.orelse)
    condition = frame.builder.truth(frame.scalar(test, "the condition"), "the condition")
    return choose(frame, condition, lambda: frame.visit(node.body), lambda: frame.visit(node.orelse))


def boolean(frame: Frame, node: ast.BoolOp) -> Any:
    """`and`, `or`: the operand that decides, of the promoted type; what does not decide is not executed."""

    def link(i: int) -> ir.Value:
        value = frame.value(node.values[i])
        if i + 1 == len(node.values):
            return value
        condition = frame.builder.truth(value, "an operand of and or or")
        if isinstance(node.op, ast.And):
            return choose(frame, condition, lambda: link(i + 1), lambda: value)
        return choose(frame, condition, lambda: value, lambda: link(i + 1))

    result = link(0)
    if result.type.kind == "float":
        raise fail(
            CompileTypeError,
            frame.builder.loc,
            "an operand of `and` or `or` cannot be a float",
            "compare it: x != 0",
        )
    return result


def sequence(frame: Frame, node: ast.Tuple | ast.List) -> Any:
    return tuple(frame.visit(each) for each in node.elts)


def named(frame: Frame, node: ast.NamedExpr) -> Any:
    from .statements import bind

    value = read(frame, frame.visit(node.value))
    bind(frame, node.target, value)
    return value


def call(frame: Frame, node: ast.Call) -> Any:
    from .calls import call as make

    return make(frame, node)


EXPRESSIONS: dict[type[ast.expr], Callable[[Frame, Any], Any]] = {
    ast.Name: name,
    ast.Constant: constant,
    ast.Attribute: attribute,
    ast.Subscript: subscript,
    ast.BinOp: binary,
    ast.UnaryOp: unary,
    ast.Compare: compare,
    ast.IfExp: conditional,
    ast.BoolOp: boolean,
    ast.Tuple: sequence,
    ast.List: sequence,
    ast.NamedExpr: named,
    ast.Call: call,
}

__all__ = [
    "EXPRESSIONS",
    "CompileValueError",
    "assign_place",
    "broadcast",
    "choose",
    "place",
    "python_value",
    "read",
]
