# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Expressions of the language. Each function translates one construct; EXPRESSIONS maps constructs to functions."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import numpy as np

from cuda_graphs.compiler.errors import (
    CompileNameError,
    CompileStaticError,
    CompileSyntaxError,
    CompileTypeError,
    fail,
)
from cuda_graphs.compiler.frontend.functions import Frame, kind_of
from cuda_graphs.compiler.frontend.scope import Scope
from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.ir.builder import SYMBOLS
from cuda_graphs.compiler.ir.types import ScalarType, bool_, i32, promote
from cuda_graphs.compiler.language.free_names import dotted
from cuda_graphs.compiler.language.signature import names_gradients

from .lvalues import (
    broadcast,
    component,
    element,
    extent,
    field_or_value,
    item,
    python_value,
    read,
    swizzle,
)
from .numbers import calculate, negate
from .values import Bound, BoundFunction, Computed, Static, Struct, Vector, VectorElement


def name(frame: Frame, node: ast.Name) -> Any:
    scope = frame.scope.find(node.id)
    if scope is not None:
        return scope.names[node.id]
    return outer(frame, node, whole=True)


def outer(frame: Frame, node: ast.Name, whole: bool) -> Any:
    """Return the meaning of a global or closure variable, and capture it."""
    found = frame.source.lookup(node.id, frame.at(node))
    frame.capture(node.id, found, whole)
    return from_outside(frame, found, node.id)


def from_outside(frame: Frame, found: Any, name: str) -> Any:
    """Return the meaning of an object from outside: a field is an array, other objects are themselves."""
    if is_array(found):
        raise fail(
            CompileTypeError, frame.builder.loc, f"{name!r} is an array from outside, which a kernel does not capture",
            "pass it as a parameter: x: cg.types.ndarray(...), or make it a cg.field",
        )  # fmt: skip
    return field_or_value(frame, found)


def is_array(found: Any) -> bool:
    """Return whether an object is an array with an address, of any library. Fields do not count."""
    if isinstance(found, (type, np.generic)) or hasattr(found, "__cuda_graphs_field__"):
        return False
    return any(
        hasattr(found, each) for each in ("__array_interface__", "__cuda_array_interface__", "__dlpack__")
    )


def constant(frame: Frame, node: ast.Constant) -> Any:
    return node.value


def owner_of(frame: Frame, node: ast.expr) -> Any:
    """Return the owner of an attribute. Only the attribute of an outside owner is captured, not the whole owner."""
    if isinstance(node, ast.Name) and frame.scope.find(node.id) is None:
        return outer(frame, node, whole=False)
    return attribute(frame, node, whole=False) if isinstance(node, ast.Attribute) else frame.visit(node)


def attribute(frame: Frame, node: ast.Attribute, whole: bool = True) -> Any:
    owner = owner_of(frame, node.value)
    owner = owner.value if isinstance(owner, Static) else owner
    frame.at(node)
    if isinstance(owner, Struct):
        if node.attr not in owner.members:
            method: Any = getattr(owner.cls, node.attr, None)
            if hasattr(method, "__cuda_graphs_func__"):
                return BoundFunction(method.__cuda_graphs_func__, owner)
            if hasattr(method, "__cuda_graph_emit__"):
                return method  # a kernel: the call of it raises
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
        if node.attr == "grad":
            return gradient_of(frame, owner)
    if isinstance(owner, (Vector, VectorElement)) and set(node.attr) <= set("xyzw"):
        return swizzle(frame, owner.places if isinstance(owner, VectorElement) else owner, node.attr)
    if isinstance(owner, (Vector, VectorElement, ir.Array)):
        return method_of(frame, owner, node.attr)
    if isinstance(owner, ir.Value):
        raise fail(
            CompileNameError,
            frame.builder.loc,
            f"a number has no member {node.attr!r}",
            "members are those of dataclasses, vectors and modules",
        )
    try:
        found = getattr(owner, node.attr)
    except AttributeError:
        raise fail(
            CompileNameError,
            frame.builder.loc,
            f"{kind_of(owner)} has no member {node.attr!r}",
            "check the spelling of the name",
        ) from None
    path = dotted(node)
    if path is not None and frame.scope.find(path.partition(".")[0]) is None:
        found = frame.source.once(path, found)
    found = from_outside(frame, found, ast.unparse(node))
    if path is not None:
        frame.capture(path, found, whole)
    return found


def gradient_of(frame: Frame, array: ir.Array) -> ir.Array:
    """Return the array of the gradient of an array, which is an argument of the kernel, too."""
    if not array.needs_grad:
        raise fail(
            CompileNameError, frame.builder.loc, f"{kind_of(array)} has no gradient",
            "make it with needs_grad=True, and remove needs_grad=False from its parameter",
        )  # fmt: skip
    root = frame.root
    if array.space is ir.Space.PARAM and not names_gradients(root.source.function):
        raise fail(
            CompileSyntaxError, frame.builder.loc,
            f"{array.path}.grad belongs to a parameter of {root.source.function.__name__}, which does not use it",
            f"pass it from there: f({array.path}.grad)",
        )  # fmt: skip
    path = f"{array.path}.grad"
    found = next((each for each in root.arrays if each.path == path), None)
    if found is None:
        found = ir.replace(array, path=path, needs_grad=False, needs_dual=False)
        root.arrays.append(found)
    return found


