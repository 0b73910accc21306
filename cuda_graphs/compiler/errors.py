# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""What is wrong with a kernel: one class a cause, and a message with the user's source and what to do."""

from __future__ import annotations

import linecache
import warnings

from .ir import Loc

__all__ = [
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
    "describe_place",
    "fail",
    "warn",
]


class CompileError(Exception):
    """A kernel cannot be compiled. `loc` is where, `cause` what is wrong, `remedy` what to do about it."""

    def __init__(self, cause: str, loc: Loc | None = None, remedy: str = ""):
        self.cause, self.loc, self.remedy = cause, loc, remedy
        super().__init__(_text(cause, loc, remedy))


class CompileSyntaxError(CompileError, SyntaxError):
    """A construct stands where it has no meaning."""

    def __str__(self) -> str:
        return str(self.args[0])


class UnsupportedSyntaxError(CompileSyntaxError):
    """Python that kernels do not have."""


class CompileImmutableError(CompileSyntaxError):
    """A parameter, a loop variable or a name of a compile-time value is assigned to."""


class CompileLoopError(CompileSyntaxError):
    """A loop, its variables, break, continue or cg.loop_config in a form or a place that has no meaning."""


class CompileCheckpointError(CompileSyntaxError):
    """cg.checkpoint in a form or a place that has no meaning, or a label that is no label or is there twice."""


class CompileSectionError(CompileSyntaxError):
    """cg.graph_parallel or cg.graph_section in a form or a place that has no meaning, or sections that are not
    independent of each other."""


class CompileBlockError(CompileSyntaxError):
    """cg.blocks, cg.block or cg.warp where there is no block of threads, or where there can be none."""


class CompileBarrierError(CompileSyntaxError):
    """Threads of a block would not all come to a barrier, a reduction or a shuffle."""


class CompileGradientError(CompileError):
    """What a kernel does has no gradient, or one that would be wrong."""


class CompileReturnError(CompileSyntaxError):
    """A return that depends on run-time values, does not come last, or does not fit the annotation."""


class CompileRecursionError(CompileSyntaxError, RecursionError):
    """Functions call each other without an end that is known when compiling."""


class CompileNameError(CompileError, NameError):
    """A name that nothing defines here."""


class CompileTypeError(CompileError, TypeError):
    """An operation or a call does not take values of these types."""


class CompileArgumentError(CompileSyntaxError, CompileTypeError):
    """Too few arguments in a call, too many, or one of an unknown name."""


class CompileIndexError(CompileError, IndexError):
    """Too many indices, too few, or one that is out of range for sure."""


class CompileNegativeIndexError(CompileSyntaxError, CompileIndexError):
    """An index that is negative for sure: arrays do not count from their end."""


class CompileValueError(CompileError, ValueError):
    """A compile-time value that is out of range."""


class CompileSharedMemoryError(CompileValueError):
    """The blocks of a loop share more memory than any GPU has for them."""


class CompileResidentError(CompileValueError):
    """Tasks that one launch is to run, and cannot."""


class CompileLiteralError(CompileTypeError, CompileValueError):
    """A number of the source that its type cannot hold."""


class CompileStaticError(CompileValueError):
    """Something must be known when compiling and is not, or fails when it is evaluated then."""


class CompileWarning(SyntaxWarning):
    """A kernel does what it says, which is probably not what is meant."""


def fail(kind: type[CompileError], loc: Loc | None, cause: str, remedy: str) -> CompileError:
    """The error, to be raised by the caller: `raise fail(...)`."""
    return kind(cause, loc, remedy)


def warn(loc: Loc | None, cause: str, remedy: str) -> None:
    """A CompileWarning at the place in the source."""
    file, line = ("<kernel>", 0) if loc is None else (loc.file, loc.line)
    warnings.warn_explicit(f"{cause}. {remedy}", CompileWarning, file, line)


def describe_place(loc: Loc | None) -> str:
    """The line of the source with the calls that lead to it, each with its file."""
    frames = []
    while loc is not None:
        frames.append(_excerpt(loc))
        loc = loc.caller
    return "\n".join(reversed(frames))


def _text(cause: str, loc: Loc | None, remedy: str) -> str:
    parts = (describe_place(loc), cause, f"Remedy: {remedy}" if remedy else "")
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
