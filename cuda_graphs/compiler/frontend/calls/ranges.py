# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The ranges of `for` statements (range, cg.ndrange and cg.grouped), and the settings of cg.loop_config."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from cuda_graphs.compiler.errors import (
    CompileArgumentError,
    CompileLoopError,
    CompileSyntaxError,
    CompileTypeError,
    CompileValueError,
    compile_error,
)
from cuda_graphs.compiler.frontend.expressions.lvalues import integer, python_value
from cuda_graphs.compiler.frontend.expressions.struct_elements import extents_of, is_array
from cuda_graphs.compiler.frontend.frame.frame import Frame
from cuda_graphs.compiler.frontend.frame.values import Element, IndexRange, Stride, describe
from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.ir.types import ScalarType, i8, i16, i32, i64, promote, u64


def index_type(frame: Frame, begin: ir.Value, end: ir.Value) -> ScalarType:
    """Return the type of a loop variable. It holds all values of both bounds' types, as Python's integers do."""
    a, b = begin.type, end.type
    for one, other in ((begin, b), (end, a)):
        if isinstance(one, ir.Const) and one.value >= 0 and other.kind == "uint":
            a = b = promote(one.type, other) if one.value > other.maximum else other
    if a.kind == b.kind:
        return promote(a, b)
    signed, unsigned = (a, b) if a.kind == "int" else (b, a)
    return next((t for t in (i8, i16, i32) if t.size > unsigned.size and t.size >= signed.size), i64)


def as_index(frame: Frame, value: ir.Value, type: ScalarType) -> ir.Value:
    """Return a bound in the loop variable's type. A u64 above i64 becomes the largest i64: no loop comes that far."""
    if value.type == u64 and type == i64:
        value = frame.builder.op("min", value, ir.Const(i64.maximum, u64, frame.builder.loc))
    return frame.builder.cast(value, type)


def range_call(frame: Frame, *args: Any) -> IndexRange:
    if not 1 <= len(args) <= 3:
        raise compile_error(
            CompileArgumentError,
            frame.builder.loc,
            "range takes 1 to 3 numbers",
            "range(n), range(begin, end), range(begin, end, step)",
        )
    bounds = [whole_bound(frame, each) for each in args[:2]]
    begin, end = bounds if len(bounds) == 2 else (ir.Const(0, bounds[0].type), bounds[0])
    step = python_value(frame, args[2]) if len(args) == 3 else 1
    if isinstance(step, (ir.Value, ir.Local, Element)):
        return counted_range(frame, begin, end, integer(frame, step, "the step of a range"))
    if type(step) is not int or step == 0:
        raise compile_error(
            CompileValueError,
            frame.builder.loc,
            f"the step of a range is {step!r}",
            "an integer that is not 0",
        )
    return IndexRange(((begin, end, step),))


def counted_range(frame: Frame, begin: ir.Value, end: ir.Value, step: ir.Value) -> IndexRange:
    """Return a range whose step is known only at run time, as a count of iterations.

    The distance of any two bounds fits into u64. A range of step 0 is empty.
    """
    builder = frame.builder
    type = index_type(frame, begin, end)
    begin, end, step = as_index(frame, begin, type), as_index(frame, end, type), as_index(frame, step, i64)
    zero, one, none = builder.const(0, i64), builder.const(1, u64), builder.const(0, u64)
    moves = builder.op("not_equal", step, zero)
    builder.put(ir.Assert(moves, ("the step of a range is 0",), builder.loc))
    rises = builder.op("less", zero, step)
    low, high = (builder.op("select", rises, *pair) for pair in ((begin, end), (end, begin)))
    gap = builder.op("sub", builder.cast(high, u64), builder.cast(low, u64))
    size = builder.cast(builder.op("select", rises, step, builder.op("neg", step)), u64)
    count = builder.op("add", builder.op("floor_div", builder.op("sub", gap, one), size), one)
    some = builder.op("bit_and", moves, builder.op("less", low, high))
    count = as_index(frame, builder.op("select", some, count, none), i64)
    return IndexRange(((zero, count, 1),), stride=Stride(builder.cast(begin, i64), step, type))


def whole_bound(frame: Frame, found: Any) -> ir.Value:
    """Return a bound of a range. Lenient rules drop the fraction of a float."""
    found = frame.read(found)
    if frame.rules.lenient and isinstance(found, ir.Value) and found.type.kind == "float":
        found = frame.builder.cast(found, frame.rules.int)
    return bound(frame, found)


