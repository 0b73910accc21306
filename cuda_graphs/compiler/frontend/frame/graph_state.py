# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The state of the translation of a graph kernel: its control flow between tasks, its sections and its checkpoints."""

from __future__ import annotations

from dataclasses import field

from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.records import entity

# The block and the position of each section in a region.
Region = list[tuple[ir.Block, ir.Loc | None]]


@entity
class Checkpoints:
    """The checkpoints of a kernel that were translated so far.

    state    the array of their run-time state (statements/checkpoint_state.py)
    found    the label of each, or None, and the name of the label in the source
    current  the block of the current checkpoint with a label
    """

    state: ir.Array
    found: list[ir.Checkpoint] = field(default_factory=list)
    current: ir.Block | None = None


@entity
class GraphState:
    """The state of a graph kernel.

    lowering     one of lowerings.LOWERINGS
    conditions   number of conditions so far
    depth        number of conditionals around the current statement
    region       the sections of the directly enclosing cg.graph_parallel
    in_section   the current statement is in a section
    checkpoints  for kernels with checkpoints
    """

    lowering: str
    conditions: int = 0
    depth: int = 0
    region: Region | None = None
    in_section: bool = False
    checkpoints: Checkpoints | None = None
