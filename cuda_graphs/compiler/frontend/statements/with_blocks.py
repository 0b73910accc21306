# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""`with` statements: cg.graph_parallel, cg.graph_section and cg.checkpoint, directly in the kernel."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from cuda_graphs.compiler.errors import (
    CompileCheckpointError,
    CompileError,
    CompileSectionError,
    CompileSyntaxError,
    fail,
)
from cuda_graphs.compiler.frontend.functions import Conditionals, Frame
from cuda_graphs.compiler.language import graph_flow as words
from cuda_graphs.compiler.language.free_names import dotted

from .checkpoints import SPELLING, checkpoint
from .loops import unused_settings
from .sections import parallel, section

# Function of graph_flow -> (its translation, the class of its errors, its spelling).
WORDS: dict[
    Callable[..., Any], tuple[Callable[[Frame, ast.With, Conditionals], None], type[CompileError], str]
] = {
    words.graph_parallel: (parallel, CompileSectionError, "with cg.graph_parallel()"),
    words.graph_section: (section, CompileSectionError, "with cg.graph_section()"),
    words.checkpoint: (checkpoint, CompileCheckpointError, SPELLING),
}


def with_statement(frame: Frame, node: ast.With, last: bool) -> None:
    """Translate a `with`."""
    found = [word_of(frame, item) for item in node.items]
    word = found[0]
    if word is None:
        raise frame.refuse(node)
    frame.at(node.items[0].context_expr)
    loc, name = frame.builder.loc, word.__name__
    translate, kind, _ = WORDS[word]
    if len(found) > 1 or node.items[0].optional_vars is not None:
        raise misplaced(frame, word)
    conditionals = frame.root.conditionals
    if conditionals is None:
        raise fail(CompileSyntaxError, loc, f"cg.{name} is for graph kernels", "write @cg.kernel(graph=True)")
    if frame.caller is not None:
        raise fail(
            kind, loc, f"cg.{name} is in a function that is called",
            "put it into the kernel itself; its body may call functions",
        )  # fmt: skip
    unused_settings(frame)
    translate(frame, node, conditionals)


def word_of(frame: Frame, item: ast.withitem) -> Callable[..., Any] | None:
    """Return the function of graph_flow that an item of a `with` calls, or None."""
    call = item.context_expr
    path = dotted(call.func) if isinstance(call, ast.Call) else None
    if path is None or frame.scope.find(path.partition(".")[0]) is not None:
        return None
    assert isinstance(call, ast.Call)
    found = frame.visit(call.func)
    return next((word for word in WORDS if word is found), None)


def misplaced(frame: Frame, word: Callable[..., Any]) -> CompileError:
    _, kind, spelling = WORDS[word]
    return fail(
        kind, frame.builder.loc, f"cg.{word.__name__} is a statement of its own",
        f"write `{spelling}:`, with nothing else in it",
    )  # fmt: skip


def expression(frame: Frame, node: ast.Call) -> Any:
    """Raise for such a function in an expression."""
    raise misplaced(frame, frame.visit(node.func))
