# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The options of the decorator `kernel`."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, NamedTuple

from cuda_graphs.compiler.artifact import Artifact
from cuda_graphs.compiler.frontend.returns import check_return, final_value, returned_types
from cuda_graphs.compiler.language.number_rules import NumberRules, current_defaults
from cuda_graphs.kernels.graph.lowering import NO_LOWERING, Lowering, chains_of, loops_of, why_lowered

__all__ = ["CHAINS", "GRAPHS_ARE_ON", "LOOPS", "Options"]

GRAPHS_ARE_ON = os.environ.get("CUDA_GRAPHS_KERNEL_GRAPHS", "1") == "1"

# By the NodesReason of the code (specialisation.pxd).
WHY_NODES = (
    "",
    "a loop has many iterations, and half of the threads of a resident launch or more would have no place",
    "a loop has many tasks, and blocks of a resident launch would wait for each other longer than nodes do",
)

LOOPS = ("auto", "conditional", "resident", "host")
CHAINS = ("auto", "nodes", "resident")


class Options(NamedTuple):
    """The keywords of `kernel`; its docstring describes them."""

    debug: bool
    fast_math: bool
    graph: bool
    loop: str
    chain: str
    checkpoints: bool = False
    default_float: Any = None
    default_int: Any = None
    strict: bool = False
    fuse: bool = True
    has_peer_rules: bool = False  # no keyword of `kernel`: from `peer_rules`

    def with_defaults(self) -> Options:
        """Return the options with the default types of the current cg.default_types where none are given."""
        now = current_defaults()
        real = now.float if self.default_float is None else self.default_float
        whole = now.int if self.default_int is None else self.default_int
        rules = NumberRules(real, whole).checked("default_float, default_int")
        return self._replace(default_float=rules.float, default_int=rules.int, has_peer_rules=now.agrees)

    def keywords(self) -> dict[str, Any]:
        """Return the keywords of `kernel` for these options."""
        return {name: value for name, value in self._asdict().items() if name != "has_peer_rules"}

    def rules(self) -> NumberRules:
        """Return the rules for numbers of the source."""
        is_peer = self.has_peer_rules
        return NumberRules(self.default_float, self.default_int, bool(self.strict), is_peer, is_peer)

    def check(self, function: Callable[..., Any]) -> None:
        """Raise ValueError, TypeError or CompileError for invalid or contradictory options."""
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
                f"{name}: a graph kernel returns nothing, since its calls do not wait: have it write to an array"
            )
        check_return(function)

    def lowering(self, embedded: bool, is_replayed: bool) -> Lowering:
        """Return the compiler's lowering options for one use of a kernel.

        The tasks become nodes of any graph (`embedded`), a graph that calls launch (`is_replayed`), or single launches.
        """
        if not self.graph:
            return NO_LOWERING
        if embedded:
            loops = "resident" if self.loop == "resident" else "embedded"
        else:
            loops = loops_of(self.loop) if is_replayed else "host"
        return Lowering(loops, chains_of(self.chain, loops))

    def may_have_nodes(self) -> bool:
        """Return whether the user left open if tasks share a launch."""
        return self.loop == "auto" and self.chain != "resident"

    def why(self, artifact: Artifact, is_refused: bool, why_nodes: int) -> str:
        """Return the reason for the lowering, in words. `is_refused` means that the driver cannot build the graph.

        `why_nodes` is the number of a reason in WHY_NODES.
        """
        if not self.graph:
            return "the kernel is no graph kernel, so a call launches its tasks in their order"
        if self.debug:
            return "debug=True, so a failed assert raises an exception in the call"
        if not GRAPHS_ARE_ON:
            return "the environment sets CUDA_GRAPHS_KERNEL_GRAPHS to a value other than 1"
        if self.loop != "auto":
            return f'the kernel sets loop="{self.loop}"'
        if is_refused:
            return "the driver cannot build the graph"
        return WHY_NODES[why_nodes] or why_lowered(artifact)
