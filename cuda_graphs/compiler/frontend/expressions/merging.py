# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""One value for several that come from different paths: of conditional expressions, and of functions with returns in
branches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

from cuda_graphs.compiler.errors import CompileReturnError, CompileTypeError, compile_error
from cuda_graphs.compiler.frontend.frame.frame import Frame
from cuda_graphs.compiler.frontend.frame.paths import Paths, ReturnPoint
from cuda_graphs.compiler.frontend.frame.values import Struct, Vector, describe
from cuda_graphs.compiler.frontend.frame.weak_types import join
from cuda_graphs.compiler.frontend.precision import convert_implicitly
from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.ir.types import ScalarType, bool_

from .numbers import in_type, is_source_number

__all__ = ["is_number", "joined_result", "merged", "zero"]


def merged(frame: Frame, values: Sequence[Any], choose: Callable[[Sequence[Any]], Any], what: str) -> Any:
    """Return one value of the structure that all values have. `choose` makes one number of those of all values.

    Args:
        what: The places that the values come from, for the error: "branch", "return".
    """
    first = values[0]
    if all(is_number(each) for each in values):
        return choose(values)
    if all(isinstance(each, Vector) and each.shape == getattr(first, "shape", None) for each in values):
        parts = zip(*(each.components for each in values), strict=True)
        return Vector(tuple(merged(frame, each, choose, what) for each in parts))
    if all(isinstance(each, tuple) and len(each) == len(first) for each in values):
        return tuple(merged(frame, each, choose, what) for each in zip(*values, strict=True))
    if all(isinstance(each, Struct) and each.cls is first.cls for each in values):
        members = {n: merged(frame, [v.members[n] for v in values], choose, what) for n in first.members}
        return Struct(first.cls, members)
    if all(each is first for each in values):
        return first
    other = next(each for each in values if each is not first and not same_kind(each, first))
    raise compile_error(
        CompileTypeError,
        frame.builder.loc,
        f"one {what} gives {describe(first)}, {'the other' if len(values) == 2 else 'another'} {describe(other)}",
        "give numbers, vectors of one shape, instances of one class, or tuples of these",
    )


def is_number(value: Any) -> bool:
    return isinstance(value, ir.Value) or is_source_number(value)


def same_kind(a: Any, b: Any) -> bool:
    """Return whether two values can be merged as far as their kinds tell."""
    if isinstance(a, Vector) and isinstance(b, Vector):
        return a.shape == b.shape
    return is_number(a) and is_number(b)


def zero(type: ScalarType) -> ir.Const:
    return ir.Const(False if type == bool_ else 0, type)


def joined_result(frame: Frame, convert: Callable[[Any], Any]) -> Any:
    """Return the result of a function from all of its returns, and emit what makes it.

    Args:
        convert: Converts a returned value as the function declares it.
    """
    points: list[ReturnPoint] = frame.returns
    if len(points) == 1 and points[0].block is frame.root_block:
        return convert(points[0].value)
    if not points:
        return convert(None)
    emitted = [ir.Block() for _ in points]
    values = [converted(frame, each, block, convert) for each, block in zip(points, emitted, strict=True)]
    is_complete = frame.path is Paths.ENDED
    if not is_complete or any(each is None for each in values):
        check_no_values(frame, points, values, is_complete)
    result, before = None, ir.Block()
    if values[0] is not None:
        frame.builder.loc = points[-1].loc
        result = merged(frame, values, lambda numbers: variable(frame, numbers, before, emitted), "return")
    if frame.tests_return:
        before.body.append(ir.Set(frame.has_returned, ir.FALSE, frame.builder.loc))
    for point, block in zip(points, emitted, strict=True):
        if frame.tests_return:
            block.body.append(ir.Set(frame.has_returned, ir.TRUE, point.loc))
        point.block.body[point.position : point.position] = block.body
    frame.root_block.body[frame.start : frame.start] = before.body
    return frame.read(result)


def converted(frame: Frame, point: ReturnPoint, block: ir.Block, convert: Callable[[Any], Any]) -> Any:
    frame.builder.loc = point.loc
    with frame.builder.into(block):
        return convert(point.value)


def check_no_values(frame: Frame, points: list[ReturnPoint], values: list[Any], is_complete: bool) -> None:
    """Raise if only some paths of a function return a value."""
    valued = [point for point, value in zip(points, values, strict=True) if value is not None]
    if valued:
        without = "another return has none" if is_complete else "the end of the function returns none"
        raise compile_error(
            CompileReturnError,
            valued[0].loc,
            f"this return has a value, and {without}",
            "return a value on each path",
        )


def variable(frame: Frame, numbers: Sequence[Any], before: ir.Block, blocks: list[ir.Block]) -> ir.Local:
    """Return a variable of the joined type that each block sets to its number. `before` has its first value."""
    builder = frame.builder
    values = [frame.scalar(each) for each in numbers]
    type = reduce(join, [each.type for each in values])
    local = frame.weak_types.declare_made(builder.loc, "result", type, *values) or ir.Local("result", type)
    before.body.append(ir.Set(local, zero(local.type), builder.loc))
    for number, value, block in zip(numbers, values, blocks, strict=True):
        with builder.into(block):
            found = (
                in_type(frame, "the result", number, local.type)
                if is_source_number(number)
                else convert_implicitly(frame, value, local.type, "the result")
            )
            builder.put(ir.Set(local, found, builder.loc))
    return local
