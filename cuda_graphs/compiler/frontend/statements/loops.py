# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""`for` and `while`, `break` and `continue`, and the conditions for parallel loops."""

from __future__ import annotations

import ast
import itertools
from functools import partial
from typing import Any

from cuda_graphs.compiler import errors
from cuda_graphs.compiler.errors import (
    CompileLoopError,
    CompileReturnError,
    CompileStaticError,
    CompileTypeError,
    compile_error,
)
from cuda_graphs.compiler.frontend.calls.ranges import as_index, index_type, indices_of
from cuda_graphs.compiler.frontend.expressions.assignment import bind, read_all
from cuda_graphs.compiler.frontend.expressions.expressions import items_of
from cuda_graphs.compiler.frontend.expressions.static_loops import MAX_UNROLLED, bind_static, check_count
from cuda_graphs.compiler.frontend.expressions.struct_elements import is_array
from cuda_graphs.compiler.frontend.frame.frame import Frame
from cuda_graphs.compiler.frontend.frame.parallel_loop import ParallelLoop
from cuda_graphs.compiler.frontend.frame.paths import Paths
from cuda_graphs.compiler.frontend.frame.scope import Scope
from cuda_graphs.compiler.frontend.frame.values import (
    PLACES,
    IndexRange,
    Static,
    Stride,
    Vector,
    VectorElement,
    describe,
)
from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.ir.types import i64

from .checkpoints import put_loop
from .graph_flow import conditional, conditional_word

WARN_UNROLLED = 32  # iterations that are unrolled without a warning


def iterate(frame: Frame, node: ast.For) -> None:
    """Translate a for statement."""
    range_ = frame.visit(node.iter)
    if isinstance(range_, Static):
        unroll(frame, node, range_.value)
        return
    if isinstance(range_, (tuple, list, dict, Vector, VectorElement)):
        unroll(frame, node, read_all(frame, items_of(frame, range_)))
        return
    if is_array(range_):
        range_ = indices_of(frame, range_)
    if not isinstance(range_, IndexRange):
        raise compile_error(
            CompileTypeError, frame.builder.loc, f"cannot iterate over {describe(range_)}",
            "iterate over range, as in range(part.shape[0]), cg.ndrange, an array, or cg.static(...)",
        )  # fmt: skip
    if not range_.axes:
        raise compile_error(
            CompileTypeError, frame.builder.loc, "there are no dimensions to iterate over",
            "x[()] is the element of an array x without dimensions",
        )  # fmt: skip
    loop(frame, node, range_)


def unroll(frame: Frame, node: ast.For, items: Any) -> None:
    try:
        items = list(itertools.islice(items, MAX_UNROLLED + 1))
    except TypeError:
        raise compile_error(
            CompileTypeError,
            frame.builder.loc,
            f"cannot iterate over {describe(items)}",
            "cg.static(range(3)) is iterable",
        ) from None
    except ValueError as error:
        raise compile_error(
            CompileStaticError,
            frame.builder.loc,
            f"cg.static: {error}",
            "loop over range(x.shape[0]) instead",
        ) from None
    frame.require_no_settings()
    check_count(frame, items)
    if len(items) > WARN_UNROLLED:
        errors.warn(
            frame.builder.loc, f"a loop over cg.static is unrolled {len(items)} times, which takes long to compile",
            "Loop without cg.static where the loop variable need not be known when compiling",
        )  # fmt: skip
    left: list[str] = []

    def iteration(item: Any) -> None:
        outer = frame.scope
        frame.scope = Scope(outer)
        if isinstance(item, PLACES) and not isinstance(item, ir.Const):
            bind(frame, node.target, frame.read(item))
        else:
            bind_static(frame, node.target, item)
        try:
            frame.run(node.body)
        except LeaveStatic as leave:
            left.extend(leave.args)
        finally:
            frame.scope = outer

    frame.loops.append(frame.builder.block)
    frame.sequence(partial(iteration, item) for item in items if "break" not in left)
    frame.loops.pop()


def loop(frame: Frame, node: ast.For, range_: IndexRange) -> None:
    loc = frame.builder.loc
    settings = settings_of(frame)
    names = ["_"] if range_.is_point else targets(frame, node.target, range_)
    axes = tuple(axis(frame, name, *bounds) for name, bounds in zip(names, range_.axes, strict=True))
    parallel = frame.parallel_level and not settings.serialize
    if frame.is_behind_return and not settings.serialize and not frame.in_run_time_loop():
        raise compile_error(
            CompileReturnError, loc, "a return before this loop depends on a value known at run time only, so that the "
            "loop would run on one thread", "put the test into the loop, or cg.loop_config(serialize=True) before it",
        )  # fmt: skip
    body, returns = ir.Block(), len(frame.returns)
    outer_loop = frame.root.parallel_loop
    if parallel:
        frame.root.parallel_loop = ParallelLoop(
            range_.block_dim or settings.block_dim, range_.block_dim is not None
        )
    outer = frame.parallel, frame.loops, frame.outer_scope, frame.parallel_loops
    frame.loops = [*frame.loops, None]
    if parallel:
        frame.parallel, frame.loops, frame.outer_scope, frame.parallel_loops = True, [None], frame.scope, 1
    with frame.block(body):
        indices = [
            each.index if range_.stride is None else strided(frame, range_.stride, each.index)
            for each in axes
        ]
        if range_.is_point:
            bind_static(frame, node.target, ())
        elif range_.grouped and isinstance(node.target, ast.Name):
            frame.scope.names[node.target.id] = Vector(tuple(indices))
        else:
            frame.scope.names.update({name: i for name, i in zip(names, indices, strict=True) if name != "_"})
        frame.run(node.body)
    frame.parallel, frame.loops, frame.outer_scope, frame.parallel_loops = outer
    blocks = frame.root.parallel_loop.threads() if parallel and frame.root.parallel_loop else 0
    frame.root.parallel_loop = outer_loop
    if range_.block_dim is not None:
        settings = ir.replace(settings, block_dim=range_.block_dim)
    if range_.order is not None:
        axes = tuple(axes[each] for each in range_.order)
    put_loop(frame, ir.For(axes, body, parallel, settings, loc, blocks))
    frame.path = Paths.GUARDED if len(frame.returns) > returns else None


