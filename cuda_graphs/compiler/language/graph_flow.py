# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Control flow between the tasks of a graph kernel (`@cg.kernel(graph=True)`).

These functions stand at the top level of the kernel, or directly in each other. The frontend recognises them by
identity (compiler/frontend/statements/graph_flow.py, compiler/frontend/statements/sections.py).
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from .intrinsics import _in_kernels_only

if TYPE_CHECKING:
    from .declarations import Array

__all__ = [
    "checkpoint",
    "graph_do_while",
    "graph_if",
    "graph_parallel",
    "graph_section",
    "graph_switch",
    "graph_while",
]


@_in_kernels_only
def graph_do_while(flag: Array[int], max_iterations: int | None = None) -> bool:
    """Run the body of `while cg.graph_do_while(flag):` once, and again as long as the i32 in `flag` is not 0.

    With `max_iterations`, a constant, the loop ends after so many iterations. In a `cg.ad.Tape` it raises
    AdstackOverflowError instead if it would continue.
    """


@_in_kernels_only
def graph_while(condition: float, max_iterations: int | None = None) -> bool:
    """Run the body of `while cg.graph_while(condition):` as long as the condition holds. The test comes first.

    `max_iterations` is that of `graph_do_while`.
    """


@_in_kernels_only
def graph_if(condition: float) -> bool:
    """Run the body of `if cg.graph_if(condition):`, or that of its `else:`, as parallel tasks."""


@_in_kernels_only
def graph_switch(value: int) -> int:
    """Run the `case` of `match cg.graph_switch(value):` with that number, counted from 0, if there is one."""


@_in_kernels_only
def graph_parallel() -> AbstractContextManager[None]:
    """Run the sections in `with cg.graph_parallel():`, at the same time if possible. Later tasks wait for all."""


@_in_kernels_only
def graph_section() -> AbstractContextManager[None]:
    """Run tasks in order as one section of `cg.graph_parallel()`. No other section may depend on them."""


@_in_kernels_only
def checkpoint(label: int | str | None, yield_on: Array[int] | None = None) -> AbstractContextManager[None]:
    """Mark loops as a checkpoint: `with cg.checkpoint(label, yield_on=flag):`, in a kernel with checkpoints.
    The call ends early after these loops if the i32 in `flag` is not 0. `kernel.resume(..., from_checkpoint=label)`
    resumes there.
    """
