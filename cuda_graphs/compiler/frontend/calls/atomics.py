# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""cg.atomic_*: atomic changes of a place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cuda_graphs.compiler.errors import (
    CompileArgumentError,
    CompileSyntaxError,
    CompileTypeError,
    compile_error,
)
from cuda_graphs.compiler.frontend.expressions.assignment import (
    assign_lvalue,
    at_chosen_part,
    fit,
    note_assigned,
    require_place,
)
from cuda_graphs.compiler.frontend.frame.frame import Frame
from cuda_graphs.compiler.frontend.frame.sharing import is_shared
from cuda_graphs.compiler.frontend.frame.values import Component, Element, Vector, VectorElement, describe
from cuda_graphs.compiler.ir import ir


def atomic(kind: str) -> Callable[..., Any]:
    """Return the translation of cg.atomic_*. Its result is the previous value of the place.

    The arguments are the place and the value, or for cas the place, the value to compare with, and the new value.
    """
    wanted = 2 if kind == "cas" else 1

    def function(frame: Frame, target: Any, *values: Any) -> Any:
        if len(values) != wanted:
            raise compile_error(
                CompileArgumentError, frame.builder.loc,
                f"cg.atomic_{kind} takes a place in memory and {wanted} value{'s' * (wanted > 1)}, not {len(values)}",
                f"cg.atomic_{kind}(x[i], {'compare, value' if wanted > 1 else 'value'})",
            )  # fmt: skip
        if isinstance(target, VectorElement):
            target = target.elements
        given = [frame.read(each) for each in values]
        if isinstance(target, Vector):
            return vector_atomic(frame, kind, target, given)
        if isinstance(target, Component):
            require_place(frame, target)
            return component_atomic(frame, kind, target, *given)
        return scalar_atomic(frame, kind, target, *given)

    return function


def vector_atomic(frame: Frame, kind: str, target: Vector, values: list[Any]) -> Vector:
    """Emit an atomic on a vector: one for each component."""
    for value in values:
        if isinstance(value, Vector) and value.shape != target.shape:
            raise compile_error(
                CompileTypeError, frame.builder.loc,
                f"a value of shape {value.shape} for a place of shape {target.shape}", "give a value of the same shape",
            )  # fmt: skip
    return target.map(lambda element, *parts: scalar_atomic(frame, kind, element, *parts), *values)


def component_atomic(frame: Frame, kind: str, target: Component, *values: Any) -> Any:
    """Emit the atomic on the component of a variable that a run-time index chooses; return the previous value.

    Without a use there is no result: a gradient refuses results of atomics.
    """
    builder, type = frame.builder, target.leaf().type
    old = None if frame.is_lone else ir.Local("old", type)
    if old is not None:
        builder.put(ir.Set(old, ir.Const(0, type), builder.loc))

    def change(part: Any) -> None:
        one = component_atomic if isinstance(part, Component) else scalar_atomic
        found = one(frame, kind, part, *values)
        if old is not None:
            builder.put(ir.Set(old, found, builder.loc))

    at_chosen_part(frame, target, change)
    return None if old is None else builder.put(ir.Get(old, builder.loc))


def scalar_atomic(frame: Frame, kind: str, target: Any, *values: Any) -> Any:
    """Emit the atomic on a scalar; return the previous value."""
    builder = frame.builder
    if not isinstance(target, (Element, ir.Local)):
        raise compile_error(
            CompileSyntaxError, builder.loc, f"cg.atomic_{kind} takes a place in memory, not {describe(target)}",
            "the first argument must be a place that can be assigned to: x[i]",
        )  # fmt: skip
    type = target.array.element if isinstance(target, Element) else target.type
    if kind in ("and", "or", "xor", "cas") and type.kind == "float":
        raise compile_error(
            CompileTypeError,
            builder.loc,
            f"cg.atomic_{kind} takes integers, not {type}",
            "use an array of integers, or cg.bit_cast",
        )
    given = [frame.scalar(each) for each in values]
    note_assigned(frame, target, given[-1].type, given[-1])
    casted = [fit(frame, each, target, as_operand=True) for each in given]
    if isinstance(target, ir.Local) and not is_shared(frame, target):
        return plain_update(frame, kind, target, casted)
    return changed_atomically(frame, kind, target, *casted)


def changed_atomically(frame: Frame, kind: str, target: Any, *values: ir.Value) -> ir.Value:
    """Emit an atomic with values of the type of its place; return the previous value."""
    builder, value = frame.builder, values[-1]
    compare = values[0] if kind == "cas" else None
    if kind == "sub":
        old = builder.put(atomic_of("add", target, builder.op("neg", value), builder.loc))
    else:
        old = builder.put(atomic_of(kind, target, value, builder.loc, compare))
    builder.check_update(kind, old, value)
    return old


OPERATORS = {"add": "Add", "sub": "Sub", "mul": "Mult", "and": "BitAnd", "or": "BitOr", "xor": "BitXor"}


def plain_update(frame: Frame, kind: str, target: ir.Local, values: list[ir.Value]) -> ir.Value:
    """Emit the operation without atomicity, on a variable of this thread; return the previous value."""
    builder = frame.builder
    old, changed = frame.read(target), values[-1]
    if kind in OPERATORS:
        changed = builder.binary(OPERATORS[kind], old, changed)
    elif kind in ("min", "max"):
        changed = builder.op(kind, *builder.promoted(old, changed))
    elif kind == "cas":
        changed = builder.op("select", builder.compare("Eq", old, values[0]), changed, old)
    assign_lvalue(frame, target, changed)
    return old


def atomic_of(
    kind: str, target: Any, value: ir.Value, loc: ir.Loc | None, compare: ir.Value | None = None
) -> ir.Atomic:
    if isinstance(target, ir.Local):
        return ir.Atomic(kind, target, (), value, compare, loc)
    return ir.Atomic(kind, target.array, target.index, value, compare, loc)
