# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Assignments, `if`, `return`, `assert` and `match`: statements besides loops and `with`."""

from __future__ import annotations

import ast
from functools import partial
from typing import Any

from cuda_graphs.compiler.errors import (
    CompileReturnError,
    CompileSyntaxError,
    CompileTypeError,
    compile_error,
)
from cuda_graphs.compiler.frontend.calls.atomics import changed_atomically
from cuda_graphs.compiler.frontend.calls.conversions import cast
from cuda_graphs.compiler.frontend.calls.declared import convert_to_declared
from cuda_graphs.compiler.frontend.calls.messages import message_parts
from cuda_graphs.compiler.frontend.expressions.arithmetic import unsupported
from cuda_graphs.compiler.frontend.expressions.assignment import (
    assign_lvalue,
    at_chosen_part,
    bind,
    fit,
    is_index,
    lvalue,
    note_assigned,
    read_all,
    require_place,
)
from cuda_graphs.compiler.frontend.expressions.construction import make_vector
from cuda_graphs.compiler.frontend.expressions.linear import matmul
from cuda_graphs.compiler.frontend.expressions.merging import joined_result
from cuda_graphs.compiler.frontend.expressions.operators import in_place
from cuda_graphs.compiler.frontend.frame.frame import Frame
from cuda_graphs.compiler.frontend.frame.paths import OpenPath, Paths, ReturnPoint, joined
from cuda_graphs.compiler.frontend.frame.sharing import is_shared
from cuda_graphs.compiler.frontend.frame.values import (
    Component,
    Computed,
    Element,
    Static,
    Struct,
    TypeOf,
    Vector,
    describe,
)
from cuda_graphs.compiler.frontend.precision import convert_implicitly
from cuda_graphs.compiler.frontend.returns import REMEDY
from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.ir.types import ScalarType
from cuda_graphs.compiler.language.annotations import VectorType
from cuda_graphs.compiler.language.structs import normal_annotation

from .graph_flow import conditional, conditional_word

# Operators `op` for which `x op= y` is atomic in a parallel task.
ATOMIC = {"Add": "add", "Sub": "sub", "Mult": "mul", "BitAnd": "and", "BitOr": "or", "BitXor": "xor"}


def assign(frame: Frame, node: ast.Assign, last: bool) -> None:
    value = assigned(frame, node.value)
    if isinstance(value, (tuple, Vector, Struct)) or len(node.targets) > 1:
        value = read_all(frame, value)  # `a, b = b, a` reads both before it writes any
    for target in node.targets:
        bind(frame, target, value)


def assigned(frame: Frame, node: ast.expr) -> Any:
    """Translate the right side of an assignment. Arithmetic on numbers of the source stays a number of the source."""
    if isinstance(node, ast.Tuple) and not any(isinstance(each, ast.Starred) for each in node.elts):
        return tuple(frame.in_order(node.elts, partial(assigned, frame)))
    return frame.visit_number(node)


def annotated_assign(frame: Frame, node: ast.AnnAssign, last: bool) -> None:
    if node.value is None:
        raise compile_error(
            CompileSyntaxError,
            frame.builder.loc,
            "a declaration without a value",
            "give it one: x: cg.f32 = 0",
        )
    if not isinstance(node.target, ast.Name):
        raise compile_error(
            CompileSyntaxError,
            frame.builder.loc,
            f"{ast.unparse(node.target)} is declared, and is no name of a variable",
            "leave the annotation out: the value is cast to the type of the place",
        )
    kind = normal_annotation(frame.visit(node.annotation), frame.rules)
    if isinstance(kind, VectorType):
        value: Any = make_vector(frame, kind, frame.visit(node.value))
    else:
        value = cast_to_annotation(
            frame, frame.visit_number(node.value), declared_type(frame, kind), repr(node.target.id)
        )
    check_redeclared(frame, node.target.id, value)
    bind(frame, node.target, value)


def declared_type(frame: Frame, kind: Any) -> ScalarType:
    """Return the type that an annotation of a variable names."""
    kind = frame.rules.named(kind)
    if not isinstance(kind, (TypeOf, ScalarType)):
        raise compile_error(
            CompileTypeError,
            frame.builder.loc,
            f"the type of a variable must be a scalar type, not {describe(kind)}",
            "x: cg.f32 = ...",
        )
    return kind.type if isinstance(kind, TypeOf) else kind


