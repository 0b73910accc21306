# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Statements of the language. Each function translates one construct; STATEMENTS maps constructs to functions."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from cuda_graphs.compiler.errors import (
    CompileImmutableError,
    CompileLoopError,
    CompileReturnError,
    CompileSyntaxError,
    CompileTypeError,
    fail,
)
from cuda_graphs.compiler.frontend.expressions.linear import matmul
from cuda_graphs.compiler.frontend.expressions.lvalues import assign_place, make_vector, place, read
from cuda_graphs.compiler.frontend.expressions.messages import message_parts
from cuda_graphs.compiler.frontend.expressions.values import Computed, Element, Static, TypeOf, Vector
from cuda_graphs.compiler.frontend.functions import Frame, kind_of
from cuda_graphs.compiler.frontend.scope import Scope
from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.ir.types import PYTHON, ScalarType
from cuda_graphs.compiler.language.annotations import VectorType

from .graph_flow import conditional, conditional_word
from .loops import iterate, unused_settings
from .with_blocks import with_statement

# Operators `op` for which `x op= y` is atomic in a parallel task.
ATOMIC = {"Add": "add", "Sub": "add", "Mult": "mul", "BitAnd": "and", "BitOr": "or", "BitXor": "xor"}


def assign(frame: Frame, node: ast.Assign, last: bool) -> None:
    value = frame.visit(node.value)
    if isinstance(value, (tuple, Vector)) or len(node.targets) > 1:
        value = settled(frame, value)  # `a, b = b, a` reads both before it writes any
    for target in node.targets:
        bind(frame, target, value)


