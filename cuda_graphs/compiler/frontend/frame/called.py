# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The functions that a kernel calls without inlining them."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import field
from typing import Any

from cuda_graphs.compiler.errors import CompileError, CompileRecursionError, compile_error
from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.records import entity

__all__ = ["MAX_DEPTH", "CalledFunction", "CalledFunctions", "endless_recursion"]

MAX_DEPTH = 64  # frames inside frames


def endless_recursion(loc: ir.Loc | None, name: str, depth: int, more: str = "") -> CompileError:
    """Return the error of a function whose inlined calls of itself do not end."""
    return compile_error(
        CompileRecursionError, loc, f"{name} calls itself more than {depth} levels deep",
        "end the recursion at compile time with `if cg.static(...)`, or have the function called: "
        f"@cg.func(inline=False, max_depth=64){more}",
    )  # fmt: skip


@entity
class CalledFunction:
    """A function for one signature.

    max_depth     as the user gave it
    result        what a call returns, with any numbers in place of those of a call
    changed       the structure that a method changes, in the same form; None: it changes none
    is_recursive  the function calls itself
    """

    function: ir.Function
    max_depth: int | None
    result: Any = None
    changed: Any = None
    is_recursive: bool = False


@entity
class CalledFunctions:
    """The called functions of a kernel.

    is_on  functions are called; otherwise all are inlined
    known  by the function and its signature
    open   those in translation, each called by the one before
    kept   compile-time arguments that are compared by identity
    """

    is_on: bool = True
    known: dict[Hashable, CalledFunction] = field(default_factory=dict)
    open: list[CalledFunction] = field(default_factory=list)
    kept: list[Any] = field(default_factory=list)
