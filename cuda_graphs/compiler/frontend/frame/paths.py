# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The paths of a function with several returns: where its statements continue after a statement that may return.

After `if c: return x`, the rest of the function belongs to the other branch. After a loop that may return, and where
both branches of an `if` may go on, a flag decides whether the rest runs.
"""

from __future__ import annotations

from enum import Enum
from typing import Any

from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.records import entity

from .scope import Scope

__all__ = ["OpenPath", "Path", "Paths", "ReturnPoint", "joined"]


class Paths(Enum):
    """ENDED: each path has returned. GUARDED: execution goes on here, unless the flag says that it has returned."""

    ENDED = 1
    GUARDED = 2


@entity
class OpenPath:
    """The only path that goes on: at the end of this block."""

    block: ir.Block
    scope: Scope


Path = Paths | OpenPath | None  # None: no path has returned


@entity
class ReturnPoint:
    """A return: the place in the IR at which its value is known."""

    block: ir.Block
    position: int
    value: Any
    loc: ir.Loc | None


def joined(then: tuple[Path, OpenPath], orelse: tuple[Path, OpenPath]) -> Path:
    """Return the path after an If, from the path of each branch and the end of its block."""
    paths = {then[0], orelse[0]}
    if len(paths) == 1 and paths <= {None, Paths.ENDED}:
        return then[0]
    for (path, _), (other, end) in ((then, orelse), (orelse, then)):
        if path is Paths.ENDED:
            return end if other is None else other
    return Paths.GUARDED
