# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""`with cg.graph_parallel():` and its sections, which become Sections.

A pass checks that the sections are independent of each other (passes/check_sections.py).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from cuda_graphs.compiler.errors import CompileError, CompileSectionError, compile_error
from cuda_graphs.compiler.frontend.frame.frame import Frame
from cuda_graphs.compiler.frontend.frame.graph_state import GraphState
from cuda_graphs.compiler.ir import ir

from .graph_flow import task_block

__all__ = ["parallel", "section"]

# The block and the position of each section in a region.
Region = list[tuple[ir.Block, ir.Loc]]


def no_arguments(frame: Frame, node: ast.With, name: str) -> None:
    call = node.items[0].context_expr
    if isinstance(call, ast.Call) and (call.args or call.keywords):
        raise compile_error(
            CompileSectionError, frame.builder.loc, f"cg.{name} takes no arguments", f"write `with cg.{name}():`"
        )  # fmt: skip


def parallel(frame: Frame, node: ast.With, graph_state: GraphState) -> None:
    """Translate a region, which contains only sections."""
    no_arguments(frame, node, "graph_parallel")
    loc = frame.builder.loc
    if graph_state.checkpoints is not None:
        raise compile_error(
            CompileSectionError, loc, "cg.graph_parallel is in a kernel with checkpoints, which need one order",
            "leave out checkpoints=True, or the sections",
        )  # fmt: skip
    if graph_state.in_section or graph_state.region is not None:
        raise compile_error(
            CompileSectionError, loc, "cg.graph_parallel is in another one",
            "put all sections into one, or one cg.graph_parallel after the other",
        )  # fmt: skip
    if not frame.parallel_level or frame.parallel:
        raise compile_error(
            CompileSectionError, loc, "cg.graph_parallel is not at the kernel top level",
            "put it there, or directly into cg.graph_do_while and its kin: not into a for, a while or an if",
        )  # fmt: skip
    for stranger in other_statements(node.body):
        raise only_sections(frame, stranger)
    scratch, region, loops = ir.Block(), [], frame.loops  # type: ignore[var-annotated]
    graph_state.region, frame.loops = region, []
    try:
        with frame.block(scratch, parallel_level=True):
            frame.run(node.body)
    finally:
        graph_state.region, frame.loops = None, loops
    frame.builder.loc = loc
    if region:
        blocks, locs = zip(*region, strict=True)
        frame.builder.put(ir.Sections(blocks, loc, locs))


def other_statements(statements: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield statements that a region cannot contain. A non-static `if` or `for` is found during translation."""
    for statement in statements:
        match statement:
            case ast.If():
                yield from other_statements([*statement.body, *statement.orelse])
            case ast.For():
                yield from other_statements(statement.body)
            case ast.With() | ast.Pass() | ast.Expr(ast.Constant(str())):
                pass
            case _:
                yield statement


def only_sections(frame: Frame, node: ast.AST) -> CompileError:
    frame.at(node)
    return compile_error(
        CompileSectionError, frame.builder.loc, "cg.graph_parallel holds sections only",
        "put the statement into `with cg.graph_section():`, or before or after cg.graph_parallel",
    )  # fmt: skip


def section(frame: Frame, node: ast.With, graph_state: GraphState) -> None:
    """Translate one section."""
    no_arguments(frame, node, "graph_section")
    loc, region = frame.builder.loc, graph_state.region
    if graph_state.in_section:
        raise compile_error(
            CompileSectionError, loc, "cg.graph_section is in another one", "put one after the other"
        )  # fmt: skip
    if region is None:
        raise compile_error(
            CompileSectionError, loc, "cg.graph_section is in no cg.graph_parallel",
            "put it directly into `with cg.graph_parallel():`",
        )  # fmt: skip
    if not frame.parallel_level or frame.parallel:
        raise compile_error(
            CompileSectionError, loc, "cg.graph_section depends on a value known at run time only",
            "decide with `if cg.static(...)` or `for ... in cg.static(...)` which sections there are, or put the if or "
            "for into the section",
        )  # fmt: skip
    block = ir.Block()
    graph_state.region, graph_state.in_section = None, True
    try:
        with task_block(frame, block):
            frame.run(node.body)
    finally:
        graph_state.region, graph_state.in_section = region, False
    region.append((block, loc))
