# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""`with cg.checkpoint(label, yield_on=flag):`, and loops that are checkpoints without a label.

Each checkpoint becomes a Conditional that runs or is skipped. The code before it decides that (checkpoint_state.py).
"""

from __future__ import annotations

import ast
from enum import IntEnum
from typing import Any

from cuda_graphs.compiler.errors import CompileCheckpointError, compile_error
from cuda_graphs.compiler.frontend.expressions.lvalues import python_value
from cuda_graphs.compiler.frontend.frame.frame import Frame
from cuda_graphs.compiler.frontend.frame.graph_state import Checkpoints, GraphState
from cuda_graphs.compiler.frontend.frame.values import describe
from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.language.free_names import dotted

from .checkpoint_state import begin_checkpoint, checkpoints_of, end_checkpoint, new_number
from .graph_flow import flag_of, new_condition, set_condition, task_block

__all__ = ["check_bare", "checkpoint", "put_loop"]

BARE = (ir.Store, ir.Set, ir.Atomic, ir.If, ir.While, ir.Print, ir.Assert)


def checkpoint(frame: Frame, node: ast.With, graph_state: GraphState) -> None:
    """Translate a checkpoint with a label."""
    loc, checkpoints = frame.builder.loc, graph_state.checkpoints
    if checkpoints is None:
        raise compile_error(
            CompileCheckpointError, loc, "cg.checkpoint is for kernels with checkpoints",
            "write @cg.kernel(graph=True, checkpoints=True)",
        )  # fmt: skip
    if checkpoints.current is not None:
        raise compile_error(
            CompileCheckpointError, loc, "cg.checkpoint is in another one", "put one after the other"
        )
    if not frame.parallel_level or frame.parallel:
        raise compile_error(
            CompileCheckpointError, loc, "cg.checkpoint is not at the kernel top level",
            "put it there, or directly into cg.graph_do_while and its kin: not into a for, a while or an if",
        )  # fmt: skip
    call = node.items[0].context_expr
    assert isinstance(call, ast.Call)
    label, flag = arguments(frame, call)
    number = new_number(checkpoints, *label_of(frame, label, checkpoints))
    found = None if flag is None else flag_of(frame, flag, "yield_on of cg.checkpoint")
    frame.builder.loc = loc
    condition, block = new_condition(frame), ir.Block()
    set_condition(frame, condition, begin_checkpoint(frame, checkpoints, number))
    checkpoints.current = block
    try:
        with task_block(frame, block):
            frame.run(node.body)
            frame.builder.loc = loc
            if found is not None:
                end_checkpoint(frame, checkpoints, number, found)
    finally:
        checkpoints.current = None
    frame.builder.loc = loc
    frame.builder.put(ir.Conditional("if", condition, (block,), loc))


def arguments(frame: Frame, call: ast.Call) -> tuple[ast.expr, ast.expr | None]:
    """Return the syntax trees of the label and of the flag, or None without a flag."""
    given = dict(zip(("label", "yield_on"), call.args))
    named = {each.arg: each.value for each in call.keywords if each.arg is not None}
    all_named = len(named) == len(call.keywords)
    matches_declared = (
        all_named
        and len(call.args) <= 2
        and not set(given) & set(named)
        and {*given, *named} <= {"label", "yield_on"}
    )
    values = {**given, **named}
    if (
        not matches_declared
        or "label" not in values
        or any(isinstance(each, ast.Starred) for each in call.args)
    ):
        raise compile_error(
            CompileCheckpointError, frame.builder.loc, "cg.checkpoint takes a label, and a flag if it may yield",
            "with cg.checkpoint(label, yield_on=flag):",
        )  # fmt: skip
    flag = values.get("yield_on")
    return values["label"], None if isinstance(flag, ast.Constant) and flag.value is None else flag


def label_of(frame: Frame, node: ast.expr, checkpoints: Checkpoints) -> tuple[int, str | None]:
    """Return the label, a number of the source or a member of an IntEnum, and the member's name in the source."""
    found = node.value if isinstance(node, ast.Constant) else python_value(frame, frame.visit(node))
    frame.at(node)
    if type(found) is not int and not isinstance(found, IntEnum):
        what = repr(found) if isinstance(node, ast.Constant) else describe(found)
        raise compile_error(
            CompileCheckpointError, frame.builder.loc, f"the label of cg.checkpoint is {what}",
            "it must be an integer, or a member of an enum.IntEnum",
        )  # fmt: skip
    if any(label == found for label, _ in checkpoints.found):
        raise compile_error(
            CompileCheckpointError, frame.builder.loc, f"the label {found!r} is used twice",
            "give each checkpoint a label of its own",
        )  # fmt: skip
    return int(found), dotted(node) if isinstance(found, IntEnum) else None


def check_bare(frame: Frame, node: ast.stmt) -> None:
    """Raise if a statement directly in a checkpoint made neither a loop nor control flow between tasks."""
    graph_state = frame.root.graph_state
    checkpoints = None if graph_state is None else graph_state.checkpoints
    block = frame.builder.block
    if checkpoints is None or checkpoints.current is not block or not isinstance(block.body[-1], BARE):
        return
    frame.at(node)
    raise compile_error(
            CompileCheckpointError, frame.builder.loc, "a checkpoint holds only loops and control flow between tasks",
        "put the statement into a loop, `for _ in range(1):`, or before or after cg.checkpoint",
    )  # fmt: skip


def put_loop(frame: Frame, loop: ir.For) -> None:
    """Append a `for`. At the top level of a kernel with checkpoints it becomes a checkpoint without a label."""
    checkpoints: Any = checkpoints_of(frame) if frame.parallel_level and not frame.parallel else None
    if checkpoints is None:
        frame.builder.put(loop)
        return
    condition = new_condition(frame)
    outer, frame.builder.loc = frame.builder.loc, loop.loc
    set_condition(frame, condition, begin_checkpoint(frame, checkpoints, new_number(checkpoints, None, None)))
    frame.builder.put(ir.Conditional("if", condition, (ir.Block([loop]),), loop.loc))
    frame.builder.loc = outer
