# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""What the graphs of a graph kernel did."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["GraphStats"]


class GraphStats(NamedTuple):
    """Counters of a graph kernel.

    Attributes:
        graphs: Executable graphs that are kept now.
        builds: How many were built in total.
        replayed: Whether the last call launched a graph that was there already.
        nodes: Of the last graph, those in bodies of conditional nodes included.
        tasks: Of the kernel as it was called last.
        lowering: What became of the control flow between the tasks: "conditional" nodes, a part of one "resident"
            launch, or a loop on the "host"; None of a kernel that was not called.
    """

    graphs: int
    builds: int
    replayed: bool
    nodes: int
    tasks: int
    lowering: str | None
