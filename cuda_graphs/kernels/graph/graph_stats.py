# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Counters of the graphs of a graph kernel."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["GraphStats"]


class GraphStats(NamedTuple):
    """Counters of a graph kernel.

    Attributes:
        graphs: Number of executable graphs that the kernel keeps now.
        builds: Number of graphs built in total.
        replayed: True if the last call launched a graph from an earlier call.
        nodes: Number of nodes of the last graph, including the nodes in bodies of conditional nodes.
        tasks: Number of tasks in the last call.
        lowering: The lowering of control flow between the tasks in the last call: "conditional" for nodes, "resident"
            for a part of one launch, "host" for a loop on the host; None before the first call.
    """

    graphs: int
    builds: int
    replayed: bool
    nodes: int
    tasks: int
    lowering: str | None

    def _repr_html_(self) -> str:
        from cuda_graphs.drawing.table import html_table

        return html_table("Graphs of the kernel", ("counter", "value"), self._asdict().items())
