# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The interface of loops of blocks of threads: the emitter emits their regions, barriers and collectives through it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from cuda_graphs.compiler.ir import ir

__all__ = ["BlockSchedule"]


class BlockSchedule(ABC):
    """The order in which a target runs the threads of a block.

    alone   True if no thread accesses the block's shared memory concurrently
    block   the number of the block, in 64 bits
    thread  the number of the thread, in 64 bits, if one thread after the other executes a region; else ""
    """

    alone: ClassVar[bool]
    block = ""
    thread = ""

    @abstractmethod
    def variable(self, local: ir.Local) -> tuple[str, str] | None:
        """Return (pointer to a local of this thread, metadata of its accesses); None for an ordinary variable."""

    @abstractmethod
    def region(self, statement: ir.Region) -> None:
        """Emit a region, which each thread executes."""

    @abstractmethod
    def barrier(self, statement: ir.Barrier) -> None:
        """Emit a barrier."""

    @abstractmethod
    def collective(self, m: ir.RegionCollective) -> None:
        """Emit a collective."""

    @abstractmethod
    def position(self, statement: ir.Position) -> None:
        """Define the number of the thread or block."""