def method_of(frame: Frame, owner: Any, name: str) -> Bound:
    from .linear import METHODS

    if isinstance(owner, ir.Array) or name not in METHODS:
        known = (
            "shape, dtype and grad" if isinstance(owner, ir.Array) else f"x, y, z, w, {', '.join(METHODS)}"
        )
        raise fail(
            CompileNameError, frame.builder.loc, f"{kind_of(owner)} has no member {name!r}", f"it has {known}"
        )
    return Bound(owner, name)


def subscript(frame: Frame, node: ast.Subscript) -> Any:
    owner = frame.visit(node.value)
    owner = owner.value if isinstance(owner, Static) else owner
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
        return item(frame, owner, python_value(frame, index[0]))
    from_outside(frame, owner, ast.unparse(node.value))  # raises for an array
    raise fail(
        CompileTypeError,
        frame.builder.loc,
        f"{kind_of(owner)} cannot be indexed",
        "arrays, fields, vectors and compile-time containers can",
    )


def arithmetic(frame: Frame, operator: str, a: Any, b: Any) -> Any:
    """Return a binary operator on scalars, by component on vectors, or `@` on matrices.

    The result on numbers of the source is Computed.
    """
    loc, exact = frame.builder.loc, calculate(frame, operator, a, b)
    if exact is not None:
        return Computed(exact, lambda: typed(frame, loc, operator, a, b))
    return typed(frame, loc, operator, a, b)


def typed(frame: Frame, loc: ir.Loc | None, operator: str, a: Any, b: Any) -> Any:
    """Return a binary operator on operands with types. Numbers of the source get their types."""
    frame.builder.loc = loc
    a, b = read(frame, a), read(frame, b)
    if operator == "MatMult":
        from .linear import matmul

        return matmul(frame, a, b)
    if isinstance(a, Vector) or isinstance(b, Vector):
        return broadcast(frame, lambda x, y: frame.builder.binary(operator, x, y), a, b)
    return frame.builder.binary(operator, *operands(frame, operator, a, b))


def operands(frame: Frame, operator: str, a: Any, b: Any) -> tuple[ir.Value, ir.Value]:
    for found in (a, b):
        if not isinstance(found, ir.Value):
            raise fail(
                CompileTypeError,
                frame.builder.loc,
                f"unsupported operand for {SYMBOLS[operator]}: {kind_of(found)}",
                "take an element: x[i]"
                if isinstance(found, ir.Array)
                else "write it in cg.static(...), if all of it is known when compiling",
            )
    return a, b


def binary(frame: Frame, node: ast.BinOp) -> Any:
    return arithmetic(
        frame, type(node.op).__name__, frame.visit_number(node.left), frame.visit_number(node.right)
    )


def unary(frame: Frame, node: ast.UnaryOp) -> Any:
    found = frame.visit_number(node.operand)
    if isinstance(node.op, ast.USub) and isinstance(found, (int, float)) and not isinstance(found, bool):
        return -found  # makes -2147483648 an i32
    exact = negate(node.op, found)
    if exact is not None:
        return Computed(exact, lambda: unary_typed(frame, node, found))
    return unary_typed(frame, node, found)


def unary_typed(frame: Frame, node: ast.UnaryOp, found: Any) -> Any:
    """Return a unary operator on an operand with a type."""
    frame.at(node)
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
        builder.require_integers("Invert", value)
        return builder.op("bit_not", value)
    return builder.op("neg", value)


def compare(frame: Frame, node: ast.Compare) -> Any:
    """Return a comparison. A chain evaluates each operand once, and later operands only while the chain holds."""
    operators = [type(operator).__name__ for operator in node.ops]
    if any(operator in ("Is", "IsNot", "In", "NotIn") for operator in operators):
        raise fail(
            CompileSyntaxError,
            frame.builder.loc,
            "`is` and `in` are for cg.static(...) only",
            "compare numbers with ==, or write cg.static(a in b)",
        )
    left = frame.visit(node.left)

    def link(left: Any, i: int) -> ir.Value:
        right = read(frame, frame.visit(node.comparators[i]))
        if isinstance(left, Vector) or isinstance(right, Vector):
            return compare_vectors(frame, operators, left, right)
        here = frame.builder.compare(operators[i], *operands(frame, operators[i], read(frame, left), right))
        if i + 1 == len(operators):
            return here
        return both(frame, here, lambda: link(right, i + 1))

    return link(read(frame, left), 0)


def compare_vectors(frame: Frame, operators: list[str], left: Any, right: Any) -> Any:
    if len(operators) > 1:
        raise fail(
            CompileTypeError,
            frame.builder.loc,
            "a chain of comparisons takes numbers",
            "write two comparisons",
        )
    return broadcast(frame, lambda a, b: frame.builder.compare(operators[0], a, b), left, right)


