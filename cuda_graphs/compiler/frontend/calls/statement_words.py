# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Functions of graph_flow that are statements: `while cg.graph_while(...)`, `with cg.checkpoint(...)`."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from cuda_graphs.compiler.errors import (
    CompileCheckpointError,
    CompileError,
    CompileSectionError,
    CompileSyntaxError,
    compile_error,
)
from cuda_graphs.compiler.frontend.frame.frame import Frame
from cuda_graphs.compiler.language import graph_flow as words

# The class of the errors about each function, and its spelling.
WORDS: dict[Callable[..., Any], tuple[type[CompileError], str]] = {
    words.graph_do_while: (CompileSyntaxError, "while cg.graph_do_while(flag)"),
    words.graph_while: (CompileSyntaxError, "while cg.graph_while(condition)"),
    words.graph_if: (CompileSyntaxError, "if cg.graph_if(condition)"),
    words.graph_switch: (CompileSyntaxError, "match cg.graph_switch(value)"),
    words.graph_parallel: (CompileSectionError, "with cg.graph_parallel()"),
    words.graph_section: (CompileSectionError, "with cg.graph_section()"),
    words.checkpoint: (CompileCheckpointError, "with cg.checkpoint(label, yield_on=flag)"),
}


def misplaced(frame: Frame, word: Callable[..., Any]) -> CompileError:
    """Return the error for a function that is not the whole head of its statement."""
    kind, spelling = WORDS[word]
    return compile_error(
        kind, frame.builder.loc, f"cg.{word.__name__} is a statement of its own",
        f"write `{spelling}:`, with nothing else in it",
    )  # fmt: skip


def in_expression(frame: Frame, node: ast.Call) -> Any:
    """Raise for such a function in an expression."""
    raise misplaced(frame, frame.visit(node.func))
