# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""What `kernel` is told besides its function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

__all__ = ["CHAINS", "LOOPS", "Options"]

LOOPS = ("auto", "conditional", "resident", "host")
CHAINS = ("auto", "nodes", "resident")


class Options(NamedTuple):
    """The keywords of `kernel`, which explains them."""

    debug: bool
    fast_math: bool
    graph: bool
    loop: str
    chain: str

    def check(self, function: Callable[..., Any]) -> None:
        """Refuse what does not go together: ValueError, TypeError."""
        name = function.__name__
        if self.loop not in LOOPS:
            raise ValueError(f"{name}: loop must be one of {', '.join(LOOPS)}, got {self.loop!r}")
        if self.chain not in CHAINS:
            raise ValueError(f"{name}: chain must be one of {', '.join(CHAINS)}, got {self.chain!r}")
        if self.chain == "resident" and self.loop == "host":
            raise ValueError(f'{name}: with loop="host" each task is a launch: leave chain at "auto"')
        if self.graph and function.__annotations__.get("return") not in (None, "None"):
            raise TypeError(
                f"{name}: a graph kernel returns nothing, since nobody waits for it: have it write to an array"
            )
