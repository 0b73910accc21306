# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""`with` statements: cg.graph_parallel, cg.graph_section and cg.checkpoint, directly in the kernel."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from cuda_graphs.compiler.errors import (
    CompileSyntaxError,
    compile_error,
)
from cuda_graphs.compiler.frontend.calls.statement_words import WORDS, misplaced
from cuda_graphs.compiler.frontend.frame.frame import Frame
from cuda_graphs.compiler.frontend.frame.graph_state import GraphState
from cuda_graphs.compiler.language import graph_flow as words
from cuda_graphs.compiler.language.free_names import dotted

from .checkpoints import checkpoint
from .sections import parallel, section

# Function of graph_flow -> its translation.
TRANSLATIONS: dict[Callable[..., Any], Callable[[Frame, ast.With, GraphState], None]] = {
    words.graph_parallel: parallel,
    words.graph_section: section,
    words.checkpoint: checkpoint,
}


def with_statement(frame: Frame, node: ast.With, last: bool) -> None:
    """Translate a `with`."""
    found = [word_of(frame, item) for item in node.items]
    word = found[0]
    if word is None:
        raise frame.refuse(node)
    frame.at(node.items[0].context_expr)
    loc, name = frame.builder.loc, word.__name__
    kind, _ = WORDS[word]
    if len(found) > 1 or node.items[0].optional_vars is not None:
        raise misplaced(frame, word)
    state = frame.root.graph_state
    if state is None:
        raise compile_error(
            CompileSyntaxError, loc, f"cg.{name} is for graph kernels", "write @cg.kernel(graph=True)"
        )
    if frame.caller is not None:
        raise compile_error(
            kind, loc, f"cg.{name} is in a function that is called",
            "put it into the kernel itself; its body may call functions",
        )  # fmt: skip
    frame.require_no_settings()
    TRANSLATIONS[word](frame, node, state)


def word_of(frame: Frame, item: ast.withitem) -> Callable[..., Any] | None:
    """Return the function of graph_flow that an item of a `with` calls, or None."""
    call = item.context_expr
    path = dotted(call.func) if isinstance(call, ast.Call) else None
    if path is None or frame.scope.find(path.partition(".")[0]) is not None:
        return None
    assert isinstance(call, ast.Call)
    found = frame.visit(call.func)
    return next((word for word in TRANSLATIONS if word is found), None)
