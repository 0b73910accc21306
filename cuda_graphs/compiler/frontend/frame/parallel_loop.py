# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The state of a parallel loop during the translation of its body."""

from __future__ import annotations

from dataclasses import field

from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.records import entity


@entity
class ParallelLoop:
    """A parallel loop. At its end it is known whether the loop is one of blocks.

    block_dim       threads of a block; None if the source sets none
    uses_blocks     the body calls functions of cg.block or cg.warp, or the loop is over cg.blocks
    shared_arrays   arrays in shared memory
    exchange        bytes of shared memory for reductions
    """

    block_dim: int | None
    uses_blocks: bool = False
    shared_arrays: list[ir.Array] = field(default_factory=list)
    exchange: int = 0

    def threads(self) -> int:
        """Return the number of threads of a block, at the end of the loop; 0 if it is not a loop of blocks."""
        return self.block_dim or 0 if self.uses_blocks else 0