def bound(frame: Frame, found: Any) -> ir.Value:
    return integer(frame, found, "a bound")


def indices_of(frame: Frame, array: Any) -> IndexRange:
    """Return the indices of an array. An array without dimensions has one, ()."""
    axes: tuple[Any, ...] = tuple((ir.Const(0, i32), end, 1) for end in extents_of(frame, array))
    offset = getattr(array, "offset", None)
    if offset is not None:
        axes = tuple(moved(*pair) for pair in zip(axes, offset, strict=True))
    return IndexRange(axes) if axes else IndexRange(((ir.Const(0, i32), ir.Const(1, i32), 1),), is_point=True)


def moved(axis: tuple[Any, Any, int], first: int) -> tuple[ir.Value, ir.Value, int]:
    """Return an axis of a field, whose extents are known, from its first index on."""
    begin, end, step = axis
    return ir.Const(begin.value + first, i32), ir.Const(end.value + first, i32), step


def ndrange_call(frame: Frame, *args: Any, axes: Any = None) -> IndexRange:
    found = []
    for each in args:
        pair = each if isinstance(each, tuple) else (0, each)
        if len(pair) != 2:
            raise compile_error(
                CompileSyntaxError,
                frame.builder.loc,
                "each dimension of ndrange is n or (begin, end)",
                "cg.ndrange(n, (begin, end))",
            )
        found.append((bound(frame, pair[0]), bound(frame, pair[1]), 1))
    return IndexRange(tuple(found), order=None if axes is None else order_of(frame, axes, len(found)))


def order_of(frame: Frame, axes: Any, count: int) -> tuple[int, ...]:
    """Return the order of the dimensions of an ndrange: all their numbers, each once."""
    order = python_value(frame, axes)
    order = (
        tuple(python_value(frame, each) for each in order) if isinstance(order, (tuple, list)) else (order,)
    )
    if not all(type(each) is int for each in order) or sorted(order) != list(range(count)):
        raise compile_error(
            CompileValueError, frame.builder.loc, f"axes of ndrange has not each number from 0 to {count - 1} once",
            "cg.ndrange(n, m, axes=(1, 0)): the outermost loop comes first",
        )  # fmt: skip
    return order


def grouped(frame: Frame, what: Any) -> IndexRange:
    if is_array(what):
        return replace(indices_of(frame, what), grouped=True)
    if not isinstance(what, IndexRange):
        raise compile_error(
            CompileTypeError,
            frame.builder.loc,
            f"cg.grouped takes cg.ndrange(...) or an array, not {describe(what)}",
            "cg.grouped(cg.ndrange(n, m))",
        )
    return replace(what, grouped=True)


def loop_config(
    frame: Frame, block_dim: Any = None, serialize: Any = False, parallelize: Any = None, name: Any = None
) -> None:
    """Set the configuration of the next loop of this function."""
    given = [python_value(frame, each) for each in (block_dim, serialize, parallelize, name)]
    for (what, is_valid, remedy), value in zip(SETTINGS, given, strict=True):
        if not is_valid(value):
            shown = (
                "known at run time only" if isinstance(value, (ir.Value, ir.Local, Element)) else repr(value)
            )
            raise compile_error(CompileValueError, frame.builder.loc, f"{what} is {shown}", remedy)
    frame.require_no_settings()
    settings = ir.LoopSettings(*given)
    if settings.serialize and settings.parallelize:
        raise compile_error(
            CompileLoopError, frame.builder.loc, "a loop that is serialized runs on one thread",
            "leave out serialize, or parallelize",
        )  # fmt: skip
    frame.next_loop = settings, frame.builder.loc


def is_count(limit: int) -> Callable[[Any], bool]:
    return lambda value: value is None or (type(value) is int and 1 <= value <= limit)


# (name, test of the value, remedy) of each argument of cg.loop_config.
SETTINGS: tuple[tuple[str, Callable[[Any], bool], str], ...] = (
    ("block_dim", is_count(1024), "a number from 1 to 1024"),
    ("serialize", lambda value: isinstance(value, bool), "True or False"),
    ("parallelize", is_count(1 << 16), "the largest number of CPU threads: a number from 1 to 65536"),
    ("name", lambda value: value is None or (isinstance(value, str) and value.isidentifier()),
     "a name that a function could have"),
)  # fmt: skip