def cast_to_annotation(frame: Frame, found: Any, type: ScalarType, what: str) -> ir.Value:
    """Return a number in the type of an annotation. For numbers of the source, the exact number is converted."""
    known = isinstance(found, (Computed, int, float))
    if isinstance(found, bool) or not known:
        return convert_implicitly(frame, frame.scalar(found), type, what)
    return cast(frame, found, type)


def check_redeclared(frame: Frame, name: str, value: Any) -> None:
    """Raise for an annotation with another type than that of the variable's first value."""
    scope = frame.scope.find(name)
    old = None if scope is None else scope.names[name]
    if isinstance(old, (ir.Local, Vector)) and not is_index(old) and type_of(old) != type_of(value):
        raise compile_error(
            CompileTypeError,
            frame.builder.loc,
            f"{name!r} is a variable of type {type_of(old)}, and is declared as {type_of(value)}",
            "take a new name, or leave the annotation out: the value is cast to the type of the variable",
        )


def type_of(found: Any) -> ScalarType | VectorType:
    """Return the type of a number, variable or vector."""
    return VectorType(found.leaves()[0].type, found.shape) if isinstance(found, Vector) else found.type


def augmented_assign(frame: Frame, node: ast.AugAssign, last: bool) -> None:
    target, operator = lvalue(frame, node.target), type(node.op).__name__
    present = frame.before(target, [node.value])
    value = frame.visit(node.value)
    if isinstance(target, Struct):
        found = in_place(frame, operator, target, frame.read(value))
        if found is not None:
            assign_lvalue(frame, target, found)
            return
        raise unsupported(frame, operator, target)
    if operator == "MatMult":
        product = matmul(frame, frame.read(present), frame.read(value))
        if not isinstance(product, Vector):
            raise compile_error(
                CompileTypeError,
                frame.builder.loc,
                "@= of two vectors gives a number",
                "assign it to a new name: t = v @ w",
            )
        assign_lvalue(frame, target, product)
    elif isinstance(target, Vector):
        augment_vector(frame, target, present, operator, frame.read(value))
    else:
        augment(frame, target, present, operator, frame.scalar(value))


def augment_vector(frame: Frame, target: Vector, present: Vector, operator: str, value: Any) -> None:
    """Emit `v op= value`: by component for a vector or tuple, with the same number for all components otherwise."""
    value = make_vector(frame, None, value) if isinstance(value, tuple) else value
    if isinstance(value, Vector) and value.shape != target.shape:
        raise compile_error(
            CompileTypeError,
            frame.builder.loc,
            f"a value of shape {value.shape} for one of shape {target.shape}",
            "give a value of the same shape, or a number",
        )
    if not isinstance(value, Vector):
        value = frame.scalar(value)
    target.map(
        lambda part, now, change: augment(frame, part, now, operator, frame.scalar(change)), present, value
    )


def augment(frame: Frame, target: Any, present: Any, operator: str, value: ir.Value) -> None:
    """Emit `x op= value`. `present`: what has the value of the target before that of `value` was computed."""
    builder = frame.builder
    if isinstance(target, Component):
        augment_component(frame, target, present, operator, value)
        return
    type = target.array.element if isinstance(target, Element) else target.type
    if operator in ATOMIC and is_shared(frame, target):
        if operator.startswith("Bit"):
            builder.require_integers(operator, ir.Const(0, type), value)
        note_assigned(frame, target, value.type, value)
        value = fit(frame, value, target, as_operand=True)
        changed_atomically(frame, ATOMIC[operator], target, value)
        return
    changed = builder.binary(operator, frame.read(present), value)
    assign_lvalue(frame, target, changed)


def augment_component(frame: Frame, target: Component, present: Any, operator: str, value: ir.Value) -> None:
    """Emit `v[i] op= value` for a run-time index. An atomic change touches no other component."""
    require_place(frame, target)
    if operator in ATOMIC and is_shared(frame, target.leaf()):
        at_chosen_part(frame, target, lambda part: augment(frame, part, part, operator, value))
        return
    changed = frame.builder.binary(operator, frame.read(present), value)
    assign_lvalue(frame, target, changed)


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
    paths = []
    for block, body in ((statement.then, node.body), (statement.orelse, node.orelse)):
        with frame.block(block):
            frame.run(body)
            paths.append((frame.path, OpenPath(block, frame.scope)))
        frame.path = None
    frame.builder.put(statement)
    frame.path = joined(*paths)