def both(frame: Frame, condition: ir.Value, rest: Callable[[], ir.Value]) -> ir.Value:
    """Return `condition and rest()`. `rest` is evaluated only if the condition holds."""
    return choose(frame, condition, rest, lambda: ir.FALSE)


def choose(frame: Frame, condition: ir.Value, then: Callable[[], Any], orelse: Callable[[], Any]) -> Any:
    """Return one of two values. Only the code of the chosen value is executed."""
    if isinstance(condition, ir.Const):
        return then() if condition.value else orelse()
    statement = ir.If(condition, ir.Block(), ir.Block(), frame.builder.loc)
    found = []
    for block, make in ((statement.then, then), (statement.orelse, orelse)):
        with frame.block(block):
            found.append(read(frame, make()))
    return merged(frame, statement, *found)


def merged(frame: Frame, statement: ir.If, a: Any, b: Any) -> Any:
    """Return the value of an If whose branches leave `a` or `b`, from variables that the branches set."""
    if isinstance(a, Vector) and isinstance(b, Vector) and a.shape == b.shape:
        pairs = list(zip(a.leaves(), b.leaves(), strict=True))
    elif isinstance(a, ir.Value) and isinstance(b, ir.Value):
        pairs = [(a, b)]
    else:
        raise fail(
            CompileTypeError,
            frame.builder.loc,
            f"one branch gives {kind_of(a)}, the other {kind_of(b)}",
            "both branches must give numbers, or vectors of one shape",
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
    return promote(a.type, b.type)


def conditional(frame: Frame, node: ast.IfExp) -> Any:
    test = frame.visit(node.test)
    if isinstance(test, Static):
        return frame.visit(node.body if test.value else node.orelse)
    condition = frame.builder.truth(frame.scalar(test, "the condition"), "the condition")
    return choose(frame, condition, lambda: frame.visit(node.body), lambda: frame.visit(node.orelse))


def boolean(frame: Frame, node: ast.BoolOp) -> Any:
    """Return the deciding operand of `and` or `or`, in the promoted type. Later operands are not executed."""

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


def dictionary(frame: Frame, node: ast.Dict) -> Any:
    found = {}
    for key, value in zip(node.keys, node.values, strict=True):
        if key is None:
            raise frame.refuse(ast.copy_location(ast.keyword(None, value), value))
        found[hashed(frame, frame.visit(key))] = frame.visit(value)
    return found


def hashed(frame: Frame, key: Any) -> Any:
    """Return a key of a dictionary, or raise if it cannot be hashed."""
    try:
        hash(key)
    except TypeError as error:
        raise fail(
            CompileTypeError, frame.builder.loc, f"a key of a dict: {error}", "use a number or a string"
        ) from None
    return key


def comprehension(frame: Frame, node: ast.ListComp) -> Any:
    """Return the tuple of a comprehension over a compile-time list."""
    if len(node.generators) != 1 or node.generators[0].is_async:
        raise fail(
            CompileSyntaxError,
            frame.builder.loc,
            "a comprehension has one loop here",
            "nest two comprehensions",
        )
    from cuda_graphs.compiler.frontend.statements.loops import bind_static, check_count

    loop = node.generators[0]
    items = frame.visit(loop.iter)
    items = (
        items.value if isinstance(items, Static) else items.components if isinstance(items, Vector) else items
    )
    if not isinstance(items, (tuple, list, range)):
        raise fail(
            CompileTypeError, frame.builder.loc, f"a comprehension over {kind_of(items)}, not a compile-time list",
            "[f(i) for i in cg.static(range(3))]",
        )  # fmt: skip
    check_count(frame, items)
    outer, found = frame.scope, []
    for each in items:
        frame.scope = Scope(outer)
        bind_static(frame, loop.target, each)
        if all(static_truth(frame, test) for test in loop.ifs):
            found.append(frame.visit(node.elt))
    frame.scope = outer
    return tuple(found)


def static_truth(frame: Frame, node: ast.expr) -> bool:
    """Return the value of a condition that must be known at compile time."""
    found = python_value(frame, frame.visit(node))
    found = found.value if isinstance(found, Static) else found
    if isinstance(found, (ir.Value, ir.Local)):
        raise fail(
            CompileStaticError,
            frame.builder.loc,
            "this condition is known at run time only",
            "cg.static(...)",
        )
    return bool(found)


def sequence(frame: Frame, node: ast.Tuple | ast.List) -> Any:
    return tuple(frame.visit(each) for each in node.elts)


def named(frame: Frame, node: ast.NamedExpr) -> Any:
    from cuda_graphs.compiler.frontend.statements.statements import bind

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
    ast.Dict: dictionary,
    ast.ListComp: comprehension,
    ast.NamedExpr: named,
    ast.Call: call,
}

__all__ = ["EXPRESSIONS", "choose"]
