# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""What `kernel` is told besides its function."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, NamedTuple

from cuda_graphs.compiler.artifact import Artifact
from cuda_graphs.compiler.returns import check_return, final_value, returned_types
from cuda_graphs.kernels.lowering import NO_LOWERING, Lowering, chains_of, loops_of, why_lowered

__all__ = ["CHAINS", "GRAPHS_ARE_ON", "LOOPS", "Options"]

GRAPHS_ARE_ON = os.environ.get("CUDA_GRAPHS_KERNEL_GRAPHS", "1") == "1"

LOOPS = ("auto", "conditional", "resident", "host")
CHAINS = ("auto", "nodes", "resident")


class Options(NamedTuple):
    """The keywords of `kernel`, which explains them."""

    debug: bool
    fast_math: bool
    graph: bool
    loop: str
    chain: str
    checkpoints: bool = False

    def check(self, function: Callable[..., Any]) -> None:
        """Refuse what does not go together: ValueError, TypeError, CompileError."""
        name = function.__name__
        if self.loop not in LOOPS:
            raise ValueError(f"{name}: loop must be one of {', '.join(LOOPS)}, got {self.loop!r}")
        if self.chain not in CHAINS:
            raise ValueError(f"{name}: chain must be one of {', '.join(CHAINS)}, got {self.chain!r}")
        if self.chain == "resident" and self.loop == "host":
            raise ValueError(f'{name}: with loop="host" each task is a launch: leave chain at "auto"')
        if self.checkpoints and not self.graph:
            raise ValueError(f"{name}: checkpoints=True is for graph kernels: write graph=True too")
        if self.graph and (returned_types(function) is not None or final_value(function) is not None):
            raise TypeError(
                f"{name}: a graph kernel returns nothing, since nobody waits for it: have it write to an array"
            )
        check_return(function)

    def lowering(self, embedded: bool, is_replayed: bool) -> Lowering:
        """What the compiler is to make of a kernel: as nodes of any graph, if it is `embedded`, as a graph of its own,
        if that `is_replayed`, or to be launched task by task."""
        if not self.graph:
            return NO_LOWERING
        if embedded:
            loops = "resident" if self.loop == "resident" else "embedded"
        else:
            loops = loops_of(self.loop) if is_replayed else "host"
        return Lowering(loops, chains_of(self.chain, loops))

    def why(self, artifact: Artifact, is_refused: bool) -> str:
        """Why a kernel is lowered as it is. `is_refused`: the driver does not build its graph."""
        if not self.graph:
            return "it is no graph kernel, so a call launches the tasks one after the other"
        if self.debug:
            return "debug=True, so that an assert that fails is an exception of the call"
        if not GRAPHS_ARE_ON:
            return "CUDA_GRAPHS_KERNEL_GRAPHS is in the environment, and not 1"
        if self.loop != "auto":
            return f'loop="{self.loop}" was asked for'
        return "the driver does not build the graph" if is_refused else why_lowered(artifact)
