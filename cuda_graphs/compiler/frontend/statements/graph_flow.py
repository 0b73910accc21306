# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Statements that become Conditionals: `while cg.graph_do_while(flag)` and similar ones.

The code before the statement sets the condition. The end of a loop's body sets it again, after all effects of the body.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from cuda_graphs.compiler.errors import (
    CompileLoopError,
    CompileSectionError,
    CompileSyntaxError,
    CompileTypeError,
    CompileValueError,
    compile_error,
)
from cuda_graphs.compiler.frontend.calls.set_condition import as_state
from cuda_graphs.compiler.frontend.calls.statement_words import WORDS, misplaced
from cuda_graphs.compiler.frontend.expressions.lvalues import python_value
from cuda_graphs.compiler.frontend.frame.frame import Frame
from cuda_graphs.compiler.frontend.frame.graph_state import GraphState
from cuda_graphs.compiler.frontend.frame.scope import Scope
from cuda_graphs.compiler.frontend.frame.values import describe
from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.ir.types import i32, u32
from cuda_graphs.compiler.language import graph_flow as words
from cuda_graphs.compiler.language.free_names import dotted

from .checkpoint_state import Guard, guard_of

MAX_CASES = 1024  # cases of a switch
LIMIT = "max_iterations"


def conditional_word(frame: Frame, test: ast.expr) -> Callable[..., Any] | None:
    """Return the function of graph_flow that the test of a statement calls, or None. Nothing is translated."""
    path = dotted(test.func) if isinstance(test, ast.Call) else None
    if path is None or frame.scope.find(path.partition(".")[0]) is not None:
        return None
    assert isinstance(test, ast.Call)
    found = frame.visit(test.func)
    return found if any(found is word for word in STATEMENTS) else None


def conditional(frame: Frame, node: ast.While | ast.If | ast.Match, word: Callable[..., Any]) -> None:
    """Translate a statement whose test calls a word of graph_flow."""
    call = node.subject if isinstance(node, ast.Match) else node.test
    assert isinstance(call, ast.Call)
    frame.at(call)
    name = word.__name__
    statement, translate = STATEMENTS[word]
    if not isinstance(node, statement):
        raise misplaced(frame, word)
    if frame.root.graph_state is None:
        raise compile_error(
            CompileSyntaxError, frame.builder.loc, f"cg.{name} is for graph kernels",
            "write @cg.kernel(graph=True)",
        )  # fmt: skip
    if not frame.parallel_level or frame.parallel:
        raise compile_error(
            CompileSyntaxError, frame.builder.loc, f"cg.{name} is not at the kernel top level",
            "put it there, or directly into another one, as into `if cg.graph_if(n > 0):`; not into a plain if or loop",
        )  # fmt: skip
    if frame.root.graph_state.in_section or frame.root.graph_state.region is not None:
        lvalue = "a section" if frame.root.graph_state.in_section else "cg.graph_parallel"
        raise compile_error(
            CompileSectionError, frame.builder.loc, f"cg.{name} is in {lvalue}",
            "a section holds loops and statements: put control flow between tasks around cg.graph_parallel, before or "
            "after it",
        )  # fmt: skip
    limit = [each.value for each in call.keywords if each.arg == LIMIT and statement is ast.While]
    if len(call.args) != 1 or len(limit) != len(call.keywords) or isinstance(call.args[0], ast.Starred):
        also = f", and {LIMIT}" if statement is ast.While else ""
        raise compile_error(
            CompileTypeError, frame.builder.loc, f"cg.{name} takes one argument{also}", WORDS[word][1]
        )
    frame.require_no_settings()
    most = limit_of(frame, limit[0]) if limit else None
    translate(frame, node, call.args[0])
    if most is not None:
        made = frame.builder.block.body[-1]
        assert isinstance(made, ir.Conditional)
        made.most = most