def settled(frame: Frame, value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(settled(frame, part) for part in value)
    return read(frame, value)


def bind(frame: Frame, target: ast.expr, value: Any) -> None:
    """Assign a value to a target, or declare the target."""
    frame.at(target)
    if isinstance(target, ast.Name):
        bind_name(frame, target.id, value)
    elif isinstance(target, (ast.Tuple, ast.List)):
        value = read(frame, value)
        parts = value.components if isinstance(value, Vector) else value
        if not isinstance(parts, (tuple, list)) or len(parts) != len(target.elts):
            found = len(parts) if isinstance(parts, (tuple, list)) else kind_of(value)
            raise fail(
                CompileSyntaxError,
                frame.builder.loc,
                f"{len(target.elts)} names for {found} values",
                "write as many names as there are values",
            )
        for each, part in zip(target.elts, parts, strict=True):
            bind(frame, each, part)
    elif isinstance(target, (ast.Subscript, ast.Attribute)):
        assign_place(frame, place(frame, target), value)
    else:
        raise frame.refuse(target)


def bind_name(frame: Frame, name: str, value: Any) -> None:
    scope = frame.scope.find(name)
    if scope is None:
        frame.scope.names[name] = declare(frame, name, value)
        return
    old = scope.names[name]
    index = is_index(old)
    if name in frame.parameters or index or isinstance(old, ir.Param):
        what = "a loop variable" if index else "a parameter of the kernel"
        raise fail(
            CompileImmutableError, frame.builder.loc, f"{name!r} is {what}, which is immutable",
            f"assign to a new name: {name}_ = ...",
        )  # fmt: skip
    if isinstance(old, (ir.Local, Vector)) or (isinstance(old, tuple) and is_variable(old)):
        assign_place(frame, old, value)
    else:
        raise fail(
            CompileImmutableError,
            frame.builder.loc,
            f"{name!r} is known when compiling and cannot be assigned again",
            "take a new name",
        )


def is_index(found: Any) -> bool:
    """Return whether a name is a loop variable, is computed from one (loops.py, `strided`), or is a vector of them."""
    indices = (ir.LoopIndex, ir.Op)  # no other name is an operation
    return isinstance(found, indices) or (
        isinstance(found, Vector) and isinstance(found.components[0], indices)
    )


def is_variable(found: tuple[Any, ...]) -> bool:
    """Return whether a tuple consists of variables, as `declare` makes it."""
    return all(is_variable(p) if isinstance(p, tuple) else isinstance(p, (ir.Local, Vector)) for p in found)


def declare(frame: Frame, name: str, value: Any) -> Any:
    """Return a new variable with the type of the value. Another object is returned as it is: it gets a second name."""
    if isinstance(value, Static):
        return value.value  # a second name for a compile-time value
    value = read(frame, value)
    if isinstance(value, Vector):
        return value.map(lambda part: declare(frame, name, part))
    if isinstance(value, tuple) and any(isinstance(part, (ir.Value, Vector)) for part in value):
        return tuple(declare(frame, name, part) for part in value)
    if not isinstance(value, ir.Value):
        return value
    local = ir.Local(name, value.type)
    frame.builder.put(ir.Set(local, value, frame.builder.loc))
    return local


def annotated_assign(frame: Frame, node: ast.AnnAssign, last: bool) -> None:
    if node.value is None:
        raise fail(
            CompileSyntaxError,
            frame.builder.loc,
            "a declaration without a value",
            "give it one: x: cg.f32 = 0",
        )
    if not isinstance(node.target, ast.Name):
        raise fail(
            CompileSyntaxError,
            frame.builder.loc,
            f"{ast.unparse(node.target)} is declared, and is no name of a variable",
            "leave the annotation out: the value is cast to the type of the place",
        )
    kind = frame.visit(node.annotation)
    if isinstance(kind, VectorType):
        value: Any = make_vector(frame, kind, frame.visit(node.value))
    else:
        value = converted(frame, frame.visit_number(node.value), declared_type(frame, kind))
    check_redeclared(frame, node.target.id, value)
    bind(frame, node.target, value)


def declared_type(frame: Frame, kind: Any) -> ScalarType:
    """Return the type that an annotation of a variable names."""
    kind = PYTHON.get(kind, kind) if isinstance(kind, type) else kind
    if not isinstance(kind, (TypeOf, ScalarType)):
        raise fail(
            CompileTypeError,
            frame.builder.loc,
            f"the type of a variable must be a scalar type, not {kind_of(kind)}",
            "x: cg.f32 = ...",
        )
    return kind.type if isinstance(kind, TypeOf) else kind


def converted(frame: Frame, found: Any, type: ScalarType) -> ir.Value:
    """Return a number in the type of an annotation. For numbers of the source, the exact number is converted."""
    from cuda_graphs.compiler.frontend.expressions.calls import cast

    known = isinstance(found, (Computed, int, float))
    return cast(frame, found, type) if known else frame.builder.cast(frame.scalar(found), type)


def check_redeclared(frame: Frame, name: str, value: Any) -> None:
    """Raise for an annotation with another type than that of the variable's first value."""
    scope = frame.scope.find(name)
    old = None if scope is None else scope.names[name]
    if isinstance(old, (ir.Local, Vector)) and not is_index(old) and type_of(old) != type_of(value):
        raise fail(
            CompileTypeError,
            frame.builder.loc,
            f"{name!r} is a variable of type {type_of(old)}, and is declared as {type_of(value)}",
            "take a new name, or leave the annotation out: the value is cast to the type of the variable",
        )


def type_of(found: Any) -> ScalarType | VectorType:
    """Return the type of a number, variable or vector."""
    return VectorType(found.leaves()[0].type, found.shape) if isinstance(found, Vector) else found.type


def augmented_assign(frame: Frame, node: ast.AugAssign, last: bool) -> None:
    target, operator = place(frame, node.target), type(node.op).__name__
    value = frame.visit(node.value)
    if operator == "MatMult":
        product = matmul(frame, read(frame, target), read(frame, value))
        if not isinstance(product, Vector):
            raise fail(
                CompileTypeError,
                frame.builder.loc,
                "@= of two vectors gives a number",
                "assign it to a new name: t = v @ w",
            )
        assign_place(frame, target, product)
    elif isinstance(target, Vector):
        augment_vector(frame, target, operator, read(frame, value))
    else:
        augment(frame, target, operator, frame.scalar(value))


def augment_vector(frame: Frame, target: Vector, operator: str, value: Any) -> None:
    """Emit `v op= value`: by component for a vector or tuple, with the same number for all components otherwise."""
    value = make_vector(frame, None, value) if isinstance(value, tuple) else value
    if isinstance(value, Vector) and value.shape != target.shape:
        raise fail(
            CompileTypeError,
            frame.builder.loc,
            f"a value of shape {value.shape} for one of shape {target.shape}",
            "give a value of the same shape, or a number",
        )
    if not isinstance(value, Vector):
        value = frame.scalar(value)
    target.map(lambda part, change: augment(frame, part, operator, frame.scalar(change)), value)


def augment(frame: Frame, target: Any, operator: str, value: ir.Value) -> ir.Value:
    builder = frame.builder
    type = target.array.element if isinstance(target, Element) else target.type
    if operator in ATOMIC and is_shared(frame, target):
        if operator.startswith("Bit"):
            builder.require_integers(operator, ir.Const(0, type), value)
        value = builder.cast(value, type)
        if operator == "Sub":
            value = builder.op("neg", value)
        return builder.put(atomic_of(ATOMIC[operator], target, value, builder.loc))
    changed = builder.binary(operator, read(frame, target), value)
    assign_place(frame, target, changed)
    return changed


def atomic_of(
    kind: str, target: Any, value: ir.Value, loc: ir.Loc | None, compare: ir.Value | None = None
) -> ir.Atomic:
    if isinstance(target, ir.Local):
        return ir.Atomic(kind, target, (), value, compare, loc)
    return ir.Atomic(kind, target.array, target.index, value, compare, loc)


def is_shared(frame: Frame, target: Any) -> bool:
    """Return whether other iterations of a parallel loop may change the same place."""
    if not frame.parallel:
        return False
    if isinstance(target, ir.Local):
        scope: Scope | None = frame.root.outer_scope or frame.outer_scope
        while scope is not None:
            if any(target in leaves(found) for found in scope.names.values()):
                return True
            scope = scope.parent
        return False
    return target.array.space is not ir.Space.LOCAL


def leaves(found: Any) -> list[Any]:
    """Return the locals that a name stands for."""
    if isinstance(found, tuple):
        return [leaf for part in found for leaf in leaves(part)]
    return found.leaves() if isinstance(found, Vector) else [found] if isinstance(found, ir.Local) else []


def if_statement(frame: Frame, node: ast.If, last: bool) -> None:
    word = conditional_word(frame, node.test)
    if word is not None:
        conditional(frame, node, word)
        return
    condition = frame.visit(node.test)
    if isinstance(condition, Static):
        frame.run(node.body if condition.value else node.orelse)
        return
    value = frame.builder.truth(frame.scalar(condition, "the condition"), "the condition of an if")
    statement = ir.If(value, ir.Block(), ir.Block(), frame.builder.loc)
    for block, body in ((statement.then, node.body), (statement.orelse, node.orelse)):
        with frame.block(block):
            frame.run(body)
    frame.builder.put(statement)


def match_statement(frame: Frame, node: ast.Match, last: bool) -> None:
    word = conditional_word(frame, node.subject)
    if word is None:
        raise frame.refuse(node)
    conditional(frame, node, word)


def while_statement(frame: Frame, node: ast.While, last: bool) -> None:
    word = conditional_word(frame, node.test)
    if word is not None:
        conditional(frame, node, word)
        return
    if node.orelse:
        raise fail(
            CompileLoopError, frame.builder.loc, "else of a loop is not supported in kernels", "use a flag"
        )
    unused_settings(frame)
    loc = frame.builder.loc
    head, body = ir.Block(), ir.Block()
    frame.loops.append(None)
    with frame.block(head):
        test = frame.visit(node.test)
        if isinstance(test, Static):
            raise fail(
                CompileLoopError,
                loc,
                "a while over cg.static never changes its condition",
                "for x in cg.static(...)",
            )
        condition = frame.builder.truth(frame.scalar(test, "the condition"), "the condition of a while")
    with frame.block(body):
        frame.run(node.body)
    frame.loops.pop()
    frame.builder.put(ir.While(head, condition, body, loc))


def for_statement(frame: Frame, node: ast.For, last: bool) -> None:
    if node.orelse:
        raise fail(
            CompileLoopError, frame.builder.loc, "else of a loop is not supported in kernels", "use a flag"
        )
    iterate(frame, node)


class LeaveStatic(Exception):
    """A break or continue in a loop over cg.static, during its unrolling."""


def leave_loop(frame: Frame, node: ast.Break | ast.Continue, last: bool) -> None:
    kind = "break" if isinstance(node, ast.Break) else "continue"
    if not frame.loops and frame.root.conditionals is not None and frame.root.conditionals.depth:
        raise fail(
            CompileLoopError, frame.builder.loc, f"{kind} cannot leave a body of a graph kernel's control flow",
            "have the condition end the loop",
        )  # fmt: skip
    if not frame.loops:
        raise fail(CompileLoopError, frame.builder.loc, f"{kind} outside of a loop", "put it into a loop")
    static = frame.loops[-1]
    if static is not None:
        if static is not frame.builder.block:
            raise fail(
                CompileLoopError, frame.builder.loc,
                f"{kind} of a loop over cg.static cannot depend on a value known at run time only",
                "decide with `if cg.static(...)`, or loop over range without cg.static",
            )  # fmt: skip
        raise LeaveStatic(kind)
    if kind == "break" and frame.in_parallel_loop():
        raise fail(
            CompileLoopError, frame.builder.loc, "cannot break out of a parallel loop: its iterations have no order",
            "put cg.loop_config(serialize=True) before it, or test a flag in the body",
        )  # fmt: skip
    frame.builder.put((ir.Break if kind == "break" else ir.Continue)(frame.builder.loc))


def return_statement(frame: Frame, node: ast.Return, last: bool) -> None:
    if frame.loops or frame.builder.block is not frame.root_block:
        raise fail(
            CompileReturnError, frame.builder.loc, "return cannot depend on a value known at run time only",
            "assign the result to a variable in the branches and return that at the end",
        )  # fmt: skip
    if not last:
        raise fail(CompileReturnError, frame.builder.loc, "statements after return never run", "remove them")
    frame.returned_early = True
    value = None if node.value is None else settled(frame, frame.visit(node.value))
    if frame.caller is not None:
        frame.result = value
    elif value is not None:
        return_from_kernel(frame, value if isinstance(value, tuple) else (value,))


def return_from_kernel(frame: Frame, parts: tuple[Any, ...]) -> None:
    types = frame.return_types
    if frame.conditionals is not None:
        raise fail(
            CompileReturnError, frame.builder.loc, "a graph kernel returns nothing, since no caller waits for it",
            "have it write to an array",
        )  # fmt: skip
    if types is None or len(types) != len(parts):
        raise fail(
            CompileReturnError, frame.builder.loc, f"the kernel returns {len(parts)} values, and its annotation says "
            f"{0 if types is None else len(types)}", "declare the returned types: -> cg.f32, -> tuple[cg.f32, cg.i32]",
        )  # fmt: skip
    values = tuple(
        frame.builder.cast(frame.scalar(part), kind) for part, kind in zip(parts, types, strict=True)
    )
    frame.returned = tuple(types)
    frame.builder.put(ir.Return(values, frame.builder.loc))


def expression_statement(frame: Frame, node: ast.Expr, last: bool) -> None:
    if isinstance(node.value, ast.Constant):
        return  # a string used as a comment
    if isinstance(node.value, (ast.Yield, ast.YieldFrom)):
        raise frame.refuse(node.value)
    if not isinstance(node.value, (ast.Call, ast.NamedExpr)):
        raise fail(
            CompileSyntaxError, frame.builder.loc, "this expression has no effect", "assign it, or remove it"
        )
    frame.visit(node.value)


def assert_statement(frame: Frame, node: ast.Assert, last: bool) -> None:
    condition = frame.builder.truth(frame.value(node.test), "the condition of an assert")
    message = ("assertion failed",) if node.msg is None else message_parts(frame, node.msg)
    frame.builder.put(ir.Assert(condition, tuple(message), frame.builder.loc))


def pass_statement(frame: Frame, node: ast.Pass, last: bool) -> None:
    return


STATEMENTS: dict[type[ast.stmt], Callable[[Frame, Any, bool], None]] = {
    ast.Assign: assign,
    ast.AnnAssign: annotated_assign,
    ast.AugAssign: augmented_assign,
    ast.If: if_statement,
    ast.While: while_statement,
    ast.Match: match_statement,
    ast.For: for_statement,
    ast.With: with_statement,
    ast.Break: leave_loop,
    ast.Continue: leave_loop,
    ast.Return: return_statement,
    ast.Expr: expression_statement,
    ast.Assert: assert_statement,
    ast.Pass: pass_statement,
}

__all__ = ["STATEMENTS", "LeaveStatic", "atomic_of", "augment", "bind", "declare", "is_shared"]
