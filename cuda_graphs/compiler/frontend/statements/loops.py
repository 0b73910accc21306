# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""`for` loops: the objects that can be iterated over, and the conditions for parallel loops."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from cuda_graphs.compiler.errors import (
    CompileArgumentError,
    CompileLoopError,
    CompileStaticError,
    CompileSyntaxError,
    CompileTypeError,
    CompileValueError,
    fail,
    warn,
)
from cuda_graphs.compiler.frontend.expressions.lvalues import (
    extent,
    field_or_value,
    integer,
    python_value,
)
from cuda_graphs.compiler.frontend.expressions.values import Element, IndexRange, Static, Stride, Vector
from cuda_graphs.compiler.frontend.functions import Frame, kind_of
from cuda_graphs.compiler.frontend.scope import Scope
from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.ir.types import ScalarType, i8, i16, i32, i64, promote, u64

from .blocks import team_of

MANY = 32  # iterations that are unrolled without a warning
MOST_UNROLLED = 1_000_000


def iterate(frame: Frame, node: ast.For) -> None:
    """Translate a for statement."""
    what = frame.visit(node.iter)
    if isinstance(what, Static):
        unroll(frame, node, what.value)
        return
    if isinstance(what, ir.Array):
        outer = what.ndim - len(what.inner)
        what = IndexRange(tuple((ir.Const(0, i32), extent(frame, what, axis), 1) for axis in range(outer)))
    if not isinstance(what, IndexRange):
        raise fail(
            CompileTypeError, frame.builder.loc, f"cannot iterate over {kind_of(what)}",
            "iterate over range, cg.ndrange, an array, or cg.static(...)",
        )  # fmt: skip
    if not what.axes:
        raise fail(
            CompileTypeError, frame.builder.loc, "there are no dimensions to iterate over",
            "x[()] is the element of an array x without dimensions",
        )  # fmt: skip
    loop(frame, node, what)


def unroll(frame: Frame, node: ast.For, items: Any) -> None:
    from .statements import LeaveStatic, bind

    try:
        items = list(itertools.islice(items, MOST_UNROLLED + 1))
    except TypeError:
        raise fail(
            CompileTypeError,
            frame.builder.loc,
            f"cannot iterate over {kind_of(items)}",
            "cg.static(range(3)) is iterable",
        ) from None
    except ValueError as error:
        raise fail(
            CompileStaticError,
            frame.builder.loc,
            f"cg.static: {error}",
            "loop over range(x.shape[0]) instead",
        ) from None
    unused_settings(frame)
    check_count(frame, items)
    if len(items) > MANY:
        warn(
            frame.builder.loc, f"a loop over cg.static is unrolled {len(items)} times, which takes long to compile",
            "Loop without cg.static where the loop variable need not be known when compiling",
        )  # fmt: skip
    outer = frame.scope
    frame.loops.append(frame.builder.block)
    for item in items:
        frame.scope = Scope(outer)
        if isinstance(item, (ir.Value, Vector)):
            bind(frame, node.target, item)
        else:
            bind_static(frame, node.target, item)
        try:
            frame.run(node.body)
        except LeaveStatic as leave:
            if leave.args == ("break",):
                break
        finally:
            frame.scope = outer
    frame.loops.pop()


def bind_static(frame: Frame, target: ast.expr, item: Any) -> None:
    if isinstance(target, ast.Name):
        frame.scope.names[target.id] = field_or_value(frame, item)
        return
    parts = parts_of(item)
    if isinstance(target, (ast.Tuple, ast.List)) and len(target.elts) == len(parts):
        for each, part in zip(target.elts, parts, strict=True):
            bind_static(frame, each, part)
    else:
        raise fail(
            CompileLoopError,
            frame.builder.loc,
            "the loop variables do not fit the items",
            "write as many names as each item has parts",
        )


def parts_of(item: Any) -> tuple[Any, ...]:
    """Return the parts of an iterable; (item,) for other values."""
    try:
        return tuple(item)
    except TypeError:
        return (item,)


def check_count(frame: Frame, items: Any) -> None:
    """Raise for a list of too many items to unroll."""
    if items[MOST_UNROLLED:]:
        raise fail(
            CompileStaticError, frame.builder.loc, f"a loop over cg.static is unrolled more than {MOST_UNROLLED} times",
            "loop without cg.static where the loop variable need not be known when compiling",
        )  # fmt: skip


def loop(frame: Frame, node: ast.For, what: IndexRange) -> None:
    from .checkpoints import put_loop

    loc = frame.builder.loc
    settings = settings_of(frame)
    names = targets(frame, node.target, what)
    axes = tuple(axis(frame, name, *bounds) for name, bounds in zip(names, what.axes, strict=True))
    parallel = frame.parallel_level and not settings.serialize
    body = ir.Block()
    team = team_of(settings, what) if parallel else frame.root.team
    outer_team, frame.root.team = frame.root.team, team
    outer = frame.parallel, frame.loops, frame.outer_scope, frame.parallel_loops
    frame.loops = [*frame.loops, None]
    if parallel:
        frame.parallel, frame.loops, frame.outer_scope, frame.parallel_loops = True, [None], frame.scope, 1
    with frame.block(body):
        indices = [
            each.index if what.stride is None else strided(frame, what.stride, each.index) for each in axes
        ]
        if what.grouped and isinstance(node.target, ast.Name):
            frame.scope.names[node.target.id] = Vector(tuple(indices))
        else:
            frame.scope.names.update({name: i for name, i in zip(names, indices, strict=True) if name != "_"})
        frame.run(node.body)
    frame.parallel, frame.loops, frame.outer_scope, frame.parallel_loops = outer
    frame.root.team = outer_team
    blocks = team.threads() if parallel else 0
    if what.block_dim is not None:
        settings = ir.replace(settings, block_dim=what.block_dim)
    put_loop(frame, ir.For(axes, body, parallel, settings, loc, blocks))