def limit_of(frame: Frame, node: ast.expr) -> int | None:
    """Return the number of iterations that a loop may have; None for any number."""
    found = node.value if isinstance(node, ast.Constant) else python_value(frame, frame.visit(node))
    frame.at(node)
    if found is None:
        return None
    if type(found) is not int or not 1 <= found < 2**31:
        what = repr(found) if isinstance(node, ast.Constant) else describe(found)
        raise compile_error(
            CompileTypeError, frame.builder.loc, f"{LIMIT} is {what}",
            "it must be an integer constant of at least 1: a number, a global name, or a template parameter",
        )  # fmt: skip
    return found


def do_while(frame: Frame, node: ast.While, argument: ast.expr) -> None:
    flag = flag_of(frame, argument, "the flag of cg.graph_do_while")
    condition, guard, kind = new_condition(frame), guard_of(frame), "while"
    graph_state = graph_state_of(frame)
    if guard is None and graph_state.lowering == "resident":
        kind = "do"
    elif guard is None and graph_state.depth == 0 and graph_state.lowering != "embedded":
        condition.initial = 1
    else:  # an enclosing graph may run it again, it is in such a graph, or it may be skipped
        set_condition(frame, condition, ir.Const(1, u32), guard)

    def again() -> ir.Value:
        return frame.builder.put(ir.Load(flag, (), frame.builder.loc))

    loop(frame, node, condition, again, guard, kind)


def flag_of(frame: Frame, argument: ast.expr, what: str) -> ir.Array:
    """Return the array of a flag."""
    flag = frame.visit(argument)
    if not isinstance(flag, ir.Array) or flag.element != i32 or flag.ndim:
        found = (
            f"the array {flag.path!r} of {flag.ndim} dimensions of {flag.element}"
            if isinstance(flag, ir.Array)
            else describe(flag)
        )
        raise compile_error(
            CompileTypeError, frame.builder.loc, f"{what} is {found}",
            "it must be an array of i32 without dimensions: a parameter cg.Array0[cg.i32], a member of "
            "a struct, or a field",
        )  # fmt: skip
    return flag


def while_loop(frame: Frame, node: ast.While, argument: ast.expr) -> None:
    def holds() -> ir.Value:
        return frame.builder.truth(frame.value(argument, "the condition"), "the condition of a while")

    condition, guard = new_condition(frame), guard_of(frame)
    set_condition(frame, condition, holds(), guard)
    loop(frame, node, condition, holds, guard)


def loop(
    frame: Frame,
    node: ast.While,
    condition: ir.Condition,
    again: Callable[[], ir.Value],
    guard: Guard | None,
    kind: str = "while",
) -> None:
    if node.orelse:
        raise compile_error(
            CompileLoopError, frame.builder.loc, "else of a loop is not supported in kernels", "use a flag"
        )
    loc, body = frame.builder.loc, ir.Block()
    with task_block(frame, body):
        outer = frame.scope
        frame.scope = Scope(outer, at_run_time=True)
        frame.run(node.body)
        frame.scope = outer
        frame.builder.loc = loc
        set_condition_again(frame, condition, again(), guard)
    if guard is not None:
        guard.close()
    frame.builder.put(ir.Conditional(kind, condition, (body,), loc))


def branch(frame: Frame, node: ast.If, argument: ast.expr) -> None:
    loc, condition, guard = frame.builder.loc, new_condition(frame), guard_of(frame)
    value = frame.builder.truth(frame.value(argument, "the condition"), "the condition of an if")
    bodies = [node.body, node.orelse] if node.orelse else [node.body]
    kind = "if"
    if guard is not None and node.orelse:  # a skipped statement runs neither branch
        kind, value = "switch", frame.builder.op("not", value)
    set_condition(frame, condition, value, guard, len(bodies) if kind == "switch" else 0)
    frame.builder.put(ir.Conditional(kind, condition, blocks_of(frame, bodies, guard), loc))