def match_statement(frame: Frame, node: ast.Match, last: bool) -> None:
    word = conditional_word(frame, node.subject)
    if word is None:
        raise frame.refuse(node)
    conditional(frame, node, word)


def return_statement(frame: Frame, node: ast.Return, last: bool) -> None:
    if frame.parallel_loops:
        raise compile_error(
            CompileReturnError, frame.builder.loc, "return cannot leave a parallel loop: its iterations have no order",
            "write continue to end the iteration, or put cg.loop_config(serialize=True) before the loop",
        )  # fmt: skip
    if frame.parallel_level and frame.builder.block is not frame.root_block:
        raise compile_error(
            CompileReturnError, frame.builder.loc, "return cannot leave control flow between tasks",
            "put the tasks after it into a branch of the control flow",
        )  # fmt: skip
    if not last:
        raise compile_error(
            CompileReturnError, frame.builder.loc, "statements after return never run", "remove them"
        )
    value = None if node.value is None else read_all(frame, assigned(frame, node.value))
    block = frame.builder.block
    frame.returns.append(ReturnPoint(block, len(block.body), value, frame.builder.loc))
    if frame.in_run_time_loop():
        frame.builder.put(ir.Break(frame.builder.loc))
    frame.path = Paths.ENDED


def kernel_result(frame: Frame, value: Any) -> tuple[ir.Value, ...] | None:
    """Return the numbers of a value that a kernel returns, in the declared types."""
    if value is None:
        return None
    types = frame.return_types
    is_vector = types is not None and len(types) == 1 and isinstance(types[0], VectorType)
    parts = value if isinstance(value, tuple) and not is_vector else (value,)
    if frame.graph_state is not None:
        raise compile_error(
            CompileReturnError, frame.builder.loc, "a graph kernel returns nothing, since no caller waits for it",
            "have it write to an array",
        )  # fmt: skip
    if types is None or len(types) != len(parts):
        raise compile_error(
            CompileReturnError, frame.builder.loc, f"the kernel returns {len(parts)} values, and its annotation says "
            f"{0 if types is None else len(types)}", REMEDY,
        )  # fmt: skip
    return tuple(
        leaf
        for part, kind in zip(parts, types, strict=True)
        for leaf in scalars_in(frame, convert_to_declared(frame, kind, part, "the result of the kernel"))
    )


def return_from_kernel(frame: Frame) -> None:
    """Put the Return of a kernel, which is the last statement."""
    found = joined_result(frame, lambda value: kernel_result(frame, value))
    if found is not None:
        frame.returned = tuple(each.type for each in found)
        frame.builder.put(ir.Return(found, frame.builder.loc))


def scalars_in(frame: Frame, found: Any) -> list[ir.Value]:
    """Return all numbers of a value, in order."""
    if isinstance(found, Struct):
        return [leaf for member in found.members.values() for leaf in scalars_in(frame, member)]
    return found.leaves() if isinstance(found, Vector) else [frame.scalar(found)]


def expression_statement(frame: Frame, node: ast.Expr, last: bool) -> None:
    if isinstance(node.value, ast.Constant):
        return  # a string used as a comment
    if isinstance(node.value, (ast.Yield, ast.YieldFrom)):
        raise frame.refuse(node.value)
    if not isinstance(node.value, (ast.Call, ast.NamedExpr)):
        raise compile_error(
            CompileSyntaxError, frame.builder.loc, "this expression has no effect", "assign it, or remove it"
        )
    frame.lone_call = node.value if isinstance(node.value, ast.Call) else None
    frame.visit(node.value)


def assert_statement(frame: Frame, node: ast.Assert, last: bool) -> None:
    condition = frame.builder.truth(frame.value(node.test), "the condition of an assert")
    message = ("assertion failed",) if node.msg is None else message_parts(frame, node.msg)
    frame.builder.put(ir.Assert(condition, tuple(message), frame.builder.loc))


def pass_statement(frame: Frame, node: ast.Pass, last: bool) -> None:
    return
