# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The errors of kernels: one class per cause. A message shows the user's source, the cause and a remedy."""

from __future__ import annotations

import itertools
import linecache
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from cuda_graphs.compiler.ir.ir import Loc

__all__ = [
    "MADE",
    "CompileArgumentError",
    "CompileBarrierError",
    "CompileBlockError",
    "CompileCheckpointError",
    "CompileError",
    "CompileGradientError",
    "CompileImmutableError",
    "CompileIndexError",
    "CompileLiteralError",
    "CompileLoopError",
    "CompileNameError",
    "CompileNegativeIndexError",
    "CompileRecursionError",
    "CompileResidentError",
    "CompileReturnError",
    "CompileSectionError",
    "CompileSharedMemoryError",
    "CompileStaticError",
    "CompileSyntaxError",
    "CompileTypeError",
    "CompileValueError",
    "CompileWarning",
    "UnsupportedSyntaxError",
    "collected_warnings",
    "compile_error",
    "describe_location",
    "issue",
    "warn",
]


class CompileError(Exception):
    """A kernel cannot be compiled. `loc` is the source position, `cause` the defect, `remedy` the advice."""

    def __init__(self, cause: str, loc: Loc | None = None, remedy: str = ""):
        self.cause, self.loc, self.remedy = cause, loc, remedy
        super().__init__(_text(cause, loc, remedy))


class CompileSyntaxError(CompileError, SyntaxError):
    """A construct stands where it has no meaning."""

    def __str__(self) -> str:
        return str(self.args[0])


class UnsupportedSyntaxError(CompileSyntaxError):
    """A construct of Python that kernels do not support."""


class CompileImmutableError(CompileSyntaxError):
    """A parameter, a loop variable or a name of a compile-time value is assigned to."""


class CompileLoopError(CompileSyntaxError):
    """A loop, a loop variable, break, continue or cg.loop_config has an invalid form or stands in an invalid place."""


class CompileCheckpointError(CompileSyntaxError):
    """cg.checkpoint has an invalid form or place, or its label is invalid or not unique."""


class CompileSectionError(CompileSyntaxError):
    """cg.graph_parallel or cg.graph_section has an invalid form or place, or sections depend on each other."""


class CompileBlockError(CompileSyntaxError):
    """cg.blocks, cg.block or cg.warp is used where no block of threads exists or is possible."""


class CompileBarrierError(CompileSyntaxError):
    """Some threads of a block might not reach a barrier, a reduction or a shuffle."""


class CompileGradientError(CompileError):
    """The kernel has no gradient, or its gradient would be wrong."""


class CompileReturnError(CompileSyntaxError):
    """A return that depends on run-time values, does not come last, or does not fit the annotation."""


class CompileRecursionError(CompileSyntaxError, RecursionError):
    """Functions call each other, and no end of the recursion is known at compile time."""


class CompileNameError(CompileError, NameError):
    """A name is not defined here."""


class CompileTypeError(CompileError, TypeError):
    """An operation or a call does not take values of these types."""


class CompileArgumentError(CompileSyntaxError, CompileTypeError):
    """A call has too few arguments, too many, or an argument of an unknown name."""


class CompileIndexError(CompileError, IndexError):
    """There are too many indices, too few, or an index is certainly out of range."""


class CompileNegativeIndexError(CompileSyntaxError, CompileIndexError):
    """An index is certainly negative. Arrays do not count from their end."""


class CompileValueError(CompileError, ValueError):
    """A compile-time value is out of range."""


class CompileSharedMemoryError(CompileValueError):
    """The arrays that a loop's blocks share need more shared memory than any GPU has."""


class CompileResidentError(CompileValueError):
    """One launch is to run several tasks, and cannot."""


class CompileLiteralError(CompileTypeError, CompileValueError):
    """The type of a number in the source cannot hold it."""


class CompileStaticError(CompileValueError):
    """A value must be known at compile time but is not, or its evaluation at compile time fails."""


class CompileWarning(SyntaxWarning):
    """A construct of a kernel is valid but probably unintended."""


def compile_error(kind: type[CompileError], loc: Loc | None, cause: str, remedy: str) -> CompileError:
    """Return the error for the caller to raise: `raise compile_error(...)`."""
    return kind(cause, loc, remedy)


MADE = "<cuda_graphs "  # the beginning of the names of sources that the package made
Issue = tuple[str, str, int]  # message, file and line of a warning
_collected: ContextVar[list[Issue] | None] = ContextVar("collected warnings", default=None)


def warn(loc: Loc | None, cause: str, remedy: str) -> None:
    """Issue a CompileWarning at a position of the source."""
    file, line = ("<kernel>", 0) if loc is None else (loc.file, loc.line)
    warning, collected = (f"{cause}. {remedy}", file, line), _collected.get()
    if collected is None:
        issue(warning)
    else:
        collected.append(warning)


def issue(warning: Issue) -> None:
    """Issue a CompileWarning."""
    message, file, line = warning
    warnings.warn_explicit(message, CompileWarning, file, line)


@contextmanager
def collected_warnings() -> Iterator[list[Issue]]:
    """Collect the warnings of a `with` block, which the caller may `issue`."""
    found: list[Issue] = []
    token = _collected.set(found)
    try:
        yield found
    finally:
        _collected.reset(token)


def describe_location(loc: Loc | None) -> str:
    """Return the excerpt of the source at a position, after those of the calls that lead to it, each with its file.

    A call that repeats itself is shown once, with its count. Source that the package made is not shown.
    """
    frames = []
    while loc is not None:
        if not loc.file.startswith(MADE):
            frames.append(_excerpt(loc))
        loc = loc.caller
    runs = [(frame, len(list(run))) for frame, run in itertools.groupby(reversed(frames))]
    return "\n".join(frame + (f"\n    ({count} times)" if count > 1 else "") for frame, count in runs)


def _text(cause: str, loc: Loc | None, remedy: str) -> str:
    parts = (describe_location(loc), cause, f"Remedy: {remedy}" if remedy else "")
    return "\n".join(part for part in parts if part)


def _excerpt(loc: Loc) -> str:
    # File "waves.py", line 12, in step
    #     u[i] = v[i, j]
    #            ^^^^^^^
    head = f'File "{loc.file}", line {loc.line}' + (f", in {loc.function}" if loc.function else "")
    line = linecache.getline(loc.file, loc.line).rstrip("\n")
    if not line.strip():
        return head
    indent = len(line) - len(line.lstrip())
    end = loc.end_column if loc.end_column > loc.column else len(line)
    carets = " " * (loc.column - indent) + "^" * max(1, min(end, len(line)) - loc.column)
    return f"{head}\n    {line.strip()}\n    {carets}"