def switch(frame: Frame, node: ast.Match, argument: ast.expr) -> None:
    loc, condition, guard = frame.builder.loc, new_condition(frame), guard_of(frame)
    value = frame.value(argument, "the value")
    if value.type.kind not in ("int", "uint"):
        raise compile_error(
            CompileTypeError, loc, f"the value of cg.graph_switch is {value.type}", "it must be an integer: cg.i32(x)"
        )  # fmt: skip
    cases: dict[int, list[ast.stmt]] = {}
    for case in node.cases:
        number = case_number(frame, case)
        if number in cases:
            raise compile_error(
                CompileValueError, frame.builder.loc, f"case {number} is used twice", "remove one"
            )
        cases[number] = case.body
    bodies = [cases.get(number, []) for number in range(max(cases) + 1)]
    set_condition(frame, condition, value, guard, len(bodies))
    frame.builder.put(ir.Conditional("switch", condition, blocks_of(frame, bodies, guard), loc))


def case_number(frame: Frame, case: ast.match_case) -> int:
    """Return the number of a case."""
    pattern = case.pattern
    frame.at(pattern)
    value = (
        pattern.value.value
        if isinstance(pattern, ast.MatchValue) and isinstance(pattern.value, ast.Constant)
        else None
    )
    if not isinstance(value, int) or isinstance(value, bool) or case.guard is not None:
        raise compile_error(
            CompileSyntaxError, frame.builder.loc, "a case of cg.graph_switch is a number, and nothing else",
            "write `case 0:`, `case 1:`, ...; a value without a case runs nothing",
        )  # fmt: skip
    if value >= MAX_CASES:
        raise compile_error(
            CompileValueError, frame.builder.loc, f"case {value}: numbers of cases are below {MAX_CASES}",
            "number the cases from 0 on",
        )  # fmt: skip
    return value


def blocks_of(frame: Frame, bodies: list[list[ast.stmt]], guard: Guard | None = None) -> tuple[ir.Block, ...]:
    blocks = tuple(ir.Block() for _ in bodies)
    for block, body in zip(blocks, bodies, strict=True):
        with task_block(frame, block):
            frame.run(body)
    if guard is not None:
        guard.close()
    return blocks


@contextmanager
def task_block(frame: Frame, block: ir.Block) -> Iterator[None]:
    """Put statements into a block of a conditional, in which loops are tasks."""
    state, loops = graph_state_of(frame), frame.loops
    state.depth += 1
    frame.loops = []
    try:
        with frame.block(block, parallel_level=True):
            yield
    finally:
        state.depth -= 1
        frame.loops = loops


def graph_state_of(frame: Frame) -> GraphState:
    found = frame.root.graph_state
    assert found is not None
    return found


def new_condition(frame: Frame) -> ir.Condition:
    graph_state = graph_state_of(frame)
    graph_state.conditions += 1
    return ir.Condition(f"graph.condition.{graph_state.conditions - 1}")  # no name of a variable


def set_condition(
    frame: Frame, condition: ir.Condition, value: ir.Value, guard: Guard | None = None, skipped: int = 0
) -> None:
    """Emit the condition. A guard sets it to `skipped` if the whole statement is skipped."""
    value = as_state(frame.builder, value)
    if guard is not None:
        value = frame.builder.op("select", guard.is_entered(), value, ir.Const(skipped, u32))
    frame.builder.put(ir.SetCondition(condition, value, frame.builder.loc))


def set_condition_again(frame: Frame, condition: ir.Condition, value: ir.Value, guard: Guard | None) -> None:
    """Emit the condition of a loop after an iteration."""
    value = as_state(frame.builder, value)
    if guard is not None:
        value = frame.builder.op("select", guard.continues(), value, ir.Const(0, u32))
    frame.builder.put(ir.SetCondition(condition, value, frame.builder.loc))


# Function of graph_flow -> (its kind of statement, the translation).
STATEMENTS: dict[Callable[..., Any], tuple[type[ast.stmt], Callable[..., None]]] = {
    words.graph_do_while: (ast.While, do_while),
    words.graph_while: (ast.While, while_loop),
    words.graph_if: (ast.If, branch),
    words.graph_switch: (ast.Match, switch),
}