def targets(frame: Frame, target: ast.expr, range_: IndexRange) -> list[str]:
    """Return the names of the loop variables."""
    nodes = [target] if isinstance(target, ast.Name) else list(getattr(target, "elts", ()))
    if range_.grouped and isinstance(target, ast.Name):
        names = [target.id] * len(range_.axes)
    elif not nodes or not all(isinstance(node, ast.Name) for node in nodes):
        raise compile_error(
            CompileLoopError, frame.builder.loc, "a loop variable is a name", "write `for i, j in ...`"
        )
    elif len(nodes) != len(range_.axes):
        count = len(range_.axes)
        raise compile_error(
            CompileLoopError, frame.builder.loc, f"{len(nodes)} loop variables for {count} dimensions",
            f"write `for {', '.join('ijklmn'[:count])} in ...`, or cg.grouped for one index vector",
        )  # fmt: skip
    else:
        names = [node.id for node in nodes]
    for name in names:
        if name != "_" and frame.scope.find(name) is not None:
            raise compile_error(
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


def strided(frame: Frame, stride: Stride, index: ir.Value) -> ir.Value:
    """Return the loop variable of a range with a run-time step."""
    builder = frame.builder
    way = builder.op("mul", builder.cast(index, i64), stride.step)
    return builder.cast(builder.op("add", stride.begin, way), stride.type)


def settings_of(frame: Frame) -> ir.LoopSettings:
    """Return the settings of cg.loop_config for the loop that begins here."""
    found, frame.next_loop = frame.next_loop, None
    return ir.LoopSettings() if found is None else found[0]


def while_statement(frame: Frame, node: ast.While, last: bool) -> None:
    word = conditional_word(frame, node.test)
    if word is not None:
        conditional(frame, node, word)
        return
    if node.orelse:
        raise compile_error(
            CompileLoopError, frame.builder.loc, "else of a loop is not supported in kernels", "use a flag"
        )
    frame.require_no_settings()
    loc = frame.builder.loc
    head, body, returns = ir.Block(), ir.Block(), len(frame.returns)
    frame.loops.append(None)
    with frame.block(head):
        test = frame.visit(node.test)
        if isinstance(test, Static):
            raise compile_error(
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
    if len(frame.returns) > returns:
        is_endless = isinstance(condition, ir.Const) and condition.value and not has_break(node.body)
        frame.path = Paths.ENDED if is_endless else Paths.GUARDED
    else:
        frame.path = None


def has_break(statements: list[ast.stmt]) -> bool:
    """Return whether a break leaves the loop around statements. That of an inner loop does not."""
    for each in statements:
        if isinstance(each, ast.Break):
            return True
        if isinstance(each, (ast.If, ast.With)) and has_break([*each.body, *getattr(each, "orelse", [])]):
            return True
    return False


def for_statement(frame: Frame, node: ast.For, last: bool) -> None:
    if node.orelse:
        raise compile_error(
            CompileLoopError, frame.builder.loc, "else of a loop is not supported in kernels", "use a flag"
        )
    iterate(frame, node)


class LeaveStatic(Exception):
    """A break or continue in a loop over cg.static, during its unrolling."""


def leave_loop(frame: Frame, node: ast.Break | ast.Continue, last: bool) -> None:
    kind = "break" if isinstance(node, ast.Break) else "continue"
    if not frame.loops and frame.root.graph_state is not None and frame.root.graph_state.depth:
        raise compile_error(
            CompileLoopError, frame.builder.loc, f"{kind} cannot leave a body of a graph kernel's control flow",
            "have the condition end the loop",
        )  # fmt: skip
    if not frame.loops:
        raise compile_error(
            CompileLoopError, frame.builder.loc, f"{kind} outside of a loop", "put it into a loop"
        )
    static = frame.loops[-1]
    if static is not None:
        if static is not frame.builder.block:
            raise compile_error(
                CompileLoopError, frame.builder.loc,
                f"{kind} of a loop over cg.static cannot depend on a value known at run time only",
                "decide with `if cg.static(...)`, or loop over range without cg.static",
            )  # fmt: skip
        raise LeaveStatic(kind)
    if kind == "break" and frame.in_parallel_loop():
        raise compile_error(
            CompileLoopError, frame.builder.loc, "cannot break out of a parallel loop: its iterations have no order",
            "put cg.loop_config(serialize=True) before it, or test a flag in the body",
        )  # fmt: skip
    frame.builder.put((ir.Break if kind == "break" else ir.Continue)(frame.builder.loc))