def targets(frame: Frame, target: ast.expr, what: IndexRange) -> list[str]:
    """Return the names of the loop variables."""
    nodes = [target] if isinstance(target, ast.Name) else list(getattr(target, "elts", ()))
    if what.grouped and isinstance(target, ast.Name):
        names = [target.id] * len(what.axes)
    elif not nodes or not all(isinstance(node, ast.Name) for node in nodes):
        raise fail(
            CompileLoopError, frame.builder.loc, "a loop variable is a name", "write `for i, j in ...`"
        )
    elif len(nodes) != len(what.axes):
        count = len(what.axes)
        raise fail(
            CompileLoopError, frame.builder.loc, f"{len(nodes)} loop variables for {count} dimensions",
            f"write `for {', '.join('ijklmn'[:count])} in ...`, or cg.grouped for one index vector",
        )  # fmt: skip
    else:
        names = [node.id for node in nodes]
    for name in names:
        if name != "_" and frame.scope.find(name) is not None:
            raise fail(
                CompileLoopError,
                frame.builder.loc,
                f"the loop variable {name!r} is already defined",
                "take a new name",
            )
    return names


def axis(frame: Frame, name: str, begin: ir.Value, end: ir.Value, step: int) -> ir.Axis:
    builder = frame.builder
    type = index_type(frame, begin, end)
    return ir.Axis(
        ir.LoopIndex(name, type, builder.loc), as_index(frame, begin, type), as_index(frame, end, type), step
    )


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
        raise fail(
            CompileArgumentError,
            frame.builder.loc,
            "range takes 1 to 3 numbers",
            "range(n), range(begin, end), range(begin, end, step)",
        )
    bounds = [bound(frame, each) for each in args[:2]]
    begin, end = bounds if len(bounds) == 2 else (ir.Const(0, bounds[0].type), bounds[0])
    step = python_value(frame, args[2]) if len(args) == 3 else 1
    if isinstance(step, (ir.Value, ir.Local, Element)):
        return counted_range(frame, begin, end, integer(frame, step, "the step of a range"))
    if type(step) is not int or step == 0:
        raise fail(
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


def strided(frame: Frame, stride: Stride, index: ir.Value) -> ir.Value:
    """Return the loop variable of a range with a run-time step."""
    builder = frame.builder
    way = builder.op("mul", builder.cast(index, i64), stride.step)
    return builder.cast(builder.op("add", stride.begin, way), stride.type)


def bound(frame: Frame, found: Any) -> ir.Value:
    return integer(frame, found, "a bound")


def ndrange_call(frame: Frame, *args: Any) -> IndexRange:
    axes = []
    for each in args:
        pair = each if isinstance(each, tuple) else (0, each)
        if len(pair) != 2:
            raise fail(
                CompileSyntaxError,
                frame.builder.loc,
                "each dimension of ndrange is n or (begin, end)",
                "cg.ndrange(n, (begin, end))",
            )
        axes.append((bound(frame, pair[0]), bound(frame, pair[1]), 1))
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
            "cg.grouped(cg.ndrange(n, m))",
        )
    return replace(what, grouped=True)


def loop_config(
    frame: Frame, block_dim: Any = None, serialize: Any = False, parallelize: Any = None, name: Any = None
) -> None:
    """Set the configuration of the next loop of this function."""
    given = [python_value(frame, each) for each in (block_dim, serialize, parallelize, name)]
    for (what, fits, remedy), value in zip(SETTINGS, given, strict=True):
        if not fits(value):
            shown = (
                "known at run time only" if isinstance(value, (ir.Value, ir.Local, Element)) else repr(value)
            )
            raise fail(CompileValueError, frame.builder.loc, f"{what} is {shown}", remedy)
    unused_settings(frame)
    settings = ir.LoopSettings(*given)
    if settings.serialize and settings.parallelize:
        raise fail(
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


def settings_of(frame: Frame) -> ir.LoopSettings:
    """Return the settings of cg.loop_config for the loop that begins here."""
    found, frame.next_loop = frame.next_loop, None
    return ir.LoopSettings() if found is None else found[0]


def unused_settings(frame: Frame) -> None:
    """Raise if no loop has used the settings of the last cg.loop_config."""
    if frame.next_loop is not None:
        raise fail(
            CompileLoopError, frame.next_loop[1], "cg.loop_config is not followed by a loop that it could configure",
            "put it right before a `for` over range, cg.ndrange, cg.grouped or an array, in the same function",
        )  # fmt: skip
