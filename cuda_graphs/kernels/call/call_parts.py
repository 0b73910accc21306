# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Descriptions of calls for the optimisations of graphs: CallParts for node_fusion.py, EarlyTask for early_edges.py."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from cuda_graphs.graph.operands.spans import Span
from cuda_graphs.kernels.specialisation.options import Options
from cuda_graphs.objects.code.kernel import Kernel

__all__ = ["CallParts", "EarlyTask", "listed_graphs"]


class CallParts(NamedTuple):
    """A call that may share its launch with other calls.

    Attributes:
        function: The function of the kernel.
        options: The options of the kernel.
        names: The names of its parameters.
        annotations: The annotation of each parameter.
        args: The argument of each parameter.
        places: The identity of the array of each argument; None for a number.
    """

    function: Callable[..., Any]
    options: Options
    names: tuple[str, ...]
    annotations: tuple[Any, ...]
    args: tuple[Any, ...]
    places: tuple[Any, ...]


class EarlyTask(NamedTuple):
    """A task of a call that may begin before its predecessors have ended.

    Attributes:
        only_read: The memory of the arrays that it reads and does not write, by path; None for unknown memory.
        writes: The memory that it writes.
        kernel: Returns the Kernel that reads some arrays, by path, before it waits for its predecessors, or the reason
            (a str) why no such Kernel exists.
    """

    only_read: Mapping[str, Span | None]
    writes: Sequence[Span | None]
    kernel: Callable[[tuple[str, ...]], Kernel | str]


def listed_graphs(definition: Any) -> Iterator[tuple[Sequence[Any], Sequence[Any]]]:
    """Return the nodes, and the edges with their data, of a definition and of each graph in its nodes."""
    graphs = [definition]
    for graph in graphs:  # the loop appends to the list
        nodes, edges = graph._listed_with_data()
        for node in nodes:
            graphs += node._inner_graphs()
        yield nodes, edges
