# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""What `kernel` is told besides its function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

__all__ = ["LOOPS", "Options"]

LOOPS = ("auto", "conditional", "host")


class Options(NamedTuple):
    """The keywords of `kernel`, which explains them."""

    debug: bool
    fast_math: bool
    graph: bool
    loop: str

    def check(self, function: Callable[..., Any]) -> None:
        """Refuse what does not go together: ValueError, TypeError."""
        name = function.__name__
        if self.loop not in LOOPS:
            raise ValueError(f"{name}: loop must be one of {', '.join(LOOPS)}, got {self.loop!r}")
        if self.graph and function.__annotations__.get("return") not in (None, "None"):
            raise TypeError(
                f"{name}: a graph kernel returns nothing, since nobody waits for it: have it write to an array"
            )
