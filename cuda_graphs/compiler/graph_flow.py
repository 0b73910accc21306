# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Control flow between the tasks of a graph kernel (`@cg.kernel(graph=True)`): at its top level, or directly in each
other. The frontend knows these functions by identity (frontend/graph_flow.py, frontend/sections.py)."""

from __future__ import annotations

from typing import Any

from .intrinsics import _in_kernels_only

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
def graph_do_while(flag: Any) -> Any:
    """`while cg.graph_do_while(flag):` runs its body, and again as long as the i32 in `flag` is not 0."""


@_in_kernels_only
def graph_while(condition: Any) -> Any:
    """`while cg.graph_while(condition):` runs its body as long as the condition holds, which is asked first."""


@_in_kernels_only
def graph_if(condition: Any) -> Any:
    """`if cg.graph_if(condition):` runs its body, or that of `else:`, as parallel tasks."""


@_in_kernels_only
def graph_switch(value: Any) -> Any:
    """`match cg.graph_switch(value):` runs the body of the `case` with that number, from 0 on, if there is one."""


@_in_kernels_only
def graph_parallel() -> Any:
    """`with cg.graph_parallel():` holds sections, which may run at the same time; what follows waits for all."""


@_in_kernels_only
def graph_section() -> Any:
    """`with cg.graph_section():` in `with cg.graph_parallel():`: tasks in order, which no other section needs."""


@_in_kernels_only
def checkpoint(label: Any, yield_on: Any = None) -> Any:
    """`with cg.checkpoint(label, yield_on=flag):` in a kernel with checkpoints: loops after which a call ends early if
    the i32 in `flag` is not 0, and where `kernel.resume(..., from_checkpoint=label)` goes on."""
